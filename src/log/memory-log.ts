import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { checkPage, type ListPlace, pageOf, parseCursor } from './check-arguments.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  closedError,
  existsError,
  type ListOptions,
  type LogChange,
} from './conversation-log.ts'
import type { Place } from './conversation-row.ts'
import { partsOf, sumCosts } from './cost-sums.ts'
import { changeOf, Listeners } from './listeners.ts'
import { recordsAfter } from './log-entry.ts'
import { checkAppend, type LogStorage, leaseAfter, logOf } from './log-storage.ts'
import { CHUNK, pause } from './pause.ts'
import {
  debugLine,
  END_LINE,
  headerLine,
  type ImportedLine,
  importStaged,
  recordLine,
} from './read-lines.ts'
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
  type DeletedMessages,
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

/**
 * Creates a log in memory, for tests, scripts and agents that need no history. It ends with the process. Readers share
 * the records: do not change them.
 */
export function createMemoryLog(): ConversationLog {
  return logOf(new MemoryStorage(), null)
}

class MemoryStorage implements LogStorage {
  closed = false
  /** Conversations by namespace and id. */
  readonly #spaces = new Map<string, Map<string, MemoryConversation>>()
  readonly #subscribers = new Listeners()

  async use<T>(run: () => Promise<T>): Promise<T> {
    if (this.closed) throw closedError()
    return run()
  }

  readonly create: LogStorage['create'] = async (place) => {
    if (this.#find(place)) return
    this.#put(place, newConversation(place, Date.now()))
    this.#notify(place)
  }

  readonly find: LogStorage['find'] = async (place) => {
    const found = this.#find(place)
    return found ? summaryOf(found, Date.now()) : null
  }

  readonly list: LogStorage['list'] = async (namespace, options) => {
    const spaces = options.allNamespaces ? [...this.#spaces.keys()] : [namespace]
    return listPage(
      spaces.flatMap((space) => this.#all(space)),
      options,
    )
  }

  readonly runs: LogStorage['runs'] = async (namespace, options) =>
    runPage(matchingRuns(this.#all(namespace), options), options)

  readonly costs: LogStorage['costs'] = async (namespace, options) => {
    const found = matchingRuns(this.#all(namespace), options)
    return sumCosts(
      found.flatMap(({ run }) => partsOf(run, options)),
      options,
    )
  }

  readonly append: LogStorage['append'] = async (place, { events, debug, ...options }) => {
    const now = Date.now()
    const found = this.#find(place)
    const missed = (after: number): LogRecord[] => found?.records.slice(after) ?? []
    checkAppend(place.id, found ?? null, { ...options, now, missed })
    const conversation = found ?? this.#put(place, newConversation(place, now))
    conversation.lease = leaseAfter(conversation.lease, options.lease, now)
    for (const [message, value] of debug) conversation.debug.set(message, value)
    if (events.length === 0) return []
    const records = store(conversation, events, now)
    this.#notify(place, { records })
    return records
  }

  readonly renew: LogStorage['renew'] = async (place, lease) => {
    const found = this.#find(place)
    if (found?.lease?.owner !== lease.owner) return false
    found.lease = leaseAfter(found.lease, lease, Date.now())
    return true
  }

  readonly read: LogStorage['read'] = async (place, { after, limit }) =>
    this.#find(place)?.records.slice(after, after + limit) ?? []

  readonly deleted: LogStorage['deleted'] = async (place) => [...(this.#find(place)?.deleted ?? [])]

  readonly debug: LogStorage['debug'] = async (place, message) => {
    const value = this.#find(place)?.debug.get(message)
    return value === undefined ? null : JSON.parse(value)
  }

  readonly rename: LogStorage['rename'] = async (place, name) => {
    const found = this.#find(place)
    if (!found) return false
    found.name = name
    this.#notify(place)
    return true
  }

  readonly delete: LogStorage['delete'] = async (place) => {
    const isDeleted = this.#spaces.get(place.namespace)?.delete(place.id) ?? false
    if (isDeleted) this.#notify(place, { deleted: true })
    return isDeleted
  }

  readonly export: LogStorage['export'] = async (place) => {
    const found = this.#find(place)
    return found ? exportLines(found) : null
  }

  readonly import: LogStorage['import'] = (lines, placeOf) => {
    const imported = newConversation({ namespace: '', id: '' }, 0)
    return importStaged(lines, {
      key: imported.key,
      async store(piece) {
        for (const line of piece) addLine(imported, line)
        await pause()
      },
      deleteMessages: async (ids) => deleteMessages(imported, ids),
      publish: async ({ header, position, state, runs }) => {
        const { namespace, id } = placeOf(header.id)
        if (this.#find({ namespace, id })) throw existsError(id)
        const { title: name, created, updated } = header
        for (const run of runs) imported.runs.set(run.run, run)
        Object.assign(imported, { id, name, created, updated, position, state })
        this.#put({ namespace, id }, { ...imported, namespace: namespace || null })
        this.#notify({ namespace, id })
        return id
      },
      discard: async () => {},
    })
  }

  readonly subscribe: LogStorage['subscribe'] = (listener, audience) =>
    this.#subscribers.add(listener, audience)

  async close(): Promise<void> {
    this.closed = true
  }

  #all(namespace: string): MemoryConversation[] {
    return [...(this.#spaces.get(namespace)?.values() ?? [])]
  }

  #find({ namespace, id }: Place): MemoryConversation | undefined {
    return this.#spaces.get(namespace)?.get(id)
  }

  #put({ namespace, id }: Place, conversation: MemoryConversation): MemoryConversation {
    const space = this.#spaces.get(namespace) ?? new Map<string, MemoryConversation>()
    this.#spaces.set(namespace, space.set(id, conversation))
    return conversation
  }

  #notify(place: Place, change?: Partial<LogChange>): void {
    this.#subscribers.notify(changeOf(place, change))
  }
}

function addLine({ records, debug }: MemoryConversation, line: ImportedLine): void {
  if (line.type === 'debug') debug.set(line.message, line.json)
  if (line.type !== 'record') return
  const { position, at, event } = line
  records.push({ v: 1, position, timestamp: new Date(at).toISOString(), event })
}

/** Returns the lines of a conversation as it was when the first line was read. */
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
  yield `${END_LINE}\n`
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
    if (due === 'abandoned' && !hasExpiredLease(conversation, now)) continue
    if (branchesOf !== null && !isInFamily(conversation, branchesOf)) continue
    if (words !== null && !contains(conversation, words)) continue
    if (found.push(conversation) > size) break
  }
  const { items, next } = pageOf(found, size, (conversation) => summaryOf(conversation, now))
  return { conversations: items, next }
}

interface MatchingRun {
  conversation: MemoryConversation
  run: StoredRun
  /** The number of the run, in the order in which runs started. */
  key: number
}

/** @throws ByrefError `bad_request` for a time that is not ISO 8601 */
function matchingRuns(
  conversations: readonly MemoryConversation[],
  filter: RunFilter,
): MatchingRun[] {
  checkRunFilter(filter)
  const now = Date.now()
  const { conversation: only } = filter
  return conversations
    .filter(({ id }) => only === undefined || id === only)
    .flatMap((conversation) =>
      [...conversation.runs.values()].map((run, i) => {
        return { conversation, run, key: conversation.key * MAX_RUNS + i }
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
  const { items, next } = pageOf(rest, size, ({ conversation, run }) => {
    const { id, namespace, name, state } = conversation
    return runSummary(run, { conversation: id, namespace, title: name ?? state.title })
  })
  return { runs: items, next }
}

/** A limit that is larger than the number of runs of any conversation. */
const MAX_RUNS = 1_000_000

function isInFamily({ id, state }: MemoryConversation, root: string): boolean {
  return id === root || state.branch?.root === root
}

function lastChangedFirst(a: ListPlace, b: ListPlace): number {
  return b.updated - a.updated || b.key - a.key
}

function hasExpiredLease({ lease }: MemoryConversation, now: number): boolean {
  return lease !== null && lease.until <= now
}

function contains({ name, state, records, deleted }: MemoryConversation, words: string): boolean {
  if (foldCase(name ?? state.title ?? '').includes(words)) return true
  return records.some(({ event }) => {
    return foldCase(chatText(event) ?? '').includes(words) && !deleted.has(messageIn(event) ?? '')
  })
}

/** Stores events at the end of a conversation. */
function store(
  conversation: MemoryConversation,
  events: readonly ConversationEvent[],
  now: number,
): LogRecord[] {
  const records = recordsAfter(conversation.position, events, now)
  for (const record of records) conversation.records.push(record)
  conversation.position += records.length
  conversation.updated = now
  const { state, runs } = stateAfter(conversation.state, events, now)
  for (const run of runs) conversation.runs.set(run.run, run)
  const ids = deletedBy(events)
  conversation.state =
    ids.length > 0 ? withoutMessages(state, deleteMessages(conversation, ids)) : state
  return records
}

/** Removes messages from lists and searches, and their debug data. Their records stay. */
function deleteMessages(conversation: MemoryConversation, ids: readonly string[]): DeletedMessages {
  const { records, deleted, debug } = conversation
  const remaining = new Set(ids.filter((id) => !deleted.has(id)))
  let count = 0
  for (const { event } of records) {
    const id = messageIn(event)
    if (id === null || !remaining.has(id)) continue
    count++
    deleted.add(id)
    debug.delete(id)
  }
  return { deleted: count, title: titleIn(conversation) }
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
  /** A number that grows with each new conversation. */
  key: number
  records: LogRecord[]
  /** By id, in the order in which they started. */
  runs: Map<string, StoredRun>
  /** JSON by message id. */
  debug: Map<string, string>
  /** The ids of the messages that were deleted. */
  deleted: Set<string>
}

let conversationsMade = 0

/** Returns a conversation without events. */
function newConversation({ namespace, id }: Place, now: number): MemoryConversation {
  return {
    key: ++conversationsMade,
    id,
    namespace: namespace || null,
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
