import { Link } from '@tanstack/react-router'
import { Sparkles, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import { closeDrawer } from '../app/panels.ts'
import { ViewLink } from '../app/view.tsx'
import { cn } from '../ui/cn.ts'
import { formatCount, formatDuration } from '../ui/format.ts'
import type { Bar } from './run-timeline.ts'

/** One step or call on the time axis. A step opens its prompt, a call its place in the thread. */
export function RunBar({ bar, length }: { bar: Bar; length: number }) {
  const { type, name, start, end, open, call, step } = bar
  const failed = call?.status === 'failed'
  const lost = call?.status === 'unanswered'
  const Icon = type === 'model' ? Sparkles : Wrench
  return (
    <Target bar={bar}>
      <Icon className="size-3.5 shrink-0 text-ink-3" aria-hidden />
      <span
        className={cn(
          'w-24 shrink-0 truncate',
          type === 'call' && 'font-mono',
          failed && 'text-bad',
        )}
      >
        {name}
      </span>
      <span aria-hidden className="relative h-3 min-w-8 flex-1">
        <span
          className={cn(
            'absolute inset-y-0 min-w-[3px] rounded-sm',
            type === 'model' ? 'bg-asset/70' : 'bg-variable/70',
            failed && 'bg-bad/80',
            lost && 'bg-ink-3/50',
            open && 'animate-pulse',
          )}
          style={{
            left: `${(start / length) * 100}%`,
            width: `${(Math.max(0, end - start) / length) * 100}%`,
          }}
        />
      </span>
      <span className="w-16 shrink-0 text-right text-ink-3 tabular-nums">
        {lost ? 'no result' : formatDuration(end - start)}
        {failed && <span className="sr-only"> failed</span>}
      </span>
      <span className="w-20 shrink-0 text-right text-2xs text-ink-3 tabular-nums max-sm:hidden">
        {step?.usage && tokens(step.usage)}
      </span>
    </Target>
  )
}

const LOOK =
  'flex min-h-7 w-full items-center gap-2 rounded-md px-1.5 text-xs hover:bg-hover -outline-offset-2'

function Target({ bar: { step, call }, children }: { bar: Bar; children: ReactNode }) {
  if (step?.finishedAt !== undefined) {
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
      <Link
        to="."
        search={true}
        hash={`call-${call.id}`}
        onClick={closeDrawer}
        title="Show in the thread"
        className={LOOK}
      >
        {children}
      </Link>
    )
  }
  return <div className={LOOK}>{children}</div>
}

function tokens({
  inputTokens,
  outputTokens,
}: {
  inputTokens: number | null
  outputTokens: number | null
}) {
  if (inputTokens === null && outputTokens === null) return ''
  const say = (count: number | null) => (count === null ? '?' : formatCount(count))
  return `${say(inputTokens)} → ${say(outputTokens)}`
}
