import { ByrefError, type Damage } from '../core/errors.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import type { CostSum, CostsOptions, RunSummary, RunsOptions } from './runs.ts'

/**
 * The status of a conversation: nothing to do, a run is open, an open run waits for approval, or the last run failed.
 */
export type ConversationStatus = 'idle' | 'running' | 'waiting' | 'failed'

/** Where a branch begins: it was copied from `from` up to the message `at`, or from its start if `at` is null. */
export interface Branch {
  /** The conversation that the first branch was made of. All its branches have the same root. */
  root: string
  from: string
  at: string | null
}

/** One conversation as lists show it. Times are ISO 8601 in UTC. */
export interface ConversationSummary {
  id: string
  /** Null for a conversation in no namespace. */
  namespace: string | null
  /** The title that it was given, or else the first line of its first chat message. Null if there is neither. */
  title: string | null
  createdAt: string
  updatedAt: string
  /** Number of messages of every type that were not deleted. */
  messages: number
  /** The position of the last record; 0 before the first. */
  position: number
  status: ConversationStatus
  /** The id of the open run, or null. */
  openRun: string | null
  /** Number of messages that wait for a run or a step. */
  queued: number
  /**
   * The name of the agent that ran last, or that a message waits for. Null before the first run, and for an agent
   * without a name.
   */
  agent: string | null
  /** Null for a conversation that is not a branch of another. */
  branch: Branch | null
  /**
   * The owner of its lease, and the remaining milliseconds by the log's clock: 0 or less if the lease has expired. Null
   * without a lease.
   */
  lease: { owner: string; expiresIn: number } | null
  /** Why the conversation was set aside. Null if it was not. */
  damage: Damage | null
}

/** A stored record, intact or damaged. */
export interface StoredRecord {
  position: number
  /** Milliseconds since 1970. */
  at: number
  /** JSON, if it is not damaged. */
  event: string
  /** What is wrong with the record. Null if its checksum is right. */
  problem: string | null
}

/** Finds and repairs damaged conversations. */
export interface LogUpkeep {
  /**
   * Sets a conversation aside; null restores it. A conversation that is set aside is never due, and lists show its
   * damage. Its content stays unchanged.
   */
  setAside(conversation: string, damage: Damage | null): Promise<void>
  /** Returns the stored records after a position. */
  stored(conversation: string, options: Required<ReadOptions>): Promise<StoredRecord[]>
  /**
   * Removes all records after a position, and damaged debug data. The conversation is created again from the remaining
   * records, without a lease, and is no longer set aside. Resolves to the number of removed records.
   *
   * @throws DamagedError if a remaining record is damaged; then nothing changes
   */
  cut(conversation: string, after: number): Promise<number>
  /** Returns the problems that the database reports about the whole storage. Absent if the storage checks itself. */
  check?(): Promise<readonly string[]>
  /**
   * Rebuilds the indexes of the storage from its records, so that no record is missed. Absent if the storage does that
   * itself.
   *
   * @throws ByrefError `log_failed` if the records themselves cannot be read
   */
  rebuildIndexes?(): Promise<void>
}

/** Options of an append. */
export interface AppendOptions {
  /**
   * The last position that the writer knows, 0 for a new conversation. If the log is ahead, nothing is appended, and
   * {@link LogConflictError} contains the missed records. Absent: the events are appended at the end.
   */
  after?: number
  /**
   * For a writer that runs the conversation. It gets the lease for `ms` milliseconds from now; `ms` 0 ends the lease.
   * While another owner's lease is valid, the append is rejected with {@link LeaseHeldError}.
   */
  lease?: Lease
  /** Debug data by message id, as JSON. It is stored separately from the events. */
  debug?: Readonly<Record<string, unknown>>
}

/** A claim to run a conversation. */
export interface Lease {
  /** The id of the runner. It is unique across processes. */
  owner: string
  ms: number
}

/** A page of records. */
export interface ReadOptions {
  /** Only records after this position. Default: 0, the beginning. */
  after?: number
  /** Maximum number. Default: 500. */
  limit?: number
}

/** Which conversations to list. */
export interface ListOptions {
  /** Maximum number, up to 1,000. Default: 50. */
  limit?: number
  /** The `next` of the previous page. */
  cursor?: string | null
  /**
   * Only conversations that are due: with an open run, or with messages that wait for one. `abandoned`: of these, only
   * those whose lease has expired, because its owner has stopped.
   */
  due?: boolean | 'abandoned'
  /** Only conversations with this text in the title or in a chat message. Letter case does not matter. */
  search?: string
  /** Only this conversation and its branches. */
  branchesOf?: string
  /**
   * Whether to list the conversations of all namespaces, for resuming and sweeping. Default: only those of this log's
   * namespace.
   */
  allNamespaces?: boolean
}

/** A change of a conversation. */
export interface LogChange {
  conversation: string
  namespace: string | null
  /**
   * The appended records, in order. Empty if the conversation was created, renamed or deleted, or if the subscriber
   * does not want records.
   */
  records: readonly LogRecord[]
  /** The conversation was deleted. */
  deleted?: true
  /** Events that another process has streamed with {@link ConversationLog.stream}. Then there are no records. */
  streamed?: readonly ConversationEvent[]
}

/** Options of a subscription. */
export interface SubscribeOptions {
  /** Whether to deliver changes of all namespaces. Default: only those of this log's namespace. */
  allNamespaces?: boolean
  /**
   * Whether the subscriber needs the records of a conversation. If not, changes come without records, so the log does
   * not have to read them. Called at each change. Default: all records.
   */
  wants?(conversation: string, namespace: string | null): boolean
}

/**
 * Runs a statement in the transaction of an append: `$1` stands for the first value, and rows are objects by column.
 */
export type TransactionQuery = (
  text: string,
  values: readonly unknown[],
) => Promise<{ rows: Record<string, unknown>[] }>

/** A conversation that must be continued. */
export interface DueConversation {
  conversation: string
  namespace: string | null
  /** The name of the agent that must continue it. Null for an agent without a name. */
  agent: string | null
}

/** A queue of conversations to continue. The log decides whether a conversation is due, and what is due. */
export interface ConversationQueue {
  /** Enqueues in the transaction that made the conversation due, unless it already waits in the queue. */
  enqueue(query: TransactionQuery, due: DueConversation): Promise<void>
}

/**
 * Stores conversations. Each is a sequence of durable events with dense positions: 1, 2, 3 and so on. The events
 * contain everything that a run needs to continue, and that a reader needs to see what happened. The log also decides
 * conflicts. Of two writers who know the same position, one appends, and the other gets the records that it missed. The
 * order of records of different conversations is not defined. A log has one namespace and contains only its
 * conversations; the same id in another namespace is another conversation. Every method rejects after `close`, and with
 * `log_failed` if the storage fails (`storage_full` for a full disk). A rejected write may still have been stored: the
 * next append finds out with `after`. No method blocks the process while another process writes.
 */
export interface ConversationLog {
  /** The namespace of this log; null for none. */
  readonly namespace: string | null
  /**
   * The queue of the workers, absent without workers. A conversation that becomes due and has no runner is enqueued in
   * the same transaction as the append or the end of the lease. Then the workers run it, and agents do not.
   */
  readonly queue?: ConversationQueue

  /** Returns a log of another namespace on the same storage. Closing one closes both. */
  scoped(namespace: string | null): ConversationLog

  /**
   * Creates a conversation without events. `id` defaults to a new id. Creating an existing conversation changes
   * nothing. Resolves to its id.
   *
   * @throws ByrefError `bad_request` for an id that is empty, longer than 200 characters, or contains control characters
   */
  create(id?: string): Promise<string>

  /** Returns the summary of a conversation; null for an unknown one. */
  find(id: string): Promise<ConversationSummary | null>

  /**
   * Lists conversations in pages, last changed first. A conversation that changes between two pages moves to the front,
   * and is missing on later pages. `next` is the cursor of the next page; null on the last page.
   */
  list(
    options?: ListOptions,
  ): Promise<{ conversations: ConversationSummary[]; next: string | null }>

  /** Lists runs in pages, newest first. `next` is the cursor of the next page; null on the last page. */
  runs(options?: RunsOptions): Promise<{ runs: RunSummary[]; next: string | null }>

  /**
   * Adds up the usage of runs, oldest period first. Each run counts only its own usage: a sub-agent's run counts
   * separately, and a run that a fork copied does not count again.
   *
   * @throws ByrefError `bad_request` for an unknown time zone
   */
  costs(options?: CostsOptions): Promise<CostSum[]>

  /**
   * Appends the events in order, all or none. If the conversation does not exist, it is created, unless `after` is
   * above 0. When the promise resolves, the events are on disk, and a crash loses nothing. Concurrent appends never
   * interleave.
   *
   * @throws LogConflictError, LeaseHeldError; ByrefError `conversation_not_found` if `after` is not 0 and the
   *   conversation is shorter or deleted, `bad_request` for an event with a missing field or a wrong type; `TypeError` for an
   *   event that is not durable or not JSON
   */
  append(
    conversation: string,
    events: readonly ConversationEvent[],
    options?: AppendOptions,
  ): Promise<LogRecord[]>

  /**
   * Renews a lease without an event, also an expired one that no other owner has taken. `ms` 0 ends it. Resolves to
   * false and changes nothing if another owner has the lease.
   */
  renew(conversation: string, lease: Lease): Promise<boolean>

  /**
   * Returns the records after `after`, in order. Empty at the end, and for an unknown conversation.
   *
   * @throws DamagedError for a damaged or missing record
   */
  read(conversation: string, options?: ReadOptions): Promise<LogRecord[]>

  /**
   * Returns the ids of the messages that `MESSAGE_DELETED` has deleted, in any order. Their debug data are removed, and
   * title, count and search ignore them. Their records stay as history.
   */
  deleted(conversation: string): Promise<readonly string[]>

  /** The debug data of a message, or null. */
  debug(conversation: string, messageId: string): Promise<unknown>

  /**
   * Gives the conversation a title; null restores the one from its first message. Resolves to false for an unknown
   * conversation.
   *
   * @throws ByrefError `bad_request` for a title that is blank or longer than 200 characters
   */
  rename(conversation: string, title: string | null): Promise<boolean>

  /** Deletes the conversation with everything in it; false for an unknown one. Its id may be used again. */
  delete(conversation: string): Promise<boolean>

  /**
   * Returns the whole conversation as lines of JSON (docs/reference/conversation-log.md), each ended by `\n`: a header,
   * then its records and debug data.
   *
   * @throws ByrefError `conversation_not_found`
   */
  export(conversation: string): AsyncIterable<string>

  /**
   * Creates a conversation from exported lines, with `id` or the id in the header. A run that is open in the lines
   * stays open, and can be continued: use this only if nothing continues the original. Each string may contain several
   * whole lines, and `lines` may be one string. If a line is invalid, nothing is created. Exporting it again gives the
   * same bytes, except for a changed `id`. Unknown events, and unknown fields of events, are kept; other unknown keys of
   * a line are not. Resolves to the id.
   *
   * @throws ByrefError `conversation_exists`; `bad_request` with the line and the problem
   */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options?: { id?: string },
  ): Promise<string>

  /**
   * Calls `listener` with each later change of this namespace, in order for each conversation: changes of this log
   * within the append, those of other processes within a second. The next use of this log waits until the subscription
   * works. Changes that other processes store from then on are delivered, and perhaps some from just before. The
   * listener must not throw. Returns the function that ends the subscription.
   */
  subscribe(listener: (change: LogChange) => void, options?: SubscribeOptions): () => void

  /** Repairs damaged conversations. Absent if the log cannot do that. */
  readonly upkeep?: LogUpkeep

  /**
   * Enqueues a conversation, also if nothing is due in it. Absent without a {@link queue}.
   *
   * @throws ByrefError `conversation_not_found`
   */
  enqueue?(conversation: string): Promise<void>

  /**
   * Sends an event that is not durable to the subscribers of other processes, in order, after the records that were
   * appended before. Delivery is not guaranteed. Absent if only one process can use the log.
   */
  stream?(conversation: string, event: ConversationEvent): void

  /** Closes the log after running calls have ended. Closing twice is harmless. */
  close(): Promise<void>
}

/** Thrown if the log is ahead of the writer. `records` are the missed records, in order, up to the end of the log. */
export class LogConflictError extends ByrefError {
  /** Also recognizes the errors of other copies of byref in the process. No other error has this code. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof ByrefError && value.code === 'log_conflict'
  }

  readonly records: readonly LogRecord[]

  constructor(conversation: string, records: readonly LogRecord[]) {
    super(
      'log_conflict',
      `The conversation "${conversation}" has ${records.length} records that the writer does not know: read them and try again`,
    )
    this.records = records
  }
}

/** Thrown if another owner has the lease of the conversation. */
export class LeaseHeldError extends ByrefError {
  /** Also recognizes the errors of other copies of byref in the process. No other error has this code. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof ByrefError && value.code === 'lease_held'
  }

  readonly owner: string
  /** Milliseconds until the lease expires, unless it is renewed. */
  readonly expiresIn: number

  constructor(conversation: string, { owner, expiresIn }: { owner: string; expiresIn: number }) {
    super(
      'lease_held',
      `${owner} runs the conversation "${conversation}", for at least ${Math.ceil(expiresIn)} ms more`,
    )
    this.owner = owner
    this.expiresIn = expiresIn
  }
}

/** Returns all records of a conversation after a position, page by page. */
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

/** Returns all conversations that match the options, page by page. */
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

/** Returns the error for calls after `close`. */
export function closedError(): ByrefError {
  return new ByrefError('log_failed', 'The conversation log is closed: open it again')
}

/** Returns the error for an unknown conversation. */
export function notFoundError(conversation: string): ByrefError {
  return new ByrefError('conversation_not_found', `There is no conversation "${conversation}"`)
}

/** Returns the error for an import under an existing id. */
export function existsError(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_exists',
    `The conversation "${conversation}" already exists: delete it, or import with another id`,
  )
}

/** Returns a key for maps, from a namespace and an id. */
export function scopedKey(namespace: string | null, id: string): string {
  return `${namespace ?? ''}\n${id}`
}
