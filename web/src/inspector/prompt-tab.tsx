import { useQuery } from '@tanstack/react-query'
import type { RunState } from 'byref/client'
import { ScanText } from 'lucide-react'
import { debugQuery } from '../app/client.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useChangeView, useView } from '../app/view.tsx'
import { Button } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { JumpText } from './jump-text.tsx'
import { PromptView } from './prompt-view.tsx'
import { readPrompt } from './read-prompt.ts'

/** What the model saw at a step, to the letter. */
export function PromptTab() {
  const runs = useConversation((state) => state.runs)
  const id = useConversationId()
  const { step } = useView()
  const change = useChangeView()
  const steps = stepsOf(runs)
  const current = steps.find(({ messageId }) => messageId === step) ?? steps.at(-1)
  if (id === null || !current) {
    return (
      <Empty icon={ScanText} title="No prompt yet">
        After the first answer: exactly what the model saw at each step, and how much of it was
        what.
      </Empty>
    )
  }
  return (
    <div className="space-y-3 p-3">
      <div className="flex items-center gap-2 text-xs">
        <label htmlFor="prompt-step" className="text-ink-3">
          Step
        </label>
        <select
          id="prompt-step"
          value={current.messageId}
          onChange={(event) => change({ step: event.target.value }, { replace: true })}
          className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm"
        >
          {steps.map(({ messageId, label }) => (
            <option key={messageId} value={messageId}>
              {label}
            </option>
          ))}
        </select>
        <JumpText to={`m-${current.messageId}`}>its message</JumpText>
      </div>
      <Prompt key={current.messageId} conversation={id} message={current.messageId} />
    </div>
  )
}

function Prompt({ conversation, message }: { conversation: string; message: string }) {
  const { data, error, isPending, refetch } = useQuery(debugQuery(conversation, message))
  if (isPending) return <Spinner label="Loading the prompt" className="m-2" />
  if (error) return <LoadError what="The prompt" error={error} onRetry={() => void refetch()} />
  const prompt = readPrompt(data)
  if (prompt) return <PromptView prompt={prompt} />
  return (
    <Notice
      tone="warn"
      actions={
        <Button look="outline" onClick={() => void refetch()}>
          Retry
        </Button>
      }
    >
      No prompt is kept for this step (any more).
    </Notice>
  )
}

/** Every step whose answer is there, with what to call it. */
function stepsOf(runs: readonly RunState[]): { messageId: string; label: string }[] {
  return runs.flatMap((run, index) =>
    run.steps.flatMap(({ name, messageId, finishedAt }) =>
      finishedAt === undefined ? [] : [{ messageId, label: `Run ${index + 1}, ${name}` }],
    ),
  )
}
