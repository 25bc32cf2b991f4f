import { isToolUIPart, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import { readState } from '../../../agent/read-conversation.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { checkOptions, is } from '../../../core/check-options.ts'
import { defined } from '../../../core/defined.ts'
import type { AssetCreated } from '../../../core/events/events.ts'
import { isDeleted, type Message } from '../../../core/messages/message.ts'
import { type ReadMedia, readParts } from '../../../core/messages/message-parts.ts'
import { readMetadata } from '../../../core/messages/read-metadata.ts'
import type { MessageInput } from '../../../core/messages/to-message.ts'
import { newId } from '../../../core/new-id.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { saveSentFile } from '../../serving/sent-files.ts'
import { answersFirst, RunChunks, type UIChunkOptions } from './ui-chunks.ts'

/**
 * Returns a conversation as messages for `useChat`, for a page that opens it. Each finished run is one message of the
 * assistant. A run in progress is not included: its stream delivers it. Returns an empty list if the conversation does
 * not exist.
 */
export async function uiMessages(
  agent: Agent,
  conversation: string,
  options: UIChunkOptions = {},
): Promise<UIMessage[]> {
  checkOptions<UIChunkOptions>('uiMessages', options, { assetUrl: is.callback() })
  const { log } = agent
  const deleted = new Set(await log.deleted(conversation))
  const pending = new Map<string, Message>()
  const messages: UIMessage[] = []
  const add = (ids: Iterable<string>): void => {
    for (const id of [...ids]) {
      const message = pending.get(id)
      if (message) messages.push(toUIMessage(message, options))
      pending.delete(id)
    }
  }
  const assets = new Map<string, AssetCreated>()
  let run = new RunChunks(() => true, options, assets)
  let chunks: UIMessageChunk[] = []
  let asked: readonly string[] = []
  let answers: string[] = []
  const areGone = (ids: readonly string[]): boolean =>
    ids.length > 0 && ids.every((id) => deleted.has(id))
  for (const event of answersFirst(await Array.fromAsync(readAll(log, conversation)))) {
    if (event.type === 'NEW_MESSAGE' && deleted.has(event.payload.id)) continue
    if (event.type === 'NEW_MESSAGE' && isUserMessage(event.payload)) {
      pending.set(event.payload.id, event.payload)
      continue
    }
    if (event.type === 'RUN_STARTED' || event.type === 'STEP_STARTED') add(event.messageIds ?? [])
    if (event.type === 'RUN_STARTED') [asked, answers] = [event.messageIds ?? [], []]
    if (event.type === 'STEP_STARTED') answers.push(event.messageId)
    if (event.type === 'TOOL_CALL_END' && deleted.has(event.parentMessageId)) continue
    chunks.push(...run.take(event))
    if (!run.isOver) continue
    // A run whose messages were deleted is not shown.
    if (!areGone(asked) && !areGone(answers)) messages.push(...(await messageOf(chunks)))
    run = new RunChunks(() => true, options, assets)
    chunks = []
  }
  if (run.runId === '') add(pending.keys())
  return messages
}

/**
 * Converts a message of `useChat` to a message for an agent. Saves its files, and the tables in them as tables.
 *
 * @throws what `importFile` throws
 */
export async function toInput(
  { id, metadata, parts }: UIMessage,
  assets: Assets,
): Promise<MessageInput & { id: string }> {
  const inputs = await Promise.all(parts.map((part) => toPart(part, assets)))
  const content = inputs.filter((part) => part !== null)
  const [first] = content
  const isText = content.length === 1 && first && 'text' in first
  const data = parts.filter(({ type }) => String(type).startsWith('data-'))
  const shown = defined({
    [UI_METADATA]: metadata ?? undefined,
    [UI_DATA]: data.length > 0 ? data : undefined,
  })
  return { id, role: 'user', content: isText ? first.text : content, metadata: shown }
}

async function toPart(part: UIMessage['parts'][number], assets: Assets) {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type !== 'file') return null
  const { url: data, mediaType, filename } = part
  const file = defined({ type: 'file', data, mediaType, filename })
  return { ...file, data: (await saveSentFile(file, assets)) ?? data }
}

/** Returns whether a person wrote the message. */
function isUserMessage(message: Message): boolean {
  const { sender, message_type, content_type } = message
  const isTalk = message_type === 'chat' && /^text\/|^multipart\//.test(content_type)
  return sender.participant_role === 'user' && isTalk
}

/** Metadata key: the browser's id of a message that was sent again and has a new id in the log. */
const UI_ID = 'ui_message_id'

/** Metadata key: the `metadata` of a person's message. Only pages read it. */
const UI_METADATA = 'ui_metadata'

/** Metadata key: the `data-*` parts of a person's message. Only pages read them. */
const UI_DATA = 'ui_data'

/** Returns the browser's id of a message. */
function uiIdOf({ id, metadata }: Message): string {
  const uiId = metadata[UI_ID]
  return typeof uiId === 'string' ? uiId : id
}

/** Returns the URL of a file. A file that is not an asset keeps its own. */
function urlOf(ref: string, { assetUrl }: UIChunkOptions): string {
  return assetUrl && isAssetRef(ref) ? assetUrl(ref) : ref
}

function partsOf(message: Message): ReturnType<typeof readParts> {
  const { content } = message
  const parts = readParts(typeof content === 'string' ? { type: 'text', text: content } : content)
  const attached = readMetadata(message).attachments.map(
    ({ assetRef: ref, mimeType, fileName }) => {
      return { type: 'media', kind: 'file', ref, mimeType, fileName } as ReadMedia
    },
  )
  return [...parts, ...attached]
}

function toUIMessage(message: Message, options: UIChunkOptions): UIMessage {
  const parts = partsOf(message).map((part): UIMessage['parts'][number] => {
    if (part.type === 'text') return part
    const { ref, mimeType: mediaType, fileName: filename } = part
    return defined({ type: 'file', mediaType, url: urlOf(ref, options), filename })
  })
  const { [UI_METADATA]: metadata, [UI_DATA]: data } = message.metadata
  const more = Array.isArray(data) ? data : []
  return defined({ id: uiIdOf(message), role: 'user', metadata, parts: [...parts, ...more] })
}

/**
 * Builds the message that a browser would build from the chunks. Returns an empty list if it would show nothing, unless
 * the run failed or was cancelled: its metadata says so.
 */
async function messageOf(chunks: readonly UIMessageChunk[]): Promise<UIMessage[]> {
  const hasFailed = chunks.some(({ type }) => type === 'error' || type === 'abort')
  const stream = ReadableStream.from(chunks.filter(({ type }) => type !== 'error'))
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream })) last = message
  return last && (hasFailed || last.parts.length > 0)
    ? [{ ...last, parts: last.parts.map(withoutQuestion) }]
    : []
}

/** Returns a part without an approval that nobody has answered: its run has ended. */
function withoutQuestion(part: UIMessage['parts'][number]): UIMessage['parts'][number] {
  if (!isToolUIPart(part) || part.approval?.approved !== undefined) return part
  const { approval: _, ...rest } = part
  return rest as typeof part
}

/**
 * Returns a person's message, which may still wait for a run; null if the log does not have it.
 *
 * @param id The browser's id of the message.
 */
export async function findMessage(
  agent: Agent,
  conversation: string,
  id: string,
): Promise<Message | null> {
  const { messages, inbox } = await readState(agent.log, conversation)
  const isIt = (one: Message): boolean => isUserMessage(one) && uiIdOf(one) === id
  const all = [...messages, ...inbox.map(({ message }) => message)]
  return all.find((one) => isIt(one) && !isDeleted(one)) ?? null
}

/** Returns the message as a new one, under the id that the browser already has for it. */
export function again(message: Message): MessageInput & { id: string } {
  const metadata = { ...message.metadata, [UI_ID]: uiIdOf(message) }
  return { ...message, id: newId(), timestamp: new Date().toISOString(), metadata }
}

/** Returns a new message in place of an edited one. It can refer to the same files. */
export async function edited(
  { id, parts, ...rest }: UIMessage,
  before: Message,
  { assets, ...options }: UIChunkOptions & { assets: Assets },
): Promise<MessageInput & { id: string }> {
  const refs = partsOf(before).flatMap((part) => (part.type === 'media' ? part.ref : []))
  // Browsers have the URLs of the files.
  const byUrl = new Map(refs.map((ref) => [urlOf(ref, options), ref]))
  const known = parts.map((part) =>
    part.type === 'file' ? { ...part, url: byUrl.get(part.url) ?? part.url } : part,
  )
  const { metadata, ...input } = await toInput({ ...rest, id, parts: known }, assets)
  return {
    ...input,
    id: newId(),
    metadata: { ...metadata, [UI_ID]: id },
  } as MessageInput & { id: string }
}
