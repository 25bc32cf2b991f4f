import type { RunState } from 'byref/client'
import { Activity, Square } from 'lucide-react'
import { client } from '../app/client.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { runPhase } from '../thread/run-phase.ts'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { Empty } from '../ui/empty.tsx'
import { formatCount, formatDuration, formatTime } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { RunBar } from './run-bar.tsx'
import { runBars } from './run-timeline.ts'
import { useNow } from './use-now.ts'

/** Every run of the conversation, the newest first: its steps and calls on a time axis. */
export function RunTab() {
  const runs = useConversation((state) => state.runs)
  if (runs.length === 0) {
    return (
      <Empty icon={Activity} title="No runs yet">
        Each message starts a run: its model calls and tool calls show here, with times and tokens.
      </Empty>
    )
  }
  return (
    <ol className="space-y-3 p-3">
      {runs.toReversed().map((run, index) => (
        <li key={run.runId}>
          <Run run={run} number={runs.length - index} />
        </li>
      ))}
    </ol>
  )
}

function Run({ run, number }: { run: RunState; number: number }) {
  const id = useConversationId()
  const calls = useConversation((state) => state.calls)
  const running = run.status === 'running'
  const now = useNow(running)
  const bars = runBars(run, Object.values(calls), now)
  const took = (run.finishedAt ? Date.parse(run.finishedAt) : now) - Date.parse(run.startedAt)
  const length = Math.max(1, took, ...bars.map(({ end }) => end))
  const { usage } = run
  return (
    <article aria-label={`Run ${number}`} className="overflow-hidden rounded-lg border border-line">
      <header className="flex items-center gap-2 border-b border-line bg-sunken px-3 py-1.5 text-xs">
        <h2 className="font-semibold">Run {number}</h2>
        <Status run={run} waits={running && runPhase({ runs: [run], calls }) === 'waiting'} />
        <span className="ml-auto text-ink-3 tabular-nums">
          {formatTime(run.startedAt)} · {formatDuration(Math.max(0, took))}
        </span>
        {running && id !== null && (
          <Button
            look="outline"
            className="h-6 text-xs"
            onClick={() => void client.cancel(id).catch(() => {})}
          >
            <Square className="fill-current" aria-hidden /> Stop
          </Button>
        )}
      </header>
      {run.error && (
        <Notice tone="bad" code={run.error.code} className="m-2">
          {run.error.message}
        </Notice>
      )}
      <ol className="space-y-px px-1.5 py-1.5">
        {bars.map((bar) => (
          <li key={bar.key}>
            <RunBar bar={bar} length={length} />
          </li>
        ))}
      </ol>
      <footer className="flex flex-wrap gap-x-4 border-t border-line px-3 py-1.5 text-2xs text-ink-3 tabular-nums">
        {run.model && <span className="font-mono">{run.model}</span>}
        {usage.inputTokens !== null && <span>{formatCount(usage.inputTokens)} tokens in</span>}
        {usage.outputTokens !== null && <span>{formatCount(usage.outputTokens)} out</span>}
        <span>
          {run.steps.length} {run.steps.length === 1 ? 'step' : 'steps'}
        </span>
      </footer>
    </article>
  )
}

function Status({ run, waits }: { run: RunState; waits: boolean }) {
  const ended = run.status === 'finished' && run.reason !== 'done' && run.reason
  const text = ended ? ended.replaceAll('_', ' ') : waits ? 'waits for you' : run.status
  return (
    <span
      className={cn(
        'rounded-full px-1.5 text-2xs leading-4 font-medium',
        run.status === 'failed' && 'bg-bad-soft text-bad',
        run.status === 'running' && (waits ? 'bg-warn-soft text-warn' : 'bg-asset-soft text-asset'),
        run.status === 'finished' &&
          (text === 'finished' ? 'bg-good-soft text-good' : 'bg-warn-soft text-warn'),
      )}
    >
      {text}
    </span>
  )
}
