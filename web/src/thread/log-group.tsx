import type { Message } from 'byref/client'
import { ScrollText } from 'lucide-react'
import { JsonTree } from '../json/json-tree.tsx'
import { isBranch } from '../json/tree-rows.ts'
import { formatTime } from '../ui/format.ts'

/** Messages of type `log`: out of the way, one press from being read. */
export function LogGroup({ messages }: { messages: Message[] }) {
  return (
    <details className="mt-1.5 text-xs sm:ml-8">
      <summary className="flex min-h-7 list-none items-center gap-2 rounded-md px-2.5 text-ink-3 hover:bg-hover">
        <ScrollText className="size-3.5" aria-hidden />
        {messages.length === 1 ? '1 log message' : `${messages.length} log messages`}
      </summary>
      <ol className="mt-1 max-h-72 space-y-0.5 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 font-mono">
        {messages.map(({ id, timestamp, content }) => (
          <li key={id} id={`m-${id}`} className="flex gap-3">
            <time className="shrink-0 text-ink-3">{formatTime(timestamp)}</time>
            {isBranch(content) ? (
              <JsonTree value={content} label="Log message" depth={0} />
            ) : (
              <span className="whitespace-pre-wrap">{String(content)}</span>
            )}
          </li>
        ))}
      </ol>
    </details>
  )
}
