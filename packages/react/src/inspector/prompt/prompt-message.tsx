import { useState } from 'react'
import { JsonTree } from '../../json/json-tree.tsx'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import type { PromptMessage, PromptPart } from './read-prompt.ts'
import { SHARES } from './shares.ts'

/** Renders one message of a prompt, exactly as it was sent. */
export function PromptMessageView({ message: { role, parts, bytes } }: { message: PromptMessage }) {
  return (
    <article aria-label={role} className="overflow-hidden rounded-lg border border-line text-xs">
      <header className="flex items-center justify-between bg-sunken px-2.5 py-1">
        <span className="font-semibold">{role}</span>
        <span className="text-2xs text-ink-3 tabular-nums">{formatBytes(bytes)}</span>
      </header>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes
        <Part key={index} part={part} />
      ))}
    </article>
  )
}

function Part({ part }: { part: PromptPart }) {
  return (
    <div className="flex border-t border-line">
      <span aria-hidden data-bar className={cn('w-0.5 shrink-0', SHARES[part.share].color)} />
      <span className="sr-only">{SHARES[part.share].name}</span>
      {part.type === 'text' ? (
        <PartText text={part.text} />
      ) : (
        <JsonTree value={part.value} label={part.type} className="min-w-0 flex-1 px-1.5 py-1.5" />
      )}
    </div>
  )
}

/** Number of characters that are drawn until all are requested. */
const MOST = 20_000

function PartText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const cut = text.length > MOST && !whole
  return (
    <ScrollArea className="max-h-80 min-w-0 flex-1">
      <pre
        dir="auto"
        className="px-2.5 py-1.5 font-mono leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {cut ? text.slice(0, MOST) : text}
      </pre>
      {cut && (
        <Button className="m-1 h-6 text-xs text-ring" onClick={() => setWhole(true)}>
          Show all {formatCount(text.length)} characters
        </Button>
      )}
    </ScrollArea>
  )
}
