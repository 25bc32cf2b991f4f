import type { Message } from 'byref/client'
import { Megaphone, Terminal } from 'lucide-react'
import type { ReactNode } from 'react'
import { JsonTree } from '../json/json-tree.tsx'
import { MessageContent } from './message-content.tsx'

/** What every renderer gets. */
export interface RenderProps {
  message: Message
}

/** How messages of each type look; what has no entry looks like chat. */
export const renderers: Record<string, (props: RenderProps) => ReactNode> & {
  chat: (props: RenderProps) => ReactNode
} = {
  chat: ({ message }) => <MessageContent message={message} />,
  note: ({ message }) => (
    <div className="border-l-2 border-line-strong pl-3 text-ink-2">
      <MessageContent message={message} />
    </div>
  ),
  notice: ({ message }) => (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-sunken px-3 py-2">
      <Megaphone className="mt-1 size-3.5 shrink-0 text-ink-3" aria-hidden />
      <div className="min-w-0 flex-1">
        <MessageContent message={message} />
      </div>
    </div>
  ),
  command: Command,
  'command-response': Command,
}

function Command({ message }: RenderProps) {
  const { content } = message
  if (typeof content !== 'object' || content === null || !('command' in content)) {
    return <MessageContent message={message} />
  }
  const { command, ...rest } = content as { command: unknown }
  return (
    <div className="rounded-lg border border-line">
      <p className="flex items-center gap-2 border-b border-line px-3 py-1.5 font-mono text-xs font-medium">
        <Terminal className="size-3.5 text-ink-3" aria-hidden />
        {String(command)}
      </p>
      <JsonTree value={rest} label={`Command ${command}`} className="px-2 py-1.5" />
    </div>
  )
}
