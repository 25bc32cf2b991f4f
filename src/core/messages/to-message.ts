import { ByrefError } from '../errors.ts'
import { isoTime } from '../iso-time.ts'
import { isPlainObject } from '../json/json.ts'
import { newId } from '../new-id.ts'
import { isAssetRef } from '../refs/asset-ref.ts'
import { toDataBlock } from './data-block.ts'
import {
  type AttachmentInput,
  MESSAGE_TYPES,
  type Message,
  type MessageType,
  type MetadataInput,
  type OutputMethod,
  type Participant,
} from './message.ts'

/** A participant, or its short form: `"receiver": { "role": "plugin", "name": … }`. */
export type ParticipantInput = Participant | { role: string; name?: string; id?: string }

/** Fields that every form of a message may have in addition to its content. All are optional. */
export interface MessageEnvelope {
  /** Default: {@link newId}. */
  id?: string
  /** Default: a participant of the role `role`. */
  sender?: ParticipantInput
  receiver?: ParticipantInput
  /** Short for the sender's role. Default `user`. */
  role?: string
  /** Short for the sender's name. */
  name?: string
  /** Default: `command` or `command-response` for those, `note` for data, else `chat`. */
  message_type?: MessageType
  /** ISO 8601. Default: now. */
  timestamp?: string
  metadata?: MetadataInput
  /** Short for `metadata.attachments`. */
  attachments?: AttachmentInput[]
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

/** Plain text. */
export type TextInput = MessageEnvelope & { type: 'text'; text: string }

/** A value, a schema for it, or both. */
export type DataInput = MessageEnvelope &
  Bookkeeping & { type: 'data'; kind?: string; data?: unknown }

/** The input that an agent starts from: data of the kind `input`. */
export type InputInput = MessageEnvelope &
  Bookkeeping & {
    type: 'input'
    input?: unknown
    /** JSON Schema of the answer, which is then JSON. */
    output?: Record<string, unknown>
  }

/** The agent's state: data of the kind `state`. */
export type StateInput = MessageEnvelope & Bookkeeping & { type: 'state'; state?: unknown }

/** A call in a message of OpenAI's chat completions. `arguments` is JSON as text. */
export interface ChatCall {
  id: string
  type?: string
  function: { name: string; arguments: string }
}

/**
 * `{ role, content }`, commands to plugins, and complete messages. Also messages of a history that the AI SDK or
 * OpenAI's chat completions have kept, with their calls and results.
 */
export type ContentInput = MessageEnvelope & {
  content: unknown
  content_type?: string
  /** The calls of an assistant's message in a chat of OpenAI. */
  tool_calls?: readonly ChatCall[]
  /** The call whose result a message of the role `tool` is, in a chat of OpenAI. */
  tool_call_id?: string
}

/** Every form of a message that is accepted. */
export type MessageInput = Message | TextInput | DataInput | InputInput | StateInput | ContentInput

/**
 * Converts a message in any form to its stored form. This is the only code that knows the short forms:
 *
 * - `{ type: 'text', text }` → `text/plain`
 * - `{ type: 'data' | 'input' | 'state', … }` → `data` with a {@link DataBlock}
 * - `{ role, content }` → `text/plain` for text, `multipart/mixed` for parts
 * - `{ content: { command, param | response } }` → `command`
 * - `{ content: { asset_id, field_path } }` → `asset_ref`
 * - any other content without a `content_type` → `application/json`
 *
 * A complete message is returned equal, with unknown keys and metadata. Throws `invalid_message`.
 */
export function toMessage(input: MessageInput): Message {
  const {
    id = newId(),
    sender,
    receiver,
    role = 'user',
    name,
    message_type,
    ...given
  } = Object(input)
  const { timestamp = new Date().toISOString(), metadata: extra = {}, attachments, ...body } = given
  const isAttached = attachments !== undefined && isPlainObject(extra)
  const metadata = isAttached ? { ...extra, attachments } : extra
  const { content_type, content, ...unknown } = readBody(body)
  const message: Message = {
    id,
    sender: toParticipant(sender ?? { role, name }),
    message_type: message_type ?? defaultType(content_type, content),
    content_type,
    content,
    timestamp,
    metadata,
    ...unknown,
  }
  if (receiver) message.receiver = toParticipant(receiver)
  const isText = [id, content_type].every((text) => text && typeof text === 'string')
  if (!isText) throw invalid('an id and a content_type that are text')
  if (!MESSAGE_TYPES.includes(message.message_type)) {
    throw invalid(`a message_type of ${MESSAGE_TYPES.join(', ')}`)
  }
  if (typeof timestamp !== 'string' || Number.isNaN(isoTime(timestamp)))
    throw invalid('an ISO 8601 timestamp')
  if (!isPlainObject(metadata)) throw invalid('a metadata object')
  return message
}

type Body = Record<string, unknown> & { content_type: string; content: unknown }

function readBody({ type, ...body }: Record<string, unknown>): Body {
  if (type === 'text' && typeof body.text === 'string')
    return { content_type: 'text/plain', content: body.text }
  if (type !== undefined) return { content_type: 'data', content: toDataBlock({ type, ...body }) }
  const { content, content_type = guessType(content), ...unknown } = body
  if (content === undefined) throw invalid('content or a type (text, data, input, state)')
  const isData = content_type === 'data'
  return {
    ...unknown,
    content_type: content_type as string,
    content: isData
      ? toDataBlock(isPlainObject(content) ? { type: 'data', ...content } : {})
      : content,
  }
}

function toParticipant(input: ParticipantInput): Participant {
  const { role, id, participant_role = role, name, ...rest } = Object(input)
  if (typeof participant_role !== 'string') throw invalid('participants with a participant_role')
  const participant = { participant_id: id ?? name ?? participant_role, participant_role, ...rest }
  return name === undefined ? participant : { ...participant, name }
}

function guessType(content: unknown): string {
  if (typeof content === 'string') return 'text/plain'
  if (Array.isArray(content)) return 'multipart/mixed'
  if (isAssetRef(content)) return 'asset_ref'
  const { command, type } = Object(content)
  return command ? 'command' : type === 'data' ? 'data' : 'application/json'
}

function defaultType(contentType: string, content: unknown): MessageType {
  if (contentType !== 'command') return contentType === 'data' ? 'note' : 'chat'
  return Object(content).response === undefined ? 'command' : 'command-response'
}

function invalid(what: string): ByrefError {
  return new ByrefError('invalid_message', `Invalid message: it must have ${what}.`)
}
