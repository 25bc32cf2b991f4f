import type { PromptInfo } from 'byref/client'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { formatBytes, formatCount, formatShare } from '../../ui/format.ts'
import { More } from '../../ui/more.tsx'
import { PromptMessageView } from './prompt-message.tsx'
import { type PromptMessage, readMessage } from './read-prompt.ts'

/** Number of messages that are drawn at a time. */
const PAGE = 40

const bytesOf = (messages: readonly PromptMessage[]) =>
  messages.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * Renders the messages of a prompt: the beginning that it shares with the other prompt, which a provider can cache,
 * then the removed and the new messages.
 */
export function PromptMessages({
  messages,
  difference,
}: {
  messages: readonly PromptMessage[]
  difference: PromptInfo['difference']
}) {
  const [open, setOpen] = useState(false)
  const kept = messages.slice(0, difference?.kept ?? 0)
  const rest = messages.slice(kept.length)
  const removed = (difference?.removed ?? []).map(readMessage)
  return (
    <>
      {kept.length > 0 && (
        <Button
          look="outline"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="h-auto w-full justify-start px-2.5 py-1.5 text-start text-xs whitespace-normal"
        >
          <span className="flex-1">
            {formatCount(kept.length)} unchanged {kept.length === 1 ? 'message' : 'messages'}{' '}
            (cacheable)
          </span>
          <span className="text-2xs text-ink-3 tabular-nums">
            {formatBytes(bytesOf(kept))} ·{' '}
            {formatShare(bytesOf(kept) / Math.max(1, bytesOf(messages)))}
          </span>
        </Button>
      )}
      {open && <List messages={kept} />}
      {removed.length > 0 && <List label="Removed" messages={removed} tone="gone" />}
      {rest.length > 0 && difference && <List label="New" messages={rest} tone="new" />}
      {rest.length > 0 && !difference && <List messages={rest} />}
    </>
  )
}

function List({
  messages,
  label,
  tone,
}: {
  messages: readonly PromptMessage[]
  label?: string
  tone?: 'new' | 'gone'
}) {
  const [most, setMost] = useState(PAGE)
  return (
    <div
      className={cn(
        tone && 'border-s-2 ps-2',
        tone === 'new' && 'border-good',
        tone === 'gone' && 'border-bad opacity-75',
      )}
    >
      {label && (
        <h3 className={cn('pb-1 text-xs font-medium', tone === 'new' ? 'text-good' : 'text-bad')}>
          {label} · {formatBytes(bytesOf(messages))}
        </h3>
      )}
      <ol aria-label={label ?? 'Messages'} className="space-y-1.5">
        {messages.slice(0, most).map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a prompt never changes
          <li key={index}>
            <PromptMessageView message={message} />
          </li>
        ))}
      </ol>
      <More
        what="messages"
        count={Math.max(0, messages.length - most)}
        onReach={() => setMost(most + PAGE)}
      />
    </div>
  )
}
