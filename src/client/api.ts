import type { LogRecord } from '../content/events.ts'
import type { Attachment } from '../content/message.ts'

/** What runs on the server (`GET /api/info`). */
export interface ServerInfo {
  name: string
  version: string
  /** The model that answers; `demo` is true for the built-in one that needs no key. */
  model: { id: string; provider: string; demo: boolean }
  tools: { id: string; description: string }[]
}

/**
 * How a conversation stands: nothing to do; a run under way; a run that waits for a person's answer; the last run
 * failed.
 */
export type RunStatus = 'idle' | 'running' | 'waiting' | 'failed'

/** One line of the list of conversations. Times are ISO 8601. */
export interface ConversationSummary {
  id: string
  title: string
  createdAt: string
  updatedAt: string
  /** How many messages it has. */
  messages: number
  status: RunStatus
}

/** A page of a conversation's log, oldest first. `next` is the `after` of the next page, null on the last. */
export interface EventsPage {
  records: LogRecord[]
  next: number | null
}

/** What a person says. */
export interface OutgoingMessage {
  content: string
  /** Files by reference, as {@link UploadResult} names them. */
  attachments?: { assetRef: string }[]
  /** Stored with it; `debug` apart and without secrets. */
  metadata?: Record<string, unknown>
}

/** How a message is said. */
export interface SendOptions {
  /**
   * During a run: `queue` waits for a run of its own, `steer` for the next step of the run. Absent: `conversation_busy`
   * is thrown.
   */
  ifBusy?: 'queue' | 'steer'
}

/** What a person says about a call that waits. */
export interface ApprovalAnswer {
  approved: boolean
  /** Told to the model where it was refused. */
  reason?: string
  /** What runs instead of what was shown; of a mapped call, a list with the arguments of each item. */
  arguments?: Record<string, unknown> | (Record<string, unknown> | null)[]
}

/** The message that was taken, and the run that it starts, waits for or joins. */
export interface SendResult {
  messageId: string
  runId: string
}

/** What is known of an asset without reading its body. */
export interface AssetInfo {
  assetId: string
  /** The full reference, `asset://…`. */
  ref: string
  mime: string
  kind: Attachment['kind']
  /** In bytes; null where there is no body. */
  size: number | null
  /** SHA-256 of the body in lower-case hex; null where there is no body. */
  digest: string | null
  name: string | null
  /** ISO 8601. */
  createdAt: string
}

/** An asset with its flattened meta, which is what a model is shown of it. */
export interface AssetDetails {
  asset: AssetInfo
  meta: Record<string, unknown>
}

/** The file as it came, and the structured asset that was made of it if it was a table. */
export interface UploadResult {
  asset: AssetInfo
  table: AssetInfo | null
}

/** Rows of a table, in order. `next` is where the following ones begin, null at the end. */
export interface RowsPage {
  rows: Record<string, unknown>[]
  next: number | null
}
