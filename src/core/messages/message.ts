/**
 * Who sends or receives a message.
 * `participant_role` is `user`, `assistant`, `system`, `tool` or `plugin`, or a role of the application's own.
 */
export interface Participant {
  participant_id: string
  participant_role: string
  name?: string
}

/** How a message is shown: talk, the agent's own notes, news from the system, plugin calls and their answers, hidden. */
export type MessageType = 'chat' | 'note' | 'notice' | 'command' | 'command-response' | 'log'

/** Those words. */
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

/** One call that an assistant announces. */
export interface ToolCall {
  id: string
  name: string
  /** What the model sent, references and `†` variables unresolved. */
  arguments: Record<string, unknown>
}

/** Marks a message as the result of the call with this id; `error` is there when the call failed. */
export interface ToolResultMark {
  tool_call_id: string
  error?: { code: string; message: string }
  /** Where the result was written among the data, as `†` paths: its value is there, not in the message's content. */
  written_to?: readonly string[]
  /** What the model is shown instead of the content: text or JSON. */
  model_output?: unknown
  [key: string]: unknown
}

/** What the app and the engine read from a message's metadata. Any other key survives untouched. */
export interface MessageMetadata {
  /** Shown after the sender's name. */
  attribution?: string
  /** Turns the message into a link, never for `chat`. */
  href?: string
  /** Lines under the message. */
  footer_items?: string[]
  tool_calls?: ToolCall[]
  tool_result?: ToolResultMark
  attachments?: Attachment[]
  /** Debug data is stored apart; this says that there is some. */
  has_debug_data?: boolean
  /** An answer that was stopped before its end. */
  incomplete?: boolean
  [key: string]: unknown
}

/** Metadata as it may be written. */
export interface MetadataInput {
  attachments?: AttachmentInput[]
  [key: string]: unknown
}

/**
 * An attachment as it may be written: by the reference alone, or by its body in any form that is extracted from tool
 * results (`{ mimeType, dataBase64 }`, `{ dataUrl }`, a Blob …), which becomes an asset.
 */
export type AttachmentInput =
  | (Partial<Attachment> & Pick<Attachment, 'assetRef'>)
  | (Omit<Partial<Attachment>, 'assetRef'> & { assetRef?: undefined })
  | string
  | Blob
  | Uint8Array

/**
 * One message as it is stored, shown and travels.
 * `content` fits `content_type`: text for `text/*`, parts for `multipart/mixed`, `{ command, param | response }` for
 * `command`, a reference for `asset_ref`, a {@link DataBlock} for `data`, else JSON. `timestamp` is ISO 8601 in UTC.
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

/** How a data message acts on the value it is written to. */
export type OutputMethod = 'set' | 'merge' | 'assign' | 'push' | 'concat' | 'delete'

/** A data message's content. The `_` keys are bookkeeping; all others are optional. */
export interface DataBlock {
  type: 'data'
  kind?: string
  data?: unknown
  schema?: Record<string, unknown>
  description?: string
  /** Of an input: JSON Schema of what comes of it; the answer to it is JSON then. */
  output?: Record<string, unknown>
  _instance?: string
  /** Where in the value `data` is written; absent is the root. */
  _path?: (string | number)[]
  _outputMethod?: OutputMethod
  /** The id of the call whose result this is. */
  _call?: string
  /** When it was written, ISO 8601. */
  _date?: string
}
