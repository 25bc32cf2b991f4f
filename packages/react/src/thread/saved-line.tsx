import type { RunState } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { ViewLink } from '../app/navigation.tsx'
import { formatBytes, formatCost, formatCount } from '../ui/format.ts'
import { savedIn } from './saved.ts'

const runsByAnswer = new WeakMap<readonly RunState[], ReadonlyMap<string, RunState>>()

/** Says below the answer of a run what references kept out of its prompt. */
export function SavedLine({ messageId }: { messageId: string }) {
  const saved = useConversation((state) => {
    const run = byAnswer(state.runs).get(messageId)
    return run ? savedIn(state, run) : null
  })
  if (!saved) return null
  const { bytes, tokens, tokensByValue } = saved
  return (
    <ViewLink
      view={{ tab: 'prompt', step: messageId }}
      title={`Files and values of ${formatBytes(bytes)} were passed by reference. The estimate counts them as text: four bytes a token. Images, audio, video and PDF are left out. Click for the prompt.`}
      className="block w-fit text-2xs text-ink-3 tabular-nums hover:text-ink-2 hover:underline"
    >
      {formatBytes(bytes)} passed by reference
      {tokens !== null &&
        tokensByValue !== null &&
        ` · ${formatCount(tokens)} tokens instead of about ${formatCount(tokensByValue)}`}
    </ViewLink>
  )
}

/** Says below the answer of a run with several steps what the whole run cost. */
export function RunLine({ messageId }: { messageId: string }) {
  const run = useConversation((state) => byAnswer(state.runs).get(messageId))
  if (!run || run.status === 'running' || run.steps.length < 2) return null
  const { inputTokens, outputTokens, cost } = run.usage
  if (inputTokens === null && cost === undefined) return null
  const facts = [
    `${formatCount(run.steps.length)} steps`,
    inputTokens !== null && `${formatCount(inputTokens + (outputTokens ?? 0))} tokens`,
    cost !== undefined && formatCost(cost),
  ]
  return (
    <ViewLink
      view={{ tab: 'run', run: run.runId }}
      title="Show the steps of this run"
      className="block w-fit text-2xs text-ink-3 tabular-nums hover:text-ink-2 hover:underline"
    >
      Whole run: {facts.filter(Boolean).join(' · ')}
    </ViewLink>
  )
}

/** Returns the runs by the messages of their last steps. */
function byAnswer(runs: readonly RunState[]): ReadonlyMap<string, RunState> {
  const found =
    runsByAnswer.get(runs) ??
    new Map(
      runs.flatMap((run) => run.steps.slice(-1).map((step) => [step.messageId, run] as const)),
    )
  runsByAnswer.set(runs, found)
  return found
}
