import { useChangeView } from '../../app/navigation.tsx'
import { Button } from '../../ui/button.tsx'
import { formatCount, formatFullTime, formatTime } from '../../ui/format.ts'
import { JumpText } from '../jump-text.tsx'
import type { DataWrite } from './data-entries.ts'

/** Steps back through the writes of a conversation. All values in the tab are shown as they were then. */
export function DataTimeline({ writes, at }: { writes: readonly DataWrite[]; at: number }) {
  const change = useChangeView()
  const show = (index: number) => {
    const write = index < writes.length - 1 ? writes[index] : undefined
    change({ at: write?.messageId }, { replace: true })
  }
  const write = writes[at] as DataWrite
  const isNow = at === writes.length - 1
  return (
    <div className="sticky top-0 z-10 space-y-1 border-b border-line bg-surface px-3 py-2 text-xs">
      <div className="flex min-h-6 flex-wrap items-center gap-x-2">
        <label htmlFor="data-at" className="text-ink-3">
          After change
        </label>
        <input
          id="data-at"
          type="range"
          min={0}
          max={writes.length - 1}
          value={at}
          aria-valuetext={`After change ${formatCount(at + 1)} of ${formatCount(writes.length)}, ${write.method} ${write.target}`}
          onChange={(event) => show(Number(event.target.value))}
          className="h-6 min-w-0 flex-1 basis-24 accent-variable"
        />
        <span className="text-ink-3 tabular-nums">
          {formatCount(at + 1)} of {formatCount(writes.length)}
        </span>
        <Button
          look="outline"
          className="h-6 text-xs"
          disabled={isNow}
          onClick={() => show(writes.length - 1)}
        >
          Latest
        </Button>
      </div>
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="font-medium">{write.method}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-ink-2">{write.target}</span>
        <JumpText to={`m-${write.messageId}`}>Go to message</JumpText>
        <time className="text-ink-3" dateTime={write.at} title={formatFullTime(write.at)}>
          {formatTime(write.at)}
        </time>
      </p>
    </div>
  )
}
