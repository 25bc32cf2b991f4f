import { checkMethods } from '../core/check-options.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { newId } from '../core/new-id.ts'
import { admit, checkAppend, leaseAfter } from './admit.ts'
import {
  checkId,
  checkLease,
  checkLimit,
  checkNamespace,
  checkPage,
  checkPosition,
  checkTitle,
  formatCursor,
  type ListPlace,
  LOG_METHODS,
  parseCursor,
} from './check-arguments.ts'
import {
  type AppendOptions,
  type ConversationLog,
  type ConversationSummary,
  closedError,
  existsError,
  type ListOptions,
  notFoundError,
} from './conversation-log.ts'
import { pageOf } from './conversation-row.ts'
import { logEntry } from './copy-event.ts'
import { partsOf, sumCosts } from './cost-sums.ts'
import { Listeners } from './listeners.ts'
import { CHUNK, pause } from './pause.ts'
import { debugLine, headerLine, type ImportedLine, readLines, recordLine } from './read-lines.ts'
import {
  checkRunFilter,
  matchesRun,
  type RunFilter,
  type RunSummary,
  type RunsOptions,
  runSummary,
  type StoredRun,
} from './runs.ts'
import {
  chatText,
  deletedBy,
  foldCase,
  isDue,
  messageIn,
  NEW_CONVERSATION,
  type StoredSummary,
  stateAfter,
  summaryOf,
  titleOf,
  withoutMessages,
} from './summary.ts'

/** The state that the logs of all namespaces share. */
interface Storage {
  conversations: Map<string | null, Map<string, MemoryConversation>>
  subscribers: Listeners
  closed: boolean
}

/**
 * Makes a log in memory, which ends with its process: for tests, scripts and agents that need no history. Readers share the
 * records: do not change them.
 */
export function createMemoryLog(): ConversationLog {
  return logOf({ conversations: new Map(), subscribers: new Listeners(), closed: false }, null)
}

function logOf(storage: Storage, namespace: string | null): ConversationLog {
  const { conversations, subscribers } = storage
  const scoped = conversations.get(namespace) ?? new Map<string, MemoryConversation>()
  conversations.set(namespace, scoped)

  function find(id: string): MemoryConversation | undefined {
    if (storage.closed) throw closedError()
    return scoped.get(id)
  }

  function make(id: string, now: number): MemoryConversation {
    const made = newConversation(id, namespace, now)
    scoped.set(id, made)
    return made
  }

  const log: ConversationLog = {
    namespace,
    scoped: (other) => logOf(storage, checkNamespace(other)),
    async create(id = newId()) {
      if (find(checkId(id))) return id
      make(id, Date.now())
      subscribers.notify({ conversation: id, namespace, records: [] })
      return id
    },
    async find(id) {
      const found = find(id)
      return found ? summaryOf(found, Date.now()) : null
    },
    async list(options = {}) {
      if (storage.closed) throw closedError()
      const spaces = options.allNamespaces ? [...conversations.values()] : [scoped]
      const all = spaces.flatMap((space) => [...space.values()])
      return listPage(all, options)
    },
    ...runReaders(storage, scoped),
    async append(id, events, options) {
      checkId(id)
      const target = { id, find: () => find(id), make: (now: number) => make(id, now) }
      const records = memoryAppend(target, events, options)
      if (records.length > 0) subscribers.notify({ conversation: id, namespace, records })
      return records
    },
    async renew(id, lease) {
      const found = find(id)
      checkLease(lease)
      if (found?.lease?.owner !== lease.owner) return false
      found.lease = leaseAfter(found.lease, lease, Date.now())
      return true
    },
    async read(id, { after = 0, limit = 500 } = {}) {
      const start = checkPosition(after)
      const end = start + checkLimit(limit)
      return find(id)?.records.slice(start, end) ?? []
    },
    async deleted(id) {
      return [...(find(id)?.deleted ?? [])]
    },
    async debug(id, messageId) {
      const value = find(id)?.debug.get(messageId)
      return value === undefined ? null : JSON.parse(value)
    },
    async rename(id, title) {
      const name = checkTitle(title)
      const found = find(id)
      if (!found) return false
      found.name = name
      subscribers.notify({ conversation: id, namespace, records: [] })
      return true
    },
    async delete(id) {
      if (!find(id)) return false
      scoped.delete(id)
      subscribers.notify({ conversation: id, namespace, records: [], deleted: true })
      return true
    },
    async *export(id) {
      const found = find(id)
      if (!found) throw notFoundError(id)
      yield* exportLines(found)
    },
    async import(lines, { id: requested } = {}) {
      if (requested !== undefined && find(checkId(requested))) throw existsError(requested)
      const imported = await collectLines(lines, namespace)
      const id = requested ?? imported.id
      if (find(id)) throw existsError(id)
      scoped.set(id, { ...imported, id })
      subscribers.notify({ conversation: id, namespace, records: [] })
      return id
    },
    subscribe(listener, options) {
      if (storage.closed) throw closedError()
      return subscribers.add(listener, { ...options, namespace })
    },
    async close() {
      storage.closed = true
    },
  }
  return checkMethods('log', log, LOG_METHODS)
}

/** Returns the conversation that lines describe, in a namespace. @throws ByrefError `bad_request` */
async function collectLines(
  lines: AsyncIterable<string> | Iterable<string>,
  namespace: string | null,
): Promise<MemoryConversation> {
  const conversation = newConversation('', namespace, 0)
  let read = 0
  for await (const line of readLines(lines)) {
    if (++read % CHUNK === 0) await pause()
    add(conversation, line)
  }
  deleteMessages(conversation, deletedBy(conversation.records.map(({ event }) => event)))
  return conversation
}

function add(conversation: MemoryConversation, line: ImportedLine): void {
  if (line.type === 'header') {
    const { id, title: name, created, updated } = line.header
    Object.assign(conversation, { id, name, created, updated })
    return
  }
  if (line.type === 'debug') {
    conversation.debug.set(line.message, line.json)
    return
  }
  const { position, at, event } = line
  conversation.records.push({ v: 1, position, timestamp: new Date(at).toISOString(), event })
  conversation.position = position
  fold(conversation, [event], at)
}

/** Returns the lines of a conversation as it is when the first is asked for. */
async function* exportLines(conversation: MemoryConversation): AsyncGenerator<string> {
  const { id, name: title, created, updated } = conversation
  const records = conversation.records.slice()
  const debug = [...conversation.debug]
  yield `${headerLine({ id, title, created, updated })}\n`
  for (const { position, timestamp, event } of records) {
    if (position % CHUNK === 0) await pause()
    yield `${recordLine(position, Date.parse(timestamp), JSON.stringify(event))}\n`
  }
  for (const [message, value] of debug) {
    yield `${debugLine(message, value)}\n`
  }
}

/** One page of a list of conversations, last changed first. */
function listPage(
  all: readonly MemoryConversation[],
  options: ListOptions,
): { conversations: ConversationSummary[]; next: string | null } {
  const { limit = 50, cursor, due, search, branchesOf = null } = options
  const size = checkPage(limit)
  const after = cursor ? parseCursor(cursor) : null
  const words = search ? foldCase(search) : null
  const found: MemoryConversation[] = []
  const now = Date.now()
  for (const conversation of all.toSorted(lastChangedFirst)) {
    if (after && lastChangedFirst(after, conversation) >= 0) continue
    if (due && !isDue(conversation.state)) continue
    if (due === 'abandoned' && !isOver(conversation, now)) continue
    if (branchesOf !== null && !isInFamily(conversation, branchesOf)) continue
    if (words !== null && !contains(conversation, words)) continue
    if (found.push(conversation) > size) break
  }
  return pageOf(found, size, (conversation) => summaryOf(conversation, now))
}

function runReaders(
  storage: Storage,
  conversations: ReadonlyMap<string, MemoryConversation>,
): Pick<ConversationLog, 'runs' | 'costs'> {
  const matching = (filter: RunFilter): MatchingRun[] => {
    if (storage.closed) throw closedError()
    return matchingRuns(conversations, filter)
  }
  return {
    runs: async (options = {}) => runPage(matching(options), options),
    async costs(options = {}) {
      const parts = matching(options).flatMap(({ run }) => partsOf(run, options))
      return sumCosts(parts, options)
    },
  }
}

interface MatchingRun {
  conversation: MemoryConversation
  run: StoredRun
  /** Its place in the order in which runs started. */
  key: number
}

function matchingRuns(
  conversations: ReadonlyMap<string, MemoryConversation>,
  filter: RunFilter,
): MatchingRun[] {
  checkRunFilter(filter)
  const now = Date.now()
  const { conversation: only } = filter
  return [...conversations.values()]
    .filter(({ id }) => only === undefined || id === only)
    .flatMap((conversation) =>
      [...conversation.runs.values()].map((run, i) => {
        return { conversation, run, key: conversation.key * MOST_RUNS + i }
      }),
    )
    .filter(({ run }) => matchesRun(run, filter, now))
}

function runPage(
  found: readonly MatchingRun[],
  { limit = 50, cursor }: RunsOptions,
): { runs: RunSummary[]; next: string | null } {
  const size = checkPage(limit)
  const placed = found.map((one) => ({ ...one, updated: one.run.started }))
  const after = cursor ? parseCursor(cursor) : null
  const rest = placed
    .toSorted(lastChangedFirst)
    .filter((one) => after === null || lastChangedFirst(after, one) < 0)
  const page = rest.slice(0, size)
  const last = page.at(-1)
  return {
    runs: page.map(({ conversation: { id, namespace, name, state }, run }) =>
      runSummary(run, { conversation: id, namespace, title: name ?? state.title }),
    ),
    next: last && rest.length > size ? formatCursor(last) : null,
  }
}

/** More than the runs of any conversation. */
const MOST_RUNS = 1_000_000

function isInFamily({ id, state }: MemoryConversation, root: string): boolean {
  return id === root || state.branch?.root === root
}

function lastChangedFirst(a: ListPlace, b: ListPlace): number {
  return b.updated - a.updated || b.key - a.key
}

function isOver({ lease }: MemoryConversation, now: number): boolean {
  return lease !== null && lease.until <= now
}

function contains({ name, state, records, deleted }: MemoryConversation, words: string): boolean {
  if (foldCase(name ?? state.title ?? '').includes(words)) return true
  return records.some(({ event }) => {
    return foldCase(chatText(event) ?? '').includes(words) && !deleted.has(messageIn(event) ?? '')
  })
}

/** Appends to the conversation from `find`, or else to a new one from `make`. All events are stored or none. */
function memoryAppend(
  { id, find, make }: Target,
  events: readonly ConversationEvent[],
  options: AppendOptions = {},
): LogRecord[] {
  checkAppend(options)
  const { events: copies, debug } = logEntry(events, options.debug)
  const now = Date.now()
  const found = find()
  const missed = (after: number): LogRecord[] => found?.records.slice(after) ?? []
  admit(id, found ?? null, { ...options, now, missed })
  const conversation = found ?? make(now)
  conversation.lease = leaseAfter(conversation.lease, options.lease, now)
  for (const [message, value] of debug) {
    conversation.debug.set(message, value)
  }
  return copies.length > 0 ? store(conversation, copies, now) : []
}

/** Where an append goes. */
interface Target {
  id: string
  find(): MemoryConversation | undefined
  make(now: number): MemoryConversation
}

function store(
  conversation: MemoryConversation,
  events: readonly ConversationEvent[],
  now: number,
): LogRecord[] {
  const timestamp = new Date(now).toISOString()
  const records = events.map((event): LogRecord => {
    return { v: 1, position: ++conversation.position, timestamp, event }
  })
  for (const record of records) conversation.records.push(record)
  conversation.updated = now
  fold(conversation, events, now)
  deleteMessages(conversation, deletedBy(events))
  return records
}

/** Updates the state and the runs of a conversation. */
function fold(
  conversation: MemoryConversation,
  events: readonly ConversationEvent[],
  at: number,
): void {
  const { state, runs } = stateAfter(conversation.state, events, at)
  for (const run of runs) conversation.runs.set(run.run, run)
  conversation.state = state
}

/** Removes what lists show of messages, and their debug data. Their records stay. */
function deleteMessages(conversation: MemoryConversation, ids: readonly string[]): void {
  if (ids.length === 0) return
  const { records, deleted, debug, state } = conversation
  const remaining = new Set(ids.filter((id) => !deleted.has(id)))
  let count = 0
  for (const { event } of records) {
    const id = messageIn(event)
    if (id === null || !remaining.has(id)) continue
    count++
    deleted.add(id)
    debug.delete(id)
  }
  conversation.state = withoutMessages(state, { deleted: count, title: titleIn(conversation) })
}

function titleIn({ records, deleted }: MemoryConversation): string | null {
  for (const { event } of records) {
    const title = deleted.has(messageIn(event) ?? '') ? null : titleOf(event)
    if (title !== null) return title
  }
  return null
}

/** A conversation in memory. */
interface MemoryConversation extends StoredSummary {
  /** Grows with each conversation that is made. */
  key: number
  records: LogRecord[]
  /** By id, in the order in which they started. */
  runs: Map<string, StoredRun>
  /** JSON by message id. */
  debug: Map<string, string>
  /** The ids of the messages that were deleted. */
  deleted: Set<string>
}

let made = 0

/** Returns a conversation without events. */
function newConversation(id: string, namespace: string | null, now: number): MemoryConversation {
  return {
    key: ++made,
    id,
    namespace,
    name: null,
    created: now,
    updated: now,
    position: 0,
    state: NEW_CONVERSATION,
    lease: null,
    damage: null,
    records: [],
    runs: new Map(),
    debug: new Map(),
    deleted: new Set(),
  }
}
