/**
 * Who sends or receives a message. `participant_role` is `user`, `assistant`, `system`, `tool` or `plugin`, or
 * the application's own role.
 */
export interface Participant {
  participant_id: string
  participant_role: string
  name?: string
}

/**
 * The kind of a message. `chat`: text from users and answers from models. `note`: results of calls, and data. `notice`:
 * texts from the system. `command` and `command-response`: to and from plugins. `log`: hidden.
 */
export type MessageType = 'chat' | 'note' | 'notice' | 'command' | 'command-response' | 'log'

/** All message types. */
export const MESSAGE_TYPES: readonly unknown[] = [
  'chat',
  'note',
  'notice',
  'command',
  'command-response',
  'log',
] satisfies MessageType[]

/** A file that belongs to a message, by reference. */
export interface Attachment {
  kind: 'image' | 'audio' | 'video' | 'file'
  assetRef: string
  mimeType: string
  fileName?: string
  /** Audio only: the provider's name of the format, such as `mp3`. */
  format?: string
  /** Images only: how closely the model should look, such as `low` or `high`. */
  detail?: string
  [key: string]: unknown
}

/** One call in an assistant's message. */
export interface ToolCall {
  id: string
  name: string
  /** The arguments as the model wrote them, with references and `†` variables unresolved. */
  arguments: Record<string, unknown>
  /** The tool through which the model called this one: `call_tool`. Absent if it called the tool itself. */
  via?: string
}

/** Marks a message as the result of the call with this id. `error` is present if the call failed. */
export interface ToolResultMark {
  tool_call_id: string
  error?: { code: string; message: string }
  /**
   * The `†` paths of the data to which the result was written. The value is stored there, not in the message's
   * content.
   */
  written_to?: readonly string[]
  /** What the model sees instead of the content: text or JSON. */
  model_output?: unknown
  /** The arguments with which a person replaced those of the call, or their preview if they are long. */
  changed_arguments?: unknown
  [key: string]: unknown
}

/** Metadata keys that byref and the workbench read. Other keys are kept unchanged. */
export interface MessageMetadata {
  /** Shown after the sender's name. */
  attribution?: string
  /** Turns the message into a link; ignored for `chat`. */
  href?: string
  /** Lines shown below the message. */
  footer_items?: string[]
  tool_calls?: ToolCall[]
  tool_result?: ToolResultMark
  attachments?: Attachment[]
  /** Whether debug data exists. It is stored separately. */
  has_debug_data?: boolean
  /** The answer was interrupted. */
  incomplete?: boolean
  [key: string]: unknown
}

/** A model's reasoning before its answer, with the metadata that its provider expects back. */
export interface KeptReasoning {
  text: string
  provider_metadata?: Record<string, unknown>
}

/** Metadata as input. */
export interface MetadataInput {
  attachments?: AttachmentInput[]
  [key: string]: unknown
}

/**
 * An attachment as input: its reference, or its body in any form that is recognized in tool results (`{
 * mimeType, dataBase64 }`, `{ dataUrl }`, a Blob …). A body becomes an asset.
 */
export type AttachmentInput =
  | (Partial<Attachment> & Pick<Attachment, 'assetRef'>)
  | (Omit<Partial<Attachment>, 'assetRef'> & { assetRef?: undefined })
  | string
  | Blob
  | Uint8Array

/**
 * One message as it is stored, shown and transmitted. The form of `content` depends on `content_type`: text
 * for `text/*`, parts for `multipart/mixed`, `{ command, param | response }` for `command`, a reference for
 * `asset_ref`, a {@link DataBlock} for `data`, otherwise JSON. `timestamp` is ISO 8601 in UTC.
 */
export interface Message {
  id: string
  sender: Participant
  receiver?: Participant
  message_type: MessageType
  content_type: string
  content: unknown
  timestamp: string
  metadata: MessageMetadata
}

/** How a data message changes the value that it is written to. */
export type OutputMethod = 'set' | 'merge' | 'assign' | 'push' | 'concat' | 'delete'

/** A data message's content. The `_` keys are bookkeeping. All keys except `type` are optional. */
export interface DataBlock {
  type: 'data'
  kind?: string
  data?: unknown
  schema?: Record<string, unknown>
  description?: string
  /** For an input: JSON Schema of the answer, which is then JSON. */
  output?: Record<string, unknown>
  _instance?: string
  /** The path in the value to which `data` is written. Default: the root. */
  _path?: (string | number)[]
  _outputMethod?: OutputMethod
  /** The id of the call whose result this is. */
  _call?: string
  /** When it was written, ISO 8601. */
  _date?: string
}

/**
 * Returns what replaces a deleted message: its sender and time, without content. The metadata is `{ deleted:
 * true }`. A deleted result also has `result: true` and keeps its number, so `†result#12` still refers to the
 * twelfth result.
 */
export function tombstoneOf(message: Message, { isResult }: { isResult: boolean }): Message {
  const { id, sender, message_type, timestamp } = message
  const metadata = { deleted: true, ...(isResult ? { result: true } : {}) }
  return { id, sender, message_type, content_type: 'text/plain', content: '', timestamp, metadata }
}

/** Whether a message was deleted. A message with content was not deleted, whatever its metadata says. */
export function isDeleted({ content, metadata }: Pick<Message, 'content' | 'metadata'>): boolean {
  return content === '' && metadata?.deleted === true
}

/** Whether the message is a deleted call result. */
export function isDeletedResult(message: Pick<Message, 'content' | 'metadata'>): boolean {
  return isDeleted(message) && message.metadata.result === true
}
