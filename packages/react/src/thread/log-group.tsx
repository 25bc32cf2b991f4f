import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'
import { ScrollText } from 'lucide-react'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { formatCount, formatFullTime, formatTime } from '../ui/format.ts'
import { Attachments } from './attachments.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageFooter } from './message-body.tsx'
import { senderName } from './message-header.tsx'

/** Renders messages of type `log`, folded, with all of their metadata. */
export function LogGroup({ messages }: { messages: Message[] }) {
  return (
    <details className="mt-1.5 text-xs sm:ms-8">
      <summary className="flex min-h-7 list-none items-center gap-2 rounded-md px-2.5 text-ink-3 hover:bg-hover">
        <ScrollText className="size-3.5" aria-hidden />
        {`${formatCount(messages.length)} log ${messages.length === 1 ? 'message' : 'messages'}`}
      </summary>
      <ol className="mt-1 space-y-1 rounded-md bg-sunken px-2.5 py-1.5">
        {messages.map((message) => (
          <Log key={message.id} message={message} />
        ))}
      </ol>
    </details>
  )
}

function Log({ message }: { message: Message }) {
  const { id, timestamp, content } = message
  const { attribution, attachments, problems } = readMetadata(message)
  return (
    <li id={`m-${id}`} className="group/message relative scroll-my-4 space-y-1">
      <div className="flex flex-wrap gap-x-3 font-mono">
        <time dateTime={timestamp} title={formatFullTime(timestamp)} className="text-ink-3">
          {formatTime(timestamp)}
        </time>
        <span className="min-w-0 flex-1 truncate text-ink-3">
          {senderName(message)} {attribution}
        </span>
        {isBranch(content) ? (
          <div className="w-full">
            <JsonTree value={content} label="Log message" depth={0} />
          </div>
        ) : (
          <span dir="auto" className="w-full whitespace-pre-wrap [overflow-wrap:anywhere]">
            {String(content ?? '')}
          </span>
        )}
      </div>
      {attachments.length > 0 && <Attachments attachments={attachments} />}
      {problems.length > 0 && (
        <p className="text-2xs text-warn">
          Malformed: {problems.map(({ message }) => message).join('; ')}.
        </p>
      )}
      <MessageFooter message={message} />
      <MessageActions message={message} />
    </li>
  )
}
