import type { TokenUsage } from 'byref/client'
import { Sparkles, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { PlaceLink, ViewLink } from '../../app/navigation.tsx'
import { closeDrawer } from '../../app/panels.ts'
import { cn } from '../../ui/cn.ts'
import { formatBytes, formatCost, formatCount, formatDuration } from '../../ui/format.ts'
import type { Bar, Segment } from './run-timeline.ts'

const COLORS = {
  model: 'bg-asset/70',
  call: 'bg-variable/70',
  waits: 'bg-ink-3/30',
  asks: 'bg-[repeating-linear-gradient(135deg,var(--byref-variable)_0_3px,transparent_3px_6px)]',
}

/** The names of segments other than work. */
const WORDS: Record<Segment['type'], string> = {
  works: '',
  waits: 'waited for other calls',
  asks: 'waited for a person',
}

/** Properties of {@link RunBar}. */
export interface RunBarProps {
  bar: Bar
  /** The length of the axis, in milliseconds. */
  length: number
  /** The size of the call's result in the conversation. */
  resultBytes?: number
}

/** Renders one step or call on the time axis. A step opens its prompt, a call its place in the thread. */
export function RunBar({ bar, length, resultBytes }: RunBarProps) {
  const { type, name, start, end, open, call, step } = bar
  const failed = call?.status === 'failed' && call.approval?.answer?.approved !== false
  const Icon = type === 'model' ? Sparkles : Wrench
  const percent = (time: number) => `${(time / length) * 100}%`
  return (
    <Target bar={bar}>
      <span className="flex w-full flex-wrap items-center gap-x-1.5">
        <Icon className="size-3.5 shrink-0 text-ink-3" aria-hidden />
        <span
          className={cn('min-w-0 truncate', type === 'call' && 'font-mono', failed && 'text-bad')}
        >
          {name}
        </span>
        {call && call.attempts > 1 && (
          <span className="text-2xs text-warn">{formatCount(call.attempts)} attempts</span>
        )}
        <span className="ms-auto shrink-0 text-2xs text-ink-3 tabular-nums">
          {step?.usage && usageOf(step.usage)}
          {resultBytes !== undefined && `${formatBytes(resultBytes)} result`}
        </span>
        <span className="ms-auto min-w-16 text-end text-ink-3 tabular-nums">
          {said(bar)}
          {failed && <span className="sr-only"> failed</span>}
        </span>
      </span>
      <span aria-hidden className="relative h-1.5 w-full">
        {bar.segments.map((segment) => (
          <span
            key={`${segment.type} ${segment.start}`}
            data-bar
            title={
              WORDS[segment.type] &&
              `${WORDS[segment.type]}: ${formatDuration(segment.end - segment.start)}`
            }
            className={cn(
              'absolute inset-y-0 min-w-[3px] rounded-xs',
              COLORS[segment.type === 'works' ? type : segment.type],
              failed && segment.type === 'works' && 'bg-bad/80',
              open && segment.end === end && 'animate-pulse',
            )}
            style={{
              insetInlineStart: percent(segment.start),
              width: percent(segment.end - segment.start),
            }}
          />
        ))}
      </span>
      <span className="sr-only">
        , {formatCount(Math.round(start))} to {formatCount(Math.round(end))} milliseconds after the
        start
        {bar.segments
          .filter(({ type }) => type !== 'works')
          .map(
            (segment) =>
              `, ${WORDS[segment.type]} for ${formatDuration(segment.end - segment.start)}`,
          )}
      </span>
    </Target>
  )
}

/** Returns the duration, or the status. */
function said({ call, open, segments }: Bar): string {
  if (call?.status === 'unanswered') return 'no result'
  if (open && call?.status === 'waiting') return 'needs approval'
  if (open && call?.status === 'planned') return 'waits'
  const work = segments.find(({ type }) => type === 'works')
  return work ? formatDuration(work.end - work.start) : 'not run'
}

const LOOK =
  'flex w-full flex-col gap-1 rounded-md px-1.5 py-1 text-xs hover:bg-hover -outline-offset-2'

function Target({ bar: { step, call }, children }: { bar: Bar; children: ReactNode }) {
  if (step?.finishedAt !== undefined && !step.commandIds) {
    return (
      <ViewLink
        view={{ tab: 'prompt', step: step.messageId }}
        title="Show the prompt"
        className={LOOK}
      >
        {children}
      </ViewLink>
    )
  }
  if (call) {
    return (
      <PlaceLink
        to={{ type: 'view', hash: `call-${call.id}` }}
        onClick={closeDrawer}
        title="Show in the thread"
        className={LOOK}
      >
        {children}
      </PlaceLink>
    )
  }
  return <div className={LOOK}>{children}</div>
}

/** Returns `1,840 in, 25 out, $0.0005`. */
function usageOf({ inputTokens, outputTokens, cost }: TokenUsage): string {
  if (inputTokens === null && outputTokens === null) return ''
  const say = (count: number | null) => (count === null ? '?' : formatCount(count))
  const price = cost === undefined ? '' : ` · ${formatCost(cost)}`
  return `${say(inputTokens)} in, ${say(outputTokens)} out${price}`
}
