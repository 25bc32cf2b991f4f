import { ByrefError } from '../core/errors.ts'
import type { Damage } from '../core/events/damaged-error.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'

/**
 * How a conversation stands: nothing to do; a run under way; a run that waits for a person's answer; the last run
 * failed.
 */
export type ConversationStatus = 'idle' | 'running' | 'waiting' | 'failed'

/** One conversation as lists show it. Times are ISO 8601 in UTC. */
export interface ConversationSummary {
  id: string
  /** Null for a conversation in no namespace. */
  namespace: string | null
  /** The name it was given, else the first words of its first chat message; null before there is one. */
  title: string | null
  createdAt: string
  updatedAt: string
  /** Number of messages of every type, without those that were deleted. */
  messages: number
  /** Of the last record; 0 before the first. */
  position: number
  status: ConversationStatus
  /** The id of a run that was started and has not ended, else null. */
  openRun: string | null
  /** Messages that wait for a run or a step of their own. */
  queued: number
  /** The name of the agent that ran last, or that a message waits for; null before there is one, and for one without. */
  agent: string | null
  /**
   * Who runs it, and for how many milliseconds from now that still holds, by the clock of the log; not positive where
   * it has run out. Null where nobody does.
   */
  lease: { owner: string; expiresIn: number } | null
  /** Where it cannot be read, and why, for a conversation that was set aside for that; else null. */
  damage: Damage | null
}

/** A record as it is stored, sound or not. */
export interface StoredRecord {
  position: number
  /** Milliseconds since 1970. */
  at: number
  /** JSON, if it is sound. */
  event: string
  /** What is wrong with it; null where its checksum is right. */
  problem: string | null
}

/** What finds and mends conversations that a disk or a program has damaged. */
export interface LogUpkeep {
  /**
   * Sets a conversation aside, or takes it back for null. Lists show one that is set aside with its damage, and it is never
   * due: nobody is kept busy by it. Nothing is changed in what it holds.
   */
  setAside(conversation: string, damage: Damage | null): Promise<void>
  /** The records behind a position as they are stored. */
  stored(conversation: string, options: Required<ReadOptions>): Promise<StoredRecord[]>
  /**
   * Removes all records behind a position and damaged debug data: the conversation is made anew from the records that are
   * left, without a lease, and is not set aside any more. Gives how many records it removed.
   *
   * @throws DamagedError where one that would be left is damaged: then nothing is changed
   */
  cut(conversation: string, after: number): Promise<number>
  /** What is wrong with the storage as a whole, in its own words; absent where it looks after that itself. */
  check?(): Promise<readonly string[]>
}

/** What a writer says beside its events. */
export interface AppendOptions {
  /**
   * The position up to which the writer knows the conversation, 0 for a new one. Where the log is ahead, nothing is
   * appended and {@link LogConflictError} brings what was missed. Absent: appended wherever the end is.
   */
  after?: number
  /**
   * The append is that of whoever runs the conversation. Refused with {@link LeaseHeldError} while another's lease
   * lasts; else the lease is this owner's for `ms` milliseconds from now, and nobody's where `ms` is 0.
   */
  lease?: Lease
  /** Debug data by message id: JSON, kept apart from the events and never part of them. */
  debug?: Readonly<Record<string, unknown>>
}

/** A claim to run a conversation. */
export interface Lease {
  /** An id of the agent that runs it, unique over all processes. */
  owner: string
  ms: number
}

/** A page of records. */
export interface ReadOptions {
  /** Only records behind this position; default 0, the beginning. */
  after?: number
  /** At most this many; default 500. */
  limit?: number
}

/** Which conversations to list. */
export interface ListOptions {
  /** At most this many; default 50, at most 1,000. */
  limit?: number
  /** `next` of the page before. */
  cursor?: string | null
  /**
   * Only those with something to go on with: an open run, or messages that wait for one; `abandoned`: of these those whose
   * lease has run out without being given back, since whoever had it is gone.
   */
  due?: boolean | 'abandoned'
  /** Only those whose title, or the text of one of whose chat messages, contains this; letter case does not matter. */
  search?: string
  /** Those of all namespaces, not only of this log's own: for whoever resumes or sweeps. */
  allNamespaces?: boolean
}

/** What is new in a conversation. */
export interface LogChange {
  conversation: string
  namespace: string | null
  /**
   * The records that were appended, in order; empty where it was made, renamed or deleted, and for a subscriber that does
   * not want them.
   */
  records: readonly LogRecord[]
  /** The conversation is gone, with all that it held. */
  deleted?: true
  /** What is told by another process and is not durable, see {@link ConversationLog.stream}; then there are no records. */
  streamed?: readonly ConversationEvent[]
}

/** What a subscriber hears. */
export interface SubscribeOptions {
  /** Changes of all namespaces, not only of this log's own. */
  allNamespaces?: boolean
  /**
   * Whether it needs the records of a conversation; where not, a change of it comes without them, and they need not be
   * read. Asked at each change. Default: it needs all.
   */
  wants?(conversation: string, namespace: string | null): boolean
}

/** Runs a statement in the transaction of an append: `$1` stands for the first value, and rows are objects by column. */
export type TransactionQuery = (
  text: string,
  values: readonly unknown[],
) => Promise<{ rows: Record<string, unknown>[] }>

/** A conversation that a runner must continue. */
export interface DueConversation {
  conversation: string
  namespace: string | null
  /** The name of the agent that it waits for; null for an agent without a name. */
  agent: string | null
}

/** Names the conversations to advance. The log decides whether they are due, and what is due. */
export interface ConversationQueue {
  /** Enqueues in the transaction that made the conversation due, unless it already waits in the queue. */
  enqueue(query: TransactionQuery, due: DueConversation): Promise<void>
}

/**
 * Where conversations live: for each a sequence of durable events with dense positions, 1, 2, 3 …, the only thing that
 * a run needs to go on and a reader needs to see what happened. It is also what decides: of two writers who know the
 * same position one appends, and the other hears what it missed. Nothing is promised about the order of records of
 * different conversations.
 *
 * A log is that of one namespace: in it only its own conversations exist, and the same id in another is another
 * conversation. Every method rejects after `close`, and with `log_failed` where the storage fails (`storage_full` for a
 * full disk); what was rejected so may have been stored all the same, which `after` tells apart the next time. None
 * blocks the process while another one writes.
 */
export interface ConversationLog {
  /** The namespace of this log; null for none. */
  readonly namespace: string | null
  /**
   * What tells workers of conversations that are due, absent where there are none. With it, an append or the end of a lease
   * that leaves a conversation due and in nobody's hands enqueues it in the same transaction, and agents leave it to the workers.
   */
  readonly queue?: ConversationQueue

  /** The same log in another namespace, on the same storage; closed by closing either. */
  scoped(namespace: string | null): ConversationLog

  /**
   * Makes a conversation without events. `id` defaults to a new one; making one that is there changes nothing.
   * Resolves to its id.
   *
   * @throws ByrefError `bad_request` for an id that is empty, longer than 200 characters, or has control characters
   */
  create(id?: string): Promise<string>

  /** The summary of one conversation, or null where there is none. */
  find(id: string): Promise<ConversationSummary | null>

  /**
   * Conversations by pages, last changed first. One that changes meanwhile moves to the front, and may not be on a later
   * page. `next` is the cursor of the next page, null at the end.
   */
  list(
    options?: ListOptions,
  ): Promise<{ conversations: ConversationSummary[]; next: string | null }>

  /**
   * Appends the events in order, all or none, and makes the conversation if it is not there (unless `after` says that
   * it was). What resolves is on disk: a crash after that loses nothing. Appends at once never interleave.
   *
   * @throws LogConflictError, LeaseHeldError; ByrefError `conversation_not_found` where `after` is not 0 and the
   *   conversation is shorter or gone, `bad_request` for an event that lacks a field or has one of a wrong type; `TypeError`
   *   for an event that is not durable or no JSON
   */
  append(
    conversation: string,
    events: readonly ConversationEvent[],
    options?: AppendOptions,
  ): Promise<LogRecord[]>

  /**
   * Lengthens the lease without an event: its owner's, also one that has run out unless another has taken over. `ms` 0
   * gives it up. False, and nothing changed, where it is not this owner's.
   */
  renew(conversation: string, lease: Lease): Promise<boolean>

  /**
   * The records behind `after` in order; empty at the end and for an unknown conversation.
   *
   * @throws DamagedError where one of them is damaged or missing
   */
  read(conversation: string, options?: ReadOptions): Promise<LogRecord[]>

  /**
   * The ids of the messages that a `MESSAGE_DELETED` has taken away, in any order. With it go their debug data, and
   * neither title, count nor search know them any more; their records stay, as history.
   */
  deleted(conversation: string): Promise<readonly string[]>

  /** The debug data of one message, or null where there is none. */
  debug(conversation: string, messageId: string): Promise<unknown>

  /**
   * Gives the conversation a title; null for its own again. Resolves to whether there is such a conversation.
   *
   * @throws ByrefError `bad_request` for a title that is blank or longer than 200 characters
   */
  rename(conversation: string, title: string | null): Promise<boolean>

  /** Removes the conversation and all that it held; false where there was none. Its id may be used again. */
  delete(conversation: string): Promise<boolean>

  /**
   * The whole conversation as lines of JSON (docs/conversation-log.md), each ended by `\n`: a header, then its records
   * and debug data.
   *
   * @throws ByrefError `conversation_not_found`
   */
  export(conversation: string): AsyncIterable<string>

  /**
   * Makes a conversation of such lines, under `id` or the one they say, and nothing at all where one of them is wrong.
   * Exported again it is the same, byte for byte, but for an `id` of the caller's. Unknown events, and unknown fields of
   * events, are kept; other unknown keys of a line are not. Resolves to its id.
   *
   * @throws ByrefError `conversation_exists`; `bad_request` with the line and what is wrong with it
   */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options?: { id?: string },
  ): Promise<string>

  /**
   * Calls `listener` with each later change of this namespace, in order for each conversation: those of this log within
   * the append, those of other processes within a second. What others changed is later where it was stored after the next
   * use of this log began; of what they changed just before some may be told too. It must not throw. Returns the function
   * that ends it.
   */
  subscribe(listener: (change: LogChange) => void, options?: SubscribeOptions): () => void

  /** What mends damaged conversations; absent where none can be. */
  readonly upkeep?: LogUpkeep

  /** Enqueues a conversation by hand, where there is a {@link queue} and it is due. */
  enqueue?(conversation: string): Promise<void>

  /**
   * Tells the subscribers of other processes of an event that is not durable: in order, behind the records that were
   * appended before, and as far as they can be reached. Absent where they cannot.
   */
  stream?(conversation: string, event: ConversationEvent): void

  /** Ends every use, after what was begun has ended. Closing twice is harmless. */
  close(): Promise<void>
}

/** The log is ahead of the writer: `records` are what it missed, in order, to the end of the log. */
export class LogConflictError extends ByrefError {
  readonly records: readonly LogRecord[]

  constructor(conversation: string, records: readonly LogRecord[]) {
    super(
      'log_conflict',
      `The conversation "${conversation}" has ${records.length} records that the writer did not know: read them and decide again`,
    )
    this.records = records
  }
}

/** Somebody else runs the conversation. */
export class LeaseHeldError extends ByrefError {
  readonly owner: string
  /** Milliseconds until that ends, unless it is renewed. */
  readonly expiresIn: number

  constructor(conversation: string, { owner, expiresIn }: { owner: string; expiresIn: number }) {
    super(
      'lease_held',
      `The conversation "${conversation}" is run by ${owner}, for ${Math.ceil(expiresIn)} ms more at least`,
    )
    this.owner = owner
    this.expiresIn = expiresIn
  }
}

/** All records of a conversation behind `after`, page by page. */
export async function* readAll(
  log: Pick<ConversationLog, 'read'>,
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

/** All conversations that the options ask for, page by page. */
export async function* listAll(
  log: Pick<ConversationLog, 'list'>,
  options: Omit<ListOptions, 'cursor'> = {},
): AsyncGenerator<ConversationSummary> {
  let cursor: string | null = null
  do {
    const page = await log.list({ limit: 1000, ...options, cursor })
    yield* page.conversations
    cursor = page.next
  } while (cursor !== null)
}
