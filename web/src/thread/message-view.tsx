import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'
import { Bug, Link2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { useChangeView } from '../app/view.tsx'
import { Button } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Attachments } from './attachments.tsx'
import { CallCard } from './call-card.tsx'
import { DataLine } from './data-line.tsx'
import { MessageHeader } from './message-header.tsx'
import { MessageLink } from './message-link.tsx'
import { type RenderProps, renderers } from './renderers.tsx'
import { ResultCard } from './result-card.tsx'

/** One message: a result and a data block in their own forms, all others by their type. */
export function MessageView({ message, header }: { message: Message; header: boolean }) {
  const metadata = readMetadata(message)
  if (metadata.result) return <ResultCard message={message} />
  if (message.content_type === 'data') return <DataLine message={message} />
  const Render = renderers[message.message_type] ?? renderers.chat
  return (
    <Frame message={message} header={header}>
      {metadata.href !== null && message.message_type !== 'chat' ? (
        <MessageLink href={metadata.href}>{render(Render, message)}</MessageLink>
      ) : (
        render(Render, message)
      )}
    </Frame>
  )
}

function render(Render: (props: RenderProps) => ReactNode, message: Message): ReactNode {
  return <Render message={message} />
}

function Frame({
  message,
  header,
  children,
}: {
  message: Message
  header: boolean
  children: ReactNode
}) {
  const { attachments, calls, footer, hasDebug, problems } = readMetadata(message)
  return (
    <article
      id={`m-${message.id}`}
      aria-label={`Message from ${message.sender?.name ?? message.sender?.participant_role}`}
      className={cn('group/message relative scroll-my-4', header ? 'mt-5 first:mt-0' : 'mt-2')}
    >
      {header && <MessageHeader message={message} />}
      <div className="space-y-2 sm:pl-8">
        {children}
        {attachments.length > 0 && <Attachments attachments={attachments} />}
        {calls.map((call) => (
          <CallCard key={call.id} id={call.id} call={call} messageId={message.id} />
        ))}
        {problems.length > 0 && (
          <p className="text-2xs text-warn">Malformed: {problems.join('; ')}.</p>
        )}
        {(footer.length > 0 || hasDebug) && (
          <footer className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-2xs text-ink-3 tabular-nums">
            {footer.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines may repeat and never move
              <span key={index}>{line}</span>
            ))}
            {hasDebug && <DebugButton messageId={message.id} />}
          </footer>
        )}
      </div>
      <div className="absolute -top-1 right-0 hidden rounded-md bg-raised shadow-float group-focus-within/message:flex group-hover/message:flex">
        {typeof message.content === 'string' && message.content !== '' && (
          <CopyButton label="Copy text" text={message.content} />
        )}
        <CopyLink messageId={message.id} />
      </div>
    </article>
  )
}

function DebugButton({ messageId }: { messageId: string }) {
  const change = useChangeView()
  return (
    <Button
      onClick={() => change({ debug: '' }, { hash: `m-${messageId}` })}
      className="h-5 px-1 text-2xs font-normal text-ink-3 pointer-coarse:h-8 [&_svg]:size-3"
    >
      <Bug aria-hidden /> Debug
    </Button>
  )
}

function CopyLink({ messageId }: { messageId: string }) {
  return (
    <CopyButton
      label="Copy link"
      icon={Link2}
      text={() => `${location.origin}${location.pathname}#m-${messageId}`}
    />
  )
}
