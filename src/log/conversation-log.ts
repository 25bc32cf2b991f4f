import type { ConversationEvent, LogRecord } from '../content/events.ts'

/** One conversation as lists show it. Times are ISO 8601 in UTC. */
export interface ConversationSummary {
  id: string
  /** The first words of its first chat message; null before there is one. */
  title: string | null
  createdAt: string
  updatedAt: string
  /** Number of messages of every type. */
  messages: number
  /** The id of a run that was started and has not ended, else null. */
  openRun: string | null
}

/** What is stored beside the events of one append. */
export interface AppendOptions {
  /** Debug data by message id: JSON, kept apart from the events and never part of them (message-metadata.md). */
  debug?: Record<string, unknown>
}

/** A page of records. */
export interface ReadOptions {
  /** Only records behind this position; default 0, the beginning. */
  after?: number
  /** At most this many; default 500. */
  limit?: number
}

/**
 * Where conversations live: an append-only sequence of durable events for each, the only thing that a run needs to
 * go on and a reader needs to see what happened. Every method rejects after `close`.
 */
export interface ConversationLog {
  /**
   * Makes a conversation without events. `id` defaults to a new one; making one that is there changes nothing.
   * Resolves to its id.
   */
  create(id?: string): Promise<string>

  /** The summary of one conversation, or null where there is none. */
  find(id: string): Promise<ConversationSummary | null>

  /** All conversations, last changed first. */
  list(): Promise<ConversationSummary[]>

  /**
   * Appends the events in order, all or none, and makes the conversation if it is not there. What resolves is on
   * disk: a crash after that loses nothing. Positions grow within the log and are never used again; two appends at
   * once never interleave. Throws `TypeError` for an event that is not durable.
   */
  append(
    conversation: string,
    events: readonly ConversationEvent[],
    options?: AppendOptions,
  ): Promise<LogRecord[]>

  /** The records behind `after` in order; empty at the end and for an unknown conversation. */
  read(conversation: string, options?: ReadOptions): Promise<LogRecord[]>

  /** The debug data of one message, or null where there is none. */
  debug(conversation: string, messageId: string): Promise<unknown>

  /**
   * Calls `listener` with the records of each later append of this log object, in order, once they are stored. It is
   * told within the append, so it must not wait and must not throw. Returns the function that ends it.
   */
  subscribe(listener: (conversation: string, records: readonly LogRecord[]) => void): () => void

  /** Ends every use. Closing twice is harmless. */
  close(): Promise<void>
}

/** All records of a conversation behind `after`, page by page. */
export async function* readAll(
  log: ConversationLog,
  conversation: string,
  after = 0,
): AsyncGenerator<LogRecord> {
  let position = after
  for (;;) {
    const page = await log.read(conversation, { after: position })
    yield* page
    const last = page.at(-1)
    if (!last) return
    position = last.position
  }
}

/** What a conversation is called in lists: the first line of its first chat message, at most 80 characters. */
export function titleOf(events: readonly ConversationEvent[]): string | null {
  for (const event of events) {
    if (event.type !== 'NEW_MESSAGE' || event.payload.message_type !== 'chat') continue
    const { content } = event.payload
    if (typeof content !== 'string' || content.trim() === '') continue
    const line = content.trim().split('\n', 1)[0] ?? ''
    return line.length > 80 ? `${line.slice(0, 79)}…` : line
  }
  return null
}

/** The open run after the events, given the one before them. */
export function openRunAfter(
  events: readonly ConversationEvent[],
  before: string | null,
): string | null {
  let open = before
  for (const event of events) {
    if (event.type === 'RUN_STARTED') open = event.runId
    else if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') open = null
  }
  return open
}
