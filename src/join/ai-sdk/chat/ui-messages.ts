import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { LogRecord } from '../../../content/events.ts'
import type { Message } from '../../../content/message.ts'
import { type ReadMedia, readParts } from '../../../content/message-parts.ts'
import { readMetadata } from '../../../content/read-metadata.ts'
import type { MessageInput } from '../../../content/to-message.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { answersFirst, createUIChunks, type UIChunkOptions } from './ui-chunks.ts'

/**
 * A conversation as `useChat` has it, for a page that opens it: what people said, and each run that has ended as a message
 * of the assistant. One that is under way comes by the stream. Empty where there is no such conversation.
 */
export async function uiMessages(
  agent: Agent,
  conversation: string,
  options: UIChunkOptions = {},
): Promise<UIMessage[]> {
  const { log } = agent
  const deleted = new Set(await log.deleted(conversation))
  const said = new Map<string, Message>()
  const messages: UIMessage[] = []
  const say = (ids: Iterable<string>): void => {
    for (const id of [...ids]) {
      const message = said.get(id)
      if (message) messages.push(toUIMessage(message, options))
      said.delete(id)
    }
  }
  let run = createUIChunks(agent, () => true, options)
  let chunks: UIMessageChunk[] = []
  const records: LogRecord[] = []
  for await (const record of readAll(log, conversation)) records.push(record)
  for (const event of answersFirst(records)) {
    if (event.type === 'NEW_MESSAGE' && deleted.has(event.payload.id)) continue
    if (event.type === 'NEW_MESSAGE' && isSaid(event.payload)) {
      said.set(event.payload.id, event.payload)
      continue
    }
    if (event.type === 'RUN_STARTED' || event.type === 'STEP_STARTED') say(event.messageIds ?? [])
    chunks.push(...run.take(event))
    if (!run.isOver) continue
    messages.push(...(await messageOf(chunks)))
    run = createUIChunks(agent, () => true, options)
    chunks = []
  }
  if (run.runId === '') say(said.keys())
  return messages
}

/** What a person sends by `useChat`, as an agent takes it. */
export function toInput({ id, parts }: UIMessage): MessageInput {
  const content = parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    if (part.type !== 'file') return []
    const { url: data, mediaType, filename } = part
    return { type: 'file', data, mediaType, ...(filename === undefined ? {} : { filename }) }
  })
  const [first] = content
  const isText = content.length === 1 && first && 'text' in first
  return { id, role: 'user', content: isText ? first.text : content }
}

function isSaid(message: Message): boolean {
  const { sender, message_type, content_type } = message
  const isTalk = message_type === 'chat' && /^text\/|^multipart\//.test(content_type)
  return sender.participant_role === 'user' && isTalk
}

function toUIMessage(message: Message, { assetUrl = (ref) => ref }: UIChunkOptions): UIMessage {
  const { id, content } = message
  const parts = readParts(typeof content === 'string' ? { type: 'text', text: content } : content)
  const attached = readMetadata(message).attachments.map(
    ({ assetRef: ref, mimeType, fileName }) => {
      return { type: 'media', kind: 'file', ref, mimeType, fileName } as ReadMedia
    },
  )
  return {
    id,
    role: 'user',
    parts: [...parts, ...attached].map((part) => {
      if (part.type === 'text') return part
      const { ref, mimeType: mediaType, fileName } = part
      const filename = fileName === undefined ? {} : { filename: fileName }
      return { type: 'file', mediaType, url: assetUrl(ref), ...filename }
    }),
  }
}

/** The message that a browser makes of the chunks; none where there is nothing to see. */
async function messageOf(chunks: readonly UIMessageChunk[]): Promise<UIMessage[]> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) if (chunk.type !== 'error') controller.enqueue(chunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream })) last = message
  return last && last.parts.length > 0 ? [last] : []
}
