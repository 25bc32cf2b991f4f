import { ByrefError } from '../errors.ts'
import { type AssetRef, isAssetRef } from '../refs/asset-ref.ts'
import { toDataBlock } from './data-block.ts'
import { isPlainObject } from './json.ts'
import type {
  Message,
  MessageMetadata,
  MessageType,
  MetadataInput,
  OutputMethod,
  Participant,
} from './message.ts'
import { newId } from './new-id.ts'

/** A participant, or its short form (structured-assets.md, `"receiver": { "role": "plugin", "name": … }`). */
export type ParticipantInput = Participant | { role: string; name?: string; id?: string }

/** What any form may say besides its content. What is missing gets a default. */
export interface MessageEnvelope {
  /** Default: {@link newId}. */
  id?: string
  /** Default: a participant of the role `role`. */
  sender?: ParticipantInput
  receiver?: ParticipantInput
  /** The sender's role in short. Default `user`. */
  role?: string
  /** The sender's name in short. */
  name?: string
  /** Default: `command` or `command-response` for those, `note` for data, else `chat`. */
  message_type?: MessageType
  /** ISO 8601. Default: now. */
  timestamp?: string
  metadata?: MetadataInput
}

interface Bookkeeping {
  schema?: Record<string, unknown>
  description?: string
  _instance?: string
  /** A list of keys, or text such as `items[0].name`. */
  _path?: (string | number)[] | string
  _outputMethod?: OutputMethod
  _call?: string
  _date?: string
}

/** data-messages.md: plain text. */
export type TextInput = MessageEnvelope & { type: 'text'; text: string }
/** data-messages.md: a fact, its blueprint, or both. */
export type DataInput = MessageEnvelope &
  Bookkeeping & { type: 'data'; kind?: string; data?: unknown }
/** data-messages.md: what an agent starts from, data of the kind `input`. */
export type InputInput = MessageEnvelope & Bookkeeping & { type: 'input'; input?: unknown }
/** data-messages.md: an agent's memory, data of the kind `state`. */
export type StateInput = MessageEnvelope & Bookkeeping & { type: 'state'; state?: unknown }
/** binary-assets.md `{ role, content }`, structured-assets.md commands, message-metadata.md records. */
export type ContentInput = MessageEnvelope & { content: unknown; content_type?: string }

/** Every form in which a message is taken. */
export type MessageInput = Message | TextInput | DataInput | InputInput | StateInput | ContentInput

/**
 * The stored record of a message in any of the references' forms (spec M1). The one place that knows the shorter ones:
 *
 * - `{ type: 'text', text }` → `text/plain`
 * - `{ type: 'data' | 'input' | 'state', … }` → `data` with a {@link DataBlock}
 * - `{ role, content }` → `text/plain` for text, `multipart/mixed` for parts
 * - `{ content: { command, param | response } }` → `command`
 * - `{ content: { asset_id, field_path } }` → `asset_ref`
 * - any other content without a `content_type` → `application/json`
 *
 * A complete record comes back as it is. Throws `invalid_message`.
 */
export function toMessage(input: MessageInput): Message {
  if (!isPlainObject(input)) throw invalid('A message is an object')
  if (input.type !== undefined) return fromTyped(input)
  if (input.content === undefined) {
    throw invalid('A message has a type (text, data, input, state) or content')
  }
  const { content, content_type, ...envelope } = input as ContentInput
  const type = content_type ?? guessType(content)
  if (typeof type !== 'string' || type === '') throw invalid('A content_type is text')
  if (isComplete(input) && (type !== 'data' || isDataBlock(content))) {
    if (type === 'data') readBlock(content)
    return checked(input)
  }
  return build(envelope, type, type === 'data' ? readBlock(content) : content)
}

function fromTyped(input: Record<string, unknown>): Message {
  const { id, sender, receiver, role, name, message_type, timestamp, metadata, ...rest } = input
  const envelope = { id, sender, receiver, role, name, message_type, timestamp, metadata }
  if (rest.type !== 'text') return build(envelope as MessageEnvelope, 'data', toDataBlock(rest))
  if (typeof rest.text !== 'string') throw invalid('A text message has a text')
  return build(envelope as MessageEnvelope, 'text/plain', rest.text)
}

function build(envelope: MessageEnvelope, contentType: string, content: unknown): Message {
  const { id, sender, receiver, role, name, message_type, timestamp, metadata, ...unknown } =
    envelope
  const message: Message = {
    id: id ?? newId(),
    sender: toParticipant(sender ?? { role: role ?? 'user', name }),
    message_type: message_type ?? defaultType(contentType, content),
    content_type: contentType,
    content,
    timestamp: timestamp ?? new Date().toISOString(),
    metadata: (metadata ?? {}) as MessageMetadata,
    ...unknown,
  }
  if (receiver !== undefined) message.receiver = toParticipant(receiver)
  return checked(message)
}

function toParticipant(input: ParticipantInput): Participant {
  if (!isPlainObject(input)) throw invalid('A participant is an object')
  if ('participant_role' in input && typeof input.participant_role === 'string') {
    const participant = input as unknown as Participant
    if (typeof participant.participant_id === 'string') return participant
    return { ...participant, participant_id: participant.participant_role }
  }
  const { role, name, id } = input as { role: string; name?: string; id?: string }
  if (typeof role !== 'string' || role === '') throw invalid('A participant has a participant_role')
  const participant: Participant = { participant_id: id ?? name ?? role, participant_role: role }
  if (name !== undefined) participant.name = name
  return participant
}

function guessType(content: unknown): string {
  if (typeof content === 'string') return 'text/plain'
  if (Array.isArray(content)) return 'multipart/mixed'
  if (isAssetRef(content as AssetRef)) return 'asset_ref'
  if (isPlainObject(content)) {
    if (typeof content.command === 'string') return 'command'
    if (content.type === 'data') return 'data'
  }
  return 'application/json'
}

function defaultType(contentType: string, content: unknown): MessageType {
  if (contentType === 'data') return 'note'
  if (contentType !== 'command') return 'chat'
  return isPlainObject(content) && 'response' in content ? 'command-response' : 'command'
}

function readBlock(content: unknown) {
  if (!isPlainObject(content)) throw invalid('The content of a data message is a data block')
  return toDataBlock({ ...content, type: content.type ?? 'data' })
}

function isDataBlock(content: unknown): content is Record<string, unknown> {
  return isPlainObject(content) && content.type === 'data' && typeof content._path !== 'string'
}

function isComplete(input: Record<string, unknown>): input is Message & Record<string, unknown> {
  const { id, sender, receiver, message_type, content_type, timestamp, metadata } = input
  return (
    typeof id === 'string' &&
    isParticipant(sender) &&
    (receiver === undefined || isParticipant(receiver)) &&
    typeof message_type === 'string' &&
    typeof content_type === 'string' &&
    typeof timestamp === 'string' &&
    isPlainObject(metadata) &&
    !('role' in input || 'name' in input)
  )
}

function isParticipant(value: unknown): value is Participant {
  return (
    isPlainObject(value) &&
    typeof value.participant_id === 'string' &&
    typeof value.participant_role === 'string'
  )
}

const TYPES: readonly string[] = ['chat', 'note', 'notice', 'command', 'command-response', 'log']

function checked(message: Message): Message {
  if (typeof message.id !== 'string' || message.id === '') throw invalid('An id is text')
  if (!TYPES.includes(message.message_type)) {
    throw invalid(
      `${JSON.stringify(message.message_type)} is no message_type: use ${TYPES.join(', ')}`,
    )
  }
  if (Number.isNaN(Date.parse(message.timestamp))) throw invalid('A timestamp is ISO 8601')
  if (!isPlainObject(message.metadata)) throw invalid('metadata is an object')
  return message
}

function invalid(reason: string): ByrefError {
  return new ByrefError('invalid_message', `${reason}.`)
}
