import type { ReactNode } from 'react'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { ticksOf } from './run-timeline.ts'

/** Renders the time axis of a run: marks at round times, behind the bars. */
export function RunAxis({ length, children }: { length: number; children: ReactNode }) {
  return (
    <div className="relative px-1.5 pt-5 pb-1.5">
      <div aria-hidden className="pointer-events-none absolute inset-x-3 inset-y-0">
        {ticksOf(length).map((tick) => (
          <span
            key={tick}
            className="absolute inset-y-0 border-s border-line/70"
            style={{ insetInlineStart: `${(tick / length) * 100}%` }}
          >
            {tick / length < 0.92 && (
              <span className="block pt-0.5 ps-1 text-2xs whitespace-nowrap text-ink-3 tabular-nums">
                {tick === 0 ? formatCount(0) : formatDuration(tick)}
              </span>
            )}
          </span>
        ))}
      </div>
      <ol className="relative space-y-px">{children}</ol>
    </div>
  )
}
