import { checkMethods, checkOptions, is } from '../core/check-options.ts'
import type { LogRecord } from '../core/events/events.ts'
import { newId } from '../core/new-id.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { Database } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { keyOf } from '../postgres/plain-text.ts'
import { POSTGRES_OPTIONS, type PostgresOptions } from '../postgres/postgres-options.ts'
import { checkAppend } from './admit.ts'
import {
  checkId,
  checkLease,
  checkLimit,
  checkNamespace,
  checkPosition,
  checkTitle,
  LOG_METHODS,
} from './check-arguments.ts'
import {
  type AppendOptions,
  type ConversationLog,
  type ConversationQueue,
  closedError,
  existsError,
  type LogUpkeep,
  notFoundError,
} from './conversation-log.ts'
import { type Place, placeKey, stateOf, summaryOfRow } from './conversation-row.ts'
import { logEntry } from './copy-event.ts'
import type { Appendix } from './postgres/append-statement.ts'
import {
  deleteConversation,
  enqueueNow,
  type Noted,
  removeRecords,
  renameConversation,
  renewLease,
} from './postgres/change-conversation.ts'
import { createRow, findRow } from './postgres/conversation-rows.ts'
import { LOG_TABLES } from './postgres/log-tables.ts'
import { Notifier } from './postgres/notifier.ts'
import { appendAtOnce, appendInTransaction, type Known } from './postgres/postgres-append.ts'
import { PostgresChanges, setRecent } from './postgres/postgres-changes.ts'
import { deletedIn } from './postgres/postgres-deletions.ts'
import { postgresExport, postgresImport, publishStaged } from './postgres/postgres-import.ts'
import { listConversations } from './postgres/postgres-lists.ts'
import { readRecords, storedRows } from './postgres/postgres-reads.ts'
import { runReader } from './postgres/postgres-runs.ts'
import type { Lines } from './read-lines.ts'
import { debugOf, rowProblem } from './record-rows.ts'
import { listRuns, readCosts } from './run-rows.ts'

/** Options of {@link createPostgresLog}. */
export type PostgresLogOptions = PostgresOptions & {
  /** Receives each conversation that is due and has no runner, in the transaction of the append that made it due. */
  queue?: ConversationQueue
}

const QUEUE = is.having<ConversationQueue>('a queue, made by createQueue', 'enqueue')
/** Maximum number of conversations whose state is cached. */
const MAX_KNOWN = 10_000

/**
 * Makes a log in a PostgreSQL database, for any number of processes on any number of machines. What resolves is committed, as
 * durable as the server makes it. Leases use the server's clock. An append by a writer who knows the end of a conversation is
 * one statement, which holds no lock over the network. A lost connection rejects running calls with `log_failed`; the next
 * call gets another connection. The first use creates the tables, in several processes at once too.
 *
 * @throws ByrefError `config_invalid`. Every use rejects with `log_failed` if the database cannot be used
 */
export function createPostgresLog(options: PostgresLogOptions): ConversationLog {
  checkOptions('createPostgresLog', options, { ...POSTGRES_OPTIONS, queue: QUEUE })
  const owner = { what: 'conversation log', failed: 'log_failed' } as const
  const database = new Database(options, {
    owner,
    migrate: (opened) => migrate(opened, LOG_TABLES),
  })
  return logOf(new Storage(database, options.queue), null)
}

/** What the logs of all namespaces share. */
class Storage {
  readonly database: Database
  readonly queue: ConversationQueue | undefined
  readonly notifier: Notifier
  readonly changes: PostgresChanges
  /** The state of conversations when this process last saw them, for appends in one statement. */
  readonly #known = new Map<string, Known>()
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(database: Database, queue: ConversationQueue | undefined) {
    this.database = database
    this.queue = queue
    this.notifier = new Notifier(database)
    this.changes = new PostgresChanges(database, this.notifier, (place, run) =>
      this.inTurn(place, run),
    )
  }

  /** Runs when the tables exist and the state before the first subscriber is known. */
  use<T>(run: () => Promise<T>): Promise<T> {
    return this.database.use(async () => {
      await this.changes.begun()
      return run()
    })
  }

  /** Runs what concerns one conversation one after the other, in the order of the calls. */
  async inTurn<T>(place: Place, run: () => Promise<T>): Promise<T> {
    const key = placeKey(place)
    const before = this.#turns.get(key)
    const turn = (async () => {
      await before?.catch(() => {})
      return run()
    })()
    this.#turns.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key)
    }
  }

  remember(place: Place, known: Known): void {
    setRecent(this.#known, placeKey(place), known, MAX_KNOWN)
  }

  forget(place: Place): Known | undefined {
    const known = this.#known.get(placeKey(place))
    this.#known.delete(placeKey(place))
    return known
  }

  append(place: Place, appendix: Appendix, after: number | undefined): Promise<LogRecord[]> {
    const { database, queue } = this
    return this.inTurn(place, async () => {
      const known = this.forget(place)
      const isKnown = known !== undefined && known.position === after
      const atOnce = isKnown ? await appendAtOnce(database.query, known, { appendix, queue }) : null
      const { records, known: now } =
        atOnce ?? (await appendInTransaction(database, place, { appendix, after, queue }))
      this.remember(place, now)
      if (records.length > 0) {
        const { key, position } = now
        const change = { ...place, key, position, notice: null, deleted: false }
        await this.changes.publish(change, records)
      }
      return records
    })
  }

  /** Makes a change that no record contains, in the conversation's turn, and publishes it. */
  noted(
    place: Place,
    change: () => Promise<Noted | null>,
    { deleted }: { deleted: boolean },
  ): Promise<Noted | null> {
    return this.inTurn(place, async () => {
      const noted = await change()
      if (deleted) this.forget(place)
      if (noted) await this.changes.publish({ ...place, ...noted, position: null, deleted })
      return noted
    })
  }

  /** Imports lines; with `replaces`, in place of the conversation that exists. */
  async import(
    lines: Lines,
    placeOf: (id: string) => Place,
    { replaces = false } = {},
  ): Promise<string> {
    const { database, changes } = this
    const { place, old } = await postgresImport(database, lines, (staged) => {
      const place = placeOf(staged.header.id)
      return this.inTurn(place, async () => {
        if (replaces) this.forget(place)
        const { made, old } = await publishStaged(database, place, { ...staged, replaces })
        if (old) await changes.publish({ ...place, ...old, position: null, deleted: true })
        const { position } = staged
        await changes.publish({ ...place, ...made, position, deleted: false })
        return { place, old }
      })
    })
    if (old) await removeRecords(database, old.key)
    return place.id
  }

  /** Whether searches have an index. */
  readonly hasTrigrams = onceResolved(async () => {
    const { query, schema } = this.database
    const index = `"${schema}".records_words`
    const { rows } = await query('SELECT to_regclass($1) IS NOT NULL AS there', [index])
    return rows[0]?.there === true
  })
}

function logOf(storage: Storage, namespace: string | null): ConversationLog {
  const { database, queue, changes, notifier } = storage
  const { query } = database
  const placeOf = (id: string): Place => ({ namespace: namespace ?? '', id })
  const findIn = (id: string) => findRow(query, placeOf(id))

  const log: ConversationLog = {
    namespace,
    ...(queue && {
      queue,
      enqueue: (id: string) => storage.use(() => enqueueNow(database, queue, placeOf(id))),
    }),
    scoped: (other) => logOf(storage, checkNamespace(other)),
    create: (id = newId()) =>
      storage.use(async () => {
        const place = placeOf(checkId(id))
        await storage.inTurn(place, async () => {
          const row = await createRow(query, place)
          if (!row) return
          const change = { ...place, key: row.key, position: 0, notice: null, deleted: false }
          await changes.publish(change)
        })
        return id
      }),
    find: (id) =>
      storage.use(async () => {
        const row = await findIn(id)
        if (!row) return null
        // A process that reads a conversation often appends to it next.
        const { key, position } = row
        storage.remember(placeOf(id), { key, position, state: stateOf(row) })
        return summaryOfRow(row, row.now)
      }),
    list: (options = {}) =>
      storage.use(() => {
        const { hasTrigrams } = storage
        return listConversations(database, namespace ?? '', { options, hasTrigrams })
      }),
    runs: (options = {}) =>
      storage.use(() => listRuns(runReader(database), namespace ?? '', options)),
    costs: (options = {}) =>
      storage.use(() => readCosts(runReader(database), namespace ?? '', options)),
    async append(id, events, options = {}) {
      const place = placeOf(checkId(id))
      const appendix = appendixOf(events, options)
      return storage.use(() => storage.append(place, appendix, options.after))
    },
    renew: (id, { owner, ms }) =>
      storage.use(async () => {
        checkLease({ owner, ms })
        return renewLease(database, placeOf(id), { lease: { owner, ms }, queue })
      }),
    read: (id, { after = 0, limit = 500 } = {}) =>
      storage.use(async () => {
        const page = { after: checkPosition(after), limit: checkLimit(limit) }
        return readRecords(query, placeOf(id), page)
      }),
    deleted: (id) => storage.use(() => deletedIn(query, [namespace ?? '', id])),
    debug: (id, messageId) => storage.use(() => readDebug(database, placeOf(id), messageId)),
    rename: (id, title) =>
      storage.use(async () => {
        const name = checkTitle(title)
        const place = placeOf(id)
        const rename = () => renameConversation(query, place, name)
        return (await storage.noted(place, rename, { deleted: false })) !== null
      }),
    delete: (id) =>
      storage.use(async () => {
        const place = placeOf(id)
        const remove = () => deleteConversation(query, place)
        const deleted = await storage.noted(place, remove, { deleted: true })
        if (deleted) await removeRecords(database, deleted.key)
        return deleted !== null
      }),
    async *export(id) {
      const row = await storage.use(() => findIn(id))
      if (!row) throw notFoundError(id)
      yield* postgresExport(database, row)
    },
    import: (lines, { id } = {}) =>
      storage.use(async () => {
        if (id !== undefined && (await findIn(checkId(id)))) throw existsError(id)
        return storage.import(lines, (exported) => placeOf(id ?? exported))
      }),
    upkeep: upkeepOf(storage, placeOf),
    subscribe(listener, options) {
      if (database.closed) throw closedError()
      return changes.subscribe(listener, { ...options, namespace })
    },
    stream(id, event) {
      if (!database.closed) notifier.stream(placeOf(id), event)
    },
    close: () =>
      database.close(async () => {
        await changes.close()
        await notifier.flush()
      }),
  }
  return checkMethods('log', log, LOG_METHODS)
}

function appendixOf(
  events: Parameters<ConversationLog['append']>[1],
  { after, lease, debug }: AppendOptions,
): Appendix {
  checkAppend({ after, lease })
  const entry = logEntry(events, debug)
  const texts = entry.events.map((event) => JSON.stringify(event))
  return { ...entry, texts, lease: lease && { ...lease } }
}

async function readDebug({ query }: Database, place: Place, message: string): Promise<unknown> {
  const { namespace, id } = place
  const { rows } = await query<{ position: number; value: string }>(
    `SELECT c.position, d.value FROM byref.conversations c JOIN byref.debug d ON d.conversation = c.key
     WHERE c.namespace = $1 AND c.id = $2 AND d.message = $3`,
    [namespace, id, keyOf(message)],
  )
  const [found] = rows
  return found ? JSON.parse(debugOf(found.value, { id, position: found.position, message })) : null
}

function upkeepOf(storage: Storage, placeOf: (id: string) => Place): LogUpkeep {
  const { database } = storage
  const { query } = database
  return {
    setAside: (id, damage) =>
      storage.use(async () => {
        const { namespace } = placeOf(id)
        const sql = 'UPDATE byref.conversations SET damage = $3 WHERE namespace = $1 AND id = $2'
        await query(sql, [namespace, id, damage && JSON.stringify(damage)])
      }),
    stored: (id, page) =>
      storage.use(async () => {
        const rows = await storedRows(query, placeOf(id), page)
        return rows.flatMap((row) => {
          const { position, at, event } = row
          return position === null ? [] : { position, at, event, problem: rowProblem(row) }
        })
      }),
    cut: (id, after) =>
      storage.use(async () => {
        const row = await findRow(query, placeOf(id))
        if (!row) return 0
        const lines = postgresExport(database, row, after)
        await storage.import(lines, () => placeOf(id), { replaces: true })
        return Math.max(0, row.position - after)
      }),
  }
}
