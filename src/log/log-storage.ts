import { checkMethods } from '../core/check-options.ts'
import { ByrefError, type Damage } from '../core/errors.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { newId } from '../core/new-id.ts'
import {
  checkId,
  checkLease,
  checkLimit,
  checkNamespace,
  checkPosition,
  checkTitle,
  LOG_METHODS,
  possibleId,
} from './check-arguments.ts'
import {
  type AppendOptions,
  type ConversationLog,
  type ConversationQueue,
  type ConversationSummary,
  closedError,
  existsError,
  type Lease,
  LeaseHeldError,
  type ListOptions,
  LogConflictError,
  type LogUpkeep,
  notFoundError,
  type ReadOptions,
  type StoredRecord,
} from './conversation-log.ts'
import type { Place } from './conversation-row.ts'
import type { Audience, Listener } from './listeners.ts'
import { type LogEntry, logEntry } from './log-entry.ts'
import type { Lines } from './read-lines.ts'
import type { CostsOptions, RunsOptions } from './runs.ts'
import type { StoredLease } from './summary.ts'

/** The input of an append. The events are copies, so the caller cannot change them. */
export interface AppendInput extends LogEntry, Pick<AppendOptions, 'after' | 'lease'> {}

/** An append whose events are also JSON, for databases. */
export interface TextAppendInput extends AppendInput {
  texts: readonly string[]
}

/**
 * Stores the conversations of all namespaces. {@link logOf} makes a log of it. Its methods do the same as the log's
 * methods with these names. Their arguments have been checked, and all calls run inside `use`.
 */
export interface LogStorage {
  readonly closed: boolean
  /** Runs a call; `close` waits until it ends. @throws ByrefError `log_failed` after `close` */
  use<T>(run: () => Promise<T>): Promise<T>
  create(place: Place): Promise<unknown>
  find(place: Place): Promise<ConversationSummary | null>
  list(namespace: string, options: ListOptions): ReturnType<ConversationLog['list']>
  runs(namespace: string, options: RunsOptions): ReturnType<ConversationLog['runs']>
  costs(namespace: string, options: CostsOptions): ReturnType<ConversationLog['costs']>
  append(place: Place, input: AppendInput): Promise<LogRecord[]>
  renew(place: Place, lease: Lease): Promise<boolean>
  read(place: Place, page: Required<ReadOptions>): Promise<LogRecord[]>
  deleted(place: Place): Promise<readonly string[]>
  debug(place: Place, message: string): Promise<unknown>
  rename(place: Place, name: string | null): Promise<boolean>
  delete(place: Place): Promise<boolean>
  /** Returns the lines of a conversation; null for an unknown one. */
  export(place: Place): Promise<AsyncIterable<string> | null>
  /** Imports lines as a conversation at the place that `placeOf` returns for the id in their header. */
  import(lines: Lines, placeOf: (id: string) => Place): Promise<string>
  subscribe(listener: Listener, audience: Audience): () => void
  readonly upkeep?: StorageUpkeep
  readonly queue?: ConversationQueue
  enqueue?(place: Place): Promise<void>
  stream?(place: Place, event: ConversationEvent): void
  close(): Promise<void>
}

/** Finds and repairs damaged conversations: see {@link LogUpkeep}. */
export interface StorageUpkeep {
  setAside(place: Place, damage: Damage | null): Promise<unknown>
  stored(place: Place, page: Required<ReadOptions>): Promise<StoredRecord[]>
  cut(place: Place, after: number): Promise<number>
  check?(): Promise<readonly string[]>
  rebuildIndexes?(): Promise<unknown>
}

/** Makes the log of one namespace, which checks the arguments of its methods. */
export function logOf(storage: LogStorage, namespace: string | null): ConversationLog {
  const { queue } = storage
  const use = <T>(run: () => Promise<T>): Promise<T> => storage.use(run)
  const space = namespace ?? ''
  const placeOf = (id: string): Place => ({ namespace: space, id: possibleId(id) })
  const log: ConversationLog = {
    namespace,
    ...(queue && {
      queue,
      enqueue: (id: string) => use(async () => storage.enqueue?.(placeOf(id))),
    }),
    scoped: (other) => logOf(storage, checkNamespace(other)),
    async create(id = newId()) {
      const place = placeOf(checkId(id))
      await use(() => storage.create(place))
      return id
    },
    find: (id) => use(() => storage.find(placeOf(id))),
    list: (options = {}) => use(() => storage.list(space, options)),
    runs: (options = {}) => use(() => storage.runs(space, options)),
    costs: (options = {}) => use(() => storage.costs(space, options)),
    async append(id, events, options = {}) {
      const place = placeOf(checkId(id))
      const input = appendInput(events, options)
      return use(() => storage.append(place, input))
    },
    async renew(id, { owner, ms }) {
      checkLease({ owner, ms })
      return use(() => storage.renew(placeOf(id), { owner, ms }))
    },
    async read(id, { after = 0, limit = 500 } = {}) {
      const page = { after: checkPosition(after), limit: checkLimit(limit) }
      return use(() => storage.read(placeOf(id), page))
    },
    deleted: (id) => use(() => storage.deleted(placeOf(id))),
    debug: (id, message) => use(() => storage.debug(placeOf(id), message)),
    async rename(id, title) {
      const name = checkTitle(title)
      return use(() => storage.rename(placeOf(id), name))
    },
    delete: (id) => use(() => storage.delete(placeOf(id))),
    async *export(id) {
      const lines = await use(() => storage.export(placeOf(id)))
      if (!lines) throw notFoundError(id)
      yield* lines
    },
    import: (lines, { id } = {}) =>
      use(async () => {
        if (id !== undefined && (await storage.find(placeOf(checkId(id))))) throw existsError(id)
        return storage.import(lines, (exported) => placeOf(id ?? exported))
      }),
    ...(storage.upkeep && { upkeep: upkeepOf(storage.upkeep, use, placeOf) }),
    subscribe(listener, options) {
      if (storage.closed) throw closedError()
      return storage.subscribe(listener, { ...options, namespace })
    },
    ...(storage.stream && {
      stream(id: string, event: ConversationEvent) {
        if (!storage.closed) storage.stream?.(placeOf(id), event)
      },
    }),
    close: () => storage.close(),
  }
  return checkMethods('log', log, LOG_METHODS)
}

/** Copies and checks the input of an append. @throws ByrefError `bad_request`; TypeError, see {@link logEntry} */
function appendInput(
  events: readonly ConversationEvent[],
  { after, lease, debug }: AppendOptions,
): AppendInput {
  if (after !== undefined) checkPosition(after)
  if (lease) checkLease(lease)
  return { ...logEntry(events, debug), after, lease: lease && { ...lease } }
}

function upkeepOf(
  upkeep: StorageUpkeep,
  use: LogStorage['use'],
  placeOf: (id: string) => Place,
): LogUpkeep {
  return {
    async setAside(id, damage) {
      await use(() => upkeep.setAside(placeOf(id), damage))
    },
    stored: (id, page) => use(() => upkeep.stored(placeOf(id), page)),
    cut: (id, after) => use(() => upkeep.cut(placeOf(id), after)),
    ...(upkeep.check && { check: () => use(async () => upkeep.check?.() ?? []) }),
    ...(upkeep.rebuildIndexes && {
      rebuildIndexes: () => use(async () => upkeep.rebuildIndexes?.()).then(() => {}),
    }),
  }
}

/**
 * Throws if an append must be rejected; `missed` reads the records after a position. `status` is null for a
 * conversation that does not exist.
 *
 * @throws LogConflictError, LeaseHeldError; ByrefError `conversation_not_found`
 */
export function checkAppend(
  conversation: string,
  status: { position: number; lease: StoredLease | null } | null,
  options: AppendOptions & { now: number; missed: (after: number) => LogRecord[] },
): void {
  const { after, lease, now, missed } = options
  const position = status?.position ?? 0
  if (after !== undefined && after < position) {
    throw new LogConflictError(conversation, missed(after))
  }
  if (after !== undefined && after > position) {
    throw new ByrefError(
      'conversation_not_found',
      `The conversation "${conversation}" has ${position} records, not ${after}: read it again`,
    )
  }
  const current = status?.lease
  if (lease && current && current.owner !== lease.owner && current.until > now) {
    throw new LeaseHeldError(conversation, { owner: current.owner, expiresIn: current.until - now })
  }
}

/** Returns the lease after an append or a renewal. */
export function leaseAfter(
  before: StoredLease | null,
  lease: Lease | undefined,
  now: number,
): StoredLease | null {
  if (!lease) return before
  return lease.ms === 0 ? null : { owner: lease.owner, until: now + Math.ceil(lease.ms) }
}
