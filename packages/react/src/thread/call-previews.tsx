import type { ApprovalState } from 'byref/client'
import { cn } from '../ui/cn.ts'
import { formatCount } from '../ui/format.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'

/** Renders what a call would change: one text, or one for each item of a mapped call. */
export function CallPreviews({ previews }: { previews: NonNullable<ApprovalState['previews']> }) {
  return (
    <div className="space-y-2 px-2.5 py-2">
      {previews.map((text, index) => {
        const label =
          previews.length === 1 ? 'Changes' : `Changes by item ${formatCount(index + 1)}`
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have their places
          <fieldset key={index} aria-label={label} className="min-w-0 space-y-1">
            <p className="text-ink-2">{label}</p>
            {text === null ? (
              <p className="text-ink-3">There is no preview.</p>
            ) : (
              <DiffText text={text} />
            )}
          </fieldset>
        )
      })}
    </div>
  )
}

/** Renders a unified diff with its added and removed lines. Any other text is shown as it is. */
function DiffText({ text }: { text: string }) {
  const lines = text.split('\n')
  const isDiff = lines.some((line) => line.startsWith('@@ '))
  return (
    <ScrollArea
      role="group"
      aria-label="Lines"
      dir="ltr"
      className="max-h-80 rounded-md bg-sunken py-1 font-mono leading-5"
    >
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have their places
        <DiffLine key={index} line={line} isDiff={isDiff} />
      ))}
    </ScrollArea>
  )
}

const LINE = 'block px-2 whitespace-pre-wrap no-underline [overflow-wrap:anywhere]'

function DiffLine({ line, isDiff }: { line: string; isDiff: boolean }) {
  if (isDiff && line.startsWith('+')) {
    return <ins className={cn(LINE, 'bg-good-soft text-good')}>{line}</ins>
  }
  if (isDiff && line.startsWith('-')) {
    return <del className={cn(LINE, 'bg-bad-soft text-bad')}>{line}</del>
  }
  const isPlace = isDiff && line.startsWith('@@ ')
  return <span className={cn(LINE, isPlace && 'text-ink-3')}>{line}</span>
}
