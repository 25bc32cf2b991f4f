import type { ConversationState, Message, RunState } from 'byref/client'
import { Activity, Square } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useConversation, useConversationId } from '../../app/conversation-context.tsx'
import { useView } from '../../app/navigation.tsx'
import { useMay, useWaitingText } from '../../app/role.ts'
import { useServer } from '../../app/server.ts'
import { Approval } from '../../thread/approval.tsx'
import { ResumeButton, useIsInterrupted } from '../../thread/interrupted-run.tsx'
import { runPhase } from '../../thread/run-phase.ts'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { Empty } from '../../ui/empty.tsx'
import { formatCost, formatCount, formatDuration, formatTime } from '../../ui/format.ts'
import { More } from '../../ui/more.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useNow } from '../../ui/use-now.ts'
import { RunAxis } from './run-axis.tsx'
import { RunBar } from './run-bar.tsx'
import { type Bar, runBars, timesOf } from './run-timeline.ts'

/** Number of runs that are drawn at a time. */
const PAGE = 20

/** Renders every run of the conversation, newest first, with its steps and calls on a time axis. */
export function RunTab() {
  const runs = useConversation((state) => state.runs)
  const { run: linked } = useView()
  const isInterrupted = useIsInterrupted()
  const place = runs.findIndex(({ runId }) => runId === linked)
  const [most, setMost] = useState(PAGE)
  const shown = Math.max(most, place === -1 ? 0 : runs.length - place)
  if (runs.length === 0) {
    return (
      <Empty icon={Activity} title="No runs yet">
        Each message starts a run. Its model calls and tool calls appear here, with times and
        tokens.
      </Empty>
    )
  }
  return (
    <div className="space-y-3 p-3">
      <ol className="space-y-3">
        {runs
          .slice(-shown)
          .reverse()
          .map((run, index) => (
            <li key={run.runId}>
              <Run
                run={run}
                number={runs.length - index}
                isLinked={run.runId === linked}
                isInterrupted={isInterrupted && run.status === 'running'}
              />
            </li>
          ))}
      </ol>
      <More
        what="runs"
        count={Math.max(0, runs.length - shown)}
        onReach={() => setMost(shown + PAGE)}
      />
    </div>
  )
}

function Run({
  run,
  number,
  isLinked,
  isInterrupted,
}: {
  run: RunState
  number: number
  isLinked: boolean
  isInterrupted: boolean
}) {
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isLinked) element.current?.scrollIntoView({ block: 'start' })
  }, [isLinked])
  const { client, tellError } = useServer()
  const id = useConversationId()
  const calls = useConversation((state) => state.calls)
  const results = useConversation(resultsById)
  const running = run.status === 'running'
  const now = useNow(running)
  const bars = runBars(run, Object.values(calls), now)
  const took = (run.finishedAt ? Date.parse(run.finishedAt) : now) - Date.parse(run.startedAt)
  const length = Math.max(1, took, ...bars.map(({ end }) => end))
  const mayAnswer = useMay('member')
  return (
    <article
      ref={element}
      aria-label={`Run ${number}`}
      aria-current={isLinked || undefined}
      className={cn(
        'scroll-mt-3 overflow-hidden rounded-lg border border-line',
        isLinked && 'animate-flash border-ring',
      )}
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-sunken px-3 py-1.5 text-xs">
        <h2 className="font-semibold">Run {formatCount(number)}</h2>
        <Status run={run} waits={running && runPhase({ runs: [run], calls }) === 'waiting'} />
        <span className="ms-auto text-ink-3 tabular-nums">
          {formatTime(run.startedAt)} · {formatDuration(Math.max(0, took))}
        </span>
        {isInterrupted && <ResumeButton className="h-6 text-xs" />}
        {running && mayAnswer && id !== null && (
          <Button
            look="outline"
            className="h-6 text-xs"
            onClick={() =>
              void client
                .cancel(id)
                .catch((error: unknown) => tellError('The run was not stopped.', error))
            }
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
      <RunAxis length={length}>
        {bars.map((bar) => (
          <li key={bar.key}>
            <RunBar bar={bar} length={length} resultBytes={bytesOf(bar, results)} />
            {bar.open && bar.call?.approval && !bar.call.approval.answer && mayAnswer && (
              <div className="my-1 overflow-hidden rounded-md border border-variable-line text-xs">
                <Approval
                  callId={bar.call.id}
                  name={bar.name}
                  approval={bar.call.approval}
                  where={` in run ${formatCount(number)}`}
                />
              </div>
            )}
          </li>
        ))}
      </RunAxis>
      <footer className="flex flex-wrap gap-x-4 border-t border-line px-3 py-1.5 text-2xs text-ink-3 tabular-nums">
        {run.model && <span className="font-mono">{run.model}</span>}
        {factsOf(run, timesOf(bars)).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </footer>
    </article>
  )
}

const known = new WeakMap<readonly Message[], ReadonlyMap<string, Message>>()

function resultsById({ messages }: Pick<ConversationState, 'messages'>) {
  const found = known.get(messages) ?? new Map(messages.map((message) => [message.id, message]))
  known.set(messages, found)
  return found
}

const sizes = new WeakMap<Message, number>()

/** Results below this size are not worth a number, in bytes. */
const SMALL = 1_000

/** Returns the size of a call's result as it is in the conversation and in prompts, in bytes. Undefined for a small one. */
function bytesOf({ call }: Bar, results: ReadonlyMap<string, Message>): number | undefined {
  const message = results.get(call?.resultMessageId ?? '')
  if (!message) return undefined
  const { content } = message
  const size =
    sizes.get(message) ?? (typeof content === 'string' ? content : JSON.stringify(content)).length
  sizes.set(message, size)
  return size < SMALL ? undefined : size
}

/** Describes what a run cost. */
function factsOf(
  { usage, steps }: RunState,
  { model, calls, person }: ReturnType<typeof timesOf>,
): string[] {
  const { inputTokens, outputTokens, cachedInputTokens, cost } = usage
  return [
    `${formatCount(steps.length)} ${steps.length === 1 ? 'step' : 'steps'}`,
    inputTokens === null ? '' : `${formatCount(inputTokens)} tokens in`,
    cachedInputTokens === undefined ? '' : `${formatCount(cachedInputTokens)} of them cached`,
    outputTokens === null ? '' : `${formatCount(outputTokens)} out`,
    cost === undefined ? '' : formatCost(cost),
    `model ${formatDuration(model)}`,
    calls === 0 ? '' : `calls ${formatDuration(calls)}`,
    person === 0 ? '' : `waited ${formatDuration(person)} for a person`,
  ].filter(Boolean)
}

function Status({ run, waits }: { run: RunState; waits: boolean }) {
  const waiting = useWaitingText()
  const ended = run.status === 'finished' && run.reason !== 'done' && run.reason
  const text = ended ? ended.replaceAll('_', ' ') : waits ? waiting : run.status
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
