import type { Message, WrittenLabelTree } from 'byref/client'
import { readMetadata } from 'byref/client'
import { Bot, Cog, User, Wrench } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { LabelMark } from '../trust/label-mark.tsx'
import { cn } from '../ui/cn.ts'
import { formatFullTime, formatTime } from '../ui/format.ts'

const ICONS: Record<string, typeof User> = {
  user: User,
  assistant: Bot,
  tool: Wrench,
  plugin: Wrench,
}

/** Renders the sender of a message, on whose behalf it speaks, and the time. */
export function MessageHeader({ message, label }: { message: Message; label?: WrittenLabelTree }) {
  const role = message.sender?.participant_role ?? 'unknown'
  const { attribution } = readMetadata(message)
  // In the conversation of a sub-agent, the agent that calls it takes the part of a person.
  const isFromCaller = useConversation(
    ({ runs }) => runs[0]?.toolCallId !== undefined && runs[0].messageIds.includes(message.id),
  )
  return (
    <header className="mb-1 flex items-center gap-2 pointer-coarse:pe-10">
      <Avatar of={isFromCaller ? 'assistant' : role} />
      <p className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-1.5">
        <span dir="auto" className="max-w-full truncate font-semibold">
          {isFromCaller ? 'Calling agent' : senderName(message)}
        </span>
        {attribution && (
          <span dir="auto" className="max-w-full truncate text-xs text-ink-3" title={attribution}>
            {attribution}
          </span>
        )}
        <time
          dateTime={message.timestamp}
          title={formatFullTime(message.timestamp)}
          className="shrink-0 text-2xs text-ink-3 tabular-nums"
        >
          {formatTime(message.timestamp)}
        </time>
        <LabelMark label={label} origin={`message:${message.id}`} />
      </p>
    </header>
  )
}

/** Renders a sender's role as an icon. */
export function Avatar({ of: role }: { of: string }) {
  const Icon = ICONS[role] ?? Cog
  return (
    <span
      aria-hidden
      className={cn(
        'grid size-6 shrink-0 place-items-center rounded-full',
        role === 'user' ? 'bg-solid text-solid-ink' : 'border border-line bg-sunken text-ink-2',
      )}
    >
      <Icon className="size-3.5" />
    </span>
  )
}

/** Returns the name of a sender, or else its id. "You" is a person whom the server does not know. */
export function senderName({ sender }: Pick<Message, 'sender'>): string {
  if (sender?.name) return sender.name
  const { participant_id: id, participant_role: role = 'unknown' } = sender ?? {}
  // A sender without a name is called by its role.
  if (id && id !== role) return id
  if (role === 'user') return 'You'
  return role.charAt(0).toUpperCase() + role.slice(1)
}
