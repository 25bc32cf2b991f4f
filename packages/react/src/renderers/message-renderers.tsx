import { Megaphone, Terminal } from 'lucide-react'
import { JsonTree } from '../json/json-tree.tsx'
import { MessageContent } from './message-content.tsx'
import type { MessageRenderer } from './renderers-context.ts'

/** The default renderers of messages by type. */
export const messageRenderers: Readonly<Record<string, MessageRenderer>> = {
  '*': ({ message }) => <MessageContent message={message} />,
  note: ({ message }) => (
    <div className="space-y-2 border-s-2 border-line-strong ps-3 text-ink-2">
      <MessageContent message={message} />
    </div>
  ),
  notice: ({ message }) => (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken px-3 py-2">
      <Megaphone className="mt-1 size-3.5 shrink-0 text-ink-3" aria-hidden />
      <div className="min-w-0 flex-1 space-y-2">
        <MessageContent message={message} />
      </div>
    </div>
  ),
  command: Command,
  'command-response': Command,
}

function Command({ message }: Parameters<MessageRenderer>[0]) {
  const { content } = message
  if (typeof content !== 'object' || content === null || !('command' in content)) {
    return <MessageContent message={message} />
  }
  const { command, ...rest } = content as { command: unknown }
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <p className="flex items-center gap-2 border-b border-line px-3 py-1.5 font-mono text-xs font-medium [overflow-wrap:anywhere]">
        <Terminal className="size-3.5 shrink-0 text-ink-3" aria-hidden />
        {String(command)}
      </p>
      <JsonTree value={rest} label={`Command ${command}`} className="overflow-auto px-2 py-1.5" />
    </div>
  )
}
