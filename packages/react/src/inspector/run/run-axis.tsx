import type { ReactNode } from 'react'
import { cn } from '../../ui/cn.ts'
import { formatCount, formatDuration } from '../../ui/format.ts'
import { ticksOf } from './run-timeline.ts'

/** Renders the time axis of a run: marks at round times, behind the bars. */
export function RunAxis({ length, children }: { length: number; children: ReactNode }) {
  return (
    <div className="@container relative px-1.5 pt-5 pb-1.5">
      <div aria-hidden className="pointer-events-none absolute inset-x-3 inset-y-0">
        {ticksOf(length).map((tick, index) => {
          const label = tick === 0 ? formatCount(0) : formatDuration(tick)
          return (
            <span
              key={tick}
              className="absolute inset-y-0 border-s border-line/70"
              style={{ insetInlineStart: `${(tick / length) * 100}%` }}
            >
              {/* `1 min 40 s` needs more room than `1.5 s`. */}
              {tick / length < (label.length > 7 ? 0.84 : 0.92) && (
                <span
                  className={cn(
                    'block ps-1 pt-0.5 text-2xs whitespace-nowrap text-ink-3 tabular-nums',
                    placeOf(index, tick / length),
                  )}
                >
                  {label}
                </span>
              )}
            </span>
          )
        })}
      </div>
      <ol className="relative space-y-px">{children}</ol>
    </div>
  )
}

/** Returns how wide the axis must be for the label of a mark, so that labels never meet each other or the edge. */
function placeOf(index: number, share: number): string {
  if (index === 0) return ''
  return index % 2 === 0 && share < 0.7 ? 'hidden @[13rem]:block' : 'hidden @[24rem]:block'
}
