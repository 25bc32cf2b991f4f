import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'
import { useState } from 'react'
import { isBlock } from '../references/data-block.ts'
import { LabelMark } from '../trust/label-mark.tsx'
import { useLabels } from '../trust/labels-context.tsx'
import { cn } from '../ui/cn.ts'
import { DataLine } from './data-line.tsx'
import { EditMessage } from './edit-message.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageBody, MessageFooter } from './message-body.tsx'
import { MessageHeader, senderName } from './message-header.tsx'
import { ResultCard } from './result-card.tsx'
import { RunLine, SavedLine } from './saved-line.tsx'
import { VersionSwitch } from './versions.tsx'

/** Properties of {@link MessageView}. */
export interface MessageViewProps {
  message: Message
  header: boolean
  /** Whether it is in a step, which shows the images and files of its results itself. */
  inStep?: boolean
}

/** Renders one message without calls: a result or a data block in its own form, any other by its type. */
export function MessageView({ message, header, inStep }: MessageViewProps) {
  const [isEdited, setEdited] = useState(false)
  const label = useLabels().messages[message.id]
  if (readMetadata(message).result) {
    return <ResultCard message={message} />
  }
  if (isBlock(message)) return <DataLine message={message} inStep={inStep} />
  return (
    <article
      id={`m-${message.id}`}
      aria-label={nameOf(message)}
      className={cn('group/message relative scroll-my-4', header ? 'mt-5 first:mt-0' : 'mt-2')}
    >
      {header && <MessageHeader message={message} label={label} />}
      <div className={cn('space-y-2 sm:ps-8', !header && 'pointer-coarse:pe-9')}>
        {isEdited ? (
          <EditMessage message={message} onClose={() => setEdited(false)} />
        ) : (
          <MessageBody message={message} />
        )}
        {!header && <LabelMark label={label} origin={`message:${message.id}`} />}
        <MessageFooter message={message} />
        <RunLine messageId={message.id} />
        <SavedLine messageId={message.id} />
        <VersionSwitch messageId={message.id} />
      </div>
      <MessageActions message={message} header={header} onEdit={() => setEdited(true)} />
    </article>
  )
}

/** Number of characters of a message that are in its name. */
const NAME_CHARS = 60

/** Returns the name of a message for screen readers: who says what, so that people can tell messages apart. */
function nameOf(message: Message): string {
  const { content, message_type: type } = message
  const text = typeof content === 'string' ? content.trim().replace(/\s+/g, ' ') : ''
  const what = text === '' ? type : text.slice(0, NAME_CHARS)
  return `Message from ${senderName(message)}: ${what}`
}
