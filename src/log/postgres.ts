import { checkMethods, checkOptions, is } from '../core/check-options.ts'
import type { Damage } from '../core/events/damaged-error.ts'
import type { LogRecord } from '../core/events/events.ts'
import { newId } from '../core/new-id.ts'
import { type Database, openDatabase, type Query } from '../postgres/database.ts'
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
import type { ConversationLog, StoredRecord } from './conversation-log.ts'
import type { ConversationQueue } from './conversation-queue.ts'
import type { Place } from './conversation-row.ts'
import { logEntry } from './copy-event.ts'
import { closedError, existsError, notFoundError } from './log-errors.ts'
import type { Appendix } from './postgres/append-statement.ts'
import {
  enqueueNow,
  forget,
  giveName,
  type Noted,
  removeForgotten,
  renewLease,
} from './postgres/change-conversation.ts'
import { createRow, findRow, stateOf, summaryOfRow } from './postgres/conversation-rows.ts'
import { deletedIn } from './postgres/delete-messages.ts'
import { type Feed, feed } from './postgres/feed.ts'
import { listConversations } from './postgres/list-conversations.ts'
import { LOG_TABLES } from './postgres/migrations.ts'
import { createNotifier, type Notifier } from './postgres/notifier.ts'
import { appendAtOnce, appendInTransaction, type Known } from './postgres/postgres-append.ts'
import { postgresExport } from './postgres/postgres-export.ts'
import { postgresImport, publishStaged } from './postgres/postgres-import.ts'
import { readRecords, storedRows } from './postgres/read-records.ts'
import { type Recent, recent } from './postgres/recent.ts'
import { debugOf, rowProblem } from './record-rows.ts'

/** Options of {@link createPostgresLog}. */
export type PostgresLogOptions = PostgresOptions & {
  /** Is told in the transaction of an append after which a conversation is due and nobody runs it. */
  queue?: ConversationQueue
}

/** What the logs of all namespaces share. */
interface Shared {
  database: Database
  queue: ConversationQueue | undefined
  changes: Feed
  notifier: Notifier
  /** Conversations as they stood when this log last saw them, for appends of one statement. */
  known: Recent<Known>
  inTurn<T>(place: Place, run: () => Promise<T>): Promise<T>
  /** Whether a search has an index. */
  hasTrigrams(): Promise<boolean>
}

const QUEUE = is.having<ConversationQueue>('a queue, made by createQueue', 'enqueue')
const MOST_KNOWN = 10_000

/**
 * A log in a PostgreSQL database, for any number of processes on any number of machines. What resolves is committed, as
 * durable as the server makes that. Leases are by the server's clock. An append by who knows the end of a conversation is one
 * statement, and nobody holds a lock over the network meanwhile. A connection that is lost rejects what was on its way with
 * `log_failed`; the next use has another. The tables are made at the first use, by several processes at once too.
 *
 * @throws ByrefError `config_invalid`. Every use rejects with `log_failed` where the database cannot be used
 */
export function createPostgresLog(options: PostgresLogOptions): ConversationLog {
  checkOptions('createPostgresLog', options, { ...POSTGRES_OPTIONS, queue: QUEUE })
  const owner = { what: 'conversation log', failed: 'log_failed' } as const
  const database = openDatabase(options, {
    owner,
    migrate: (opened) => migrate(opened, LOG_TABLES),
  })
  const turns = createTurns()
  const inTurn: Shared['inTurn'] = (place, run) => turns(keyOfPlace(place), run)
  const notifier = createNotifier(database)
  const changes = feed({ database, notifier, inTurn })
  let trigrams: Promise<boolean> | null = null
  const shared: Shared = {
    database,
    queue: options.queue,
    changes,
    notifier,
    inTurn,
    known: recent(MOST_KNOWN),
    hasTrigrams() {
      trigrams ??= findTrigrams(database).catch((error) => {
        trigrams = null
        throw error
      })
      return trigrams
    },
  }
  return logOf(shared, null)
}

function logOf(shared: Shared, namespace: string | null): ConversationLog {
  const { database, queue, changes, notifier, known, inTurn, hasTrigrams } = shared
  const { query } = database
  const placeOf = (id: string): Place => ({ namespace: namespace ?? '', id })
  const use = <T>(run: () => Promise<T>): Promise<T> =>
    database.use(async () => {
      await changes.begun()
      return run()
    })
  const findIn = (id: string) => findRow(query, placeOf(id))

  /** A change that no record says, in the conversation's turn, and what others are told of it. */
  async function noted(
    id: string,
    kind: 'renamed' | 'deleted',
    change: () => Promise<Noted | null>,
  ): Promise<Noted | null> {
    const place = placeOf(id)
    return inTurn(place, async () => {
      const found = await change()
      if (found) await changes.publish({ ...place, ...found, kind })
      return found
    })
  }

  async function appendInTurn(
    place: Place,
    appendix: Appendix,
    after: number | undefined,
  ): Promise<LogRecord[]> {
    const key = keyOfPlace(place)
    const before = known.get(key)
    known.delete(key)
    const isKnown = before !== undefined && before.position === after
    const atOnce = isKnown ? await appendAtOnce(query, before, { appendix, queue }) : null
    const { records, known: now } =
      atOnce ?? (await appendInTransaction(database, place, { appendix, after, queue }))
    known.set(key, now)
    if (records.length > 0) {
      const to = now.position
      const from = to - records.length
      await changes.publish({ ...place, key: now.key, kind: 'appended', from, to }, records)
    }
    return records
  }

  const log: ConversationLog = {
    namespace,
    ...(queue && {
      queue,
      enqueue: (id: string) => use(() => enqueueNow(database, queue, placeOf(id))),
    }),
    scoped: (other) => logOf(shared, checkNamespace(other)),
    create: (id = newId()) =>
      use(async () => {
        const place = placeOf(checkId(id))
        await inTurn(place, async () => {
          const row = await createRow(query, place)
          if (!row) return
          await changes.publish({ ...place, key: row.key, kind: 'made', position: 0, notice: null })
        })
        return id
      }),
    find: (id) =>
      use(async () => {
        const row = await findIn(id)
        if (!row) return null
        // Whoever looks at one is often about to append to it; what is out of date by then is only of no use.
        const { key, position } = row
        known.set(keyOfPlace(placeOf(id)), { key, position, state: stateOf(row) })
        return summaryOfRow(row)
      }),
    list: (options = {}) =>
      use(() => listConversations(database, namespace ?? '', { options, hasTrigrams })),
    async append(id, events, { after, lease, debug } = {}) {
      const place = placeOf(checkId(id))
      checkAppend({ after, lease })
      const entry = logEntry(events, debug)
      const texts = entry.events.map((event) => JSON.stringify(event))
      const appendix = { ...entry, texts, lease: lease && { ...lease } }
      return use(() => inTurn(place, () => appendInTurn(place, appendix, after)))
    },
    renew: (id, { owner, ms }) =>
      use(async () => {
        checkLease({ owner, ms })
        return renewLease(database, placeOf(id), { lease: { owner, ms }, queue })
      }),
    read: (id, { after = 0, limit = 500 } = {}) =>
      use(async () => {
        const page = { after: checkPosition(after), limit: checkLimit(limit) }
        return readRecords(query, placeOf(id), page)
      }),
    deleted: (id) => use(() => deletedIn(query, [namespace ?? '', id])),
    debug: (id, messageId) =>
      use(async () => {
        const { rows } = await query<{ position: number; value: string }>(
          `SELECT c.position, d.value FROM byref.conversations c JOIN byref.debug d ON d.conversation = c.key
           WHERE c.namespace = $1 AND c.id = $2 AND d.message = $3`,
          [namespace ?? '', id, keyOf(messageId)],
        )
        const [found] = rows
        if (!found) return null
        const { position } = found
        return JSON.parse(debugOf(found.value, { id, position, message: messageId }))
      }),
    rename: (id, title) =>
      use(async () => {
        const name = checkTitle(title)
        return (await noted(id, 'renamed', () => giveName(database, placeOf(id), name))) !== null
      }),
    delete: (id) =>
      use(async () => {
        const gone = await noted(id, 'deleted', () => forget(query, placeOf(id)))
        known.delete(keyOfPlace(placeOf(id)))
        if (gone) await removeForgotten(database, gone)
        return gone !== null
      }),
    async *export(id) {
      const row = await use(() => findIn(id))
      if (!row) throw notFoundError(id)
      yield* postgresExport(database, row)
    },
    import: (lines, { id } = {}) =>
      use(async () => {
        if (id !== undefined && (await findIn(checkId(id)))) throw existsError(id)
        return postgresImport(database, lines, (staged) => {
          const place = placeOf(id ?? staged.header.id)
          return inTurn(place, async () => {
            const { made } = await publishStaged(database, place, staged)
            const { position } = staged
            await changes.publish({ ...place, ...made, kind: 'made', position })
            return place.id
          })
        })
      }),
    upkeep: {
      setAside: (id, damage) => use(() => setAside(query, placeOf(id), damage)),
      stored: (id, page) => use(() => storedRecords(query, placeOf(id), page)),
      cut: (id, after) =>
        use(async () => {
          const place = placeOf(id)
          const row = await findIn(id)
          if (!row) return 0
          const lines = postgresExport(database, row, after)
          const gone = await postgresImport(database, lines, (staged) =>
            inTurn(place, async () => {
              known.delete(keyOfPlace(place))
              const done = await publishStaged(database, place, { ...staged, replaces: true })
              if (done.gone) await changes.publish({ ...place, ...done.gone, kind: 'deleted' })
              await changes.publish({ ...place, ...done.made, kind: 'made', position: after })
              return done.gone
            }),
          )
          if (gone) await removeForgotten(database, gone)
          return Math.max(0, row.position - after)
        }),
    },
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

async function findTrigrams({ query, schema }: Database): Promise<boolean> {
  const { rows } = await query('SELECT to_regclass($1) IS NOT NULL AS there', [
    `"${schema}".records_words`,
  ])
  return rows[0]?.there === true
}

function keyOfPlace({ namespace, id }: Place): string {
  return `${namespace}\0${id}`
}

/** Runs what has the same key one after the other, in the order it was asked for. */
function createTurns(): <T>(key: string, run: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async function inTurn(key, run) {
    const before = last.get(key)
    const turn = (async () => {
      await before?.catch(() => {})
      return run()
    })()
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}

/** Sets a conversation aside, or takes it back. */
async function setAside(
  query: Query,
  { namespace, id }: Place,
  damage: Damage | null,
): Promise<void> {
  await query('UPDATE byref.conversations SET damage = $3 WHERE namespace = $1 AND id = $2', [
    namespace,
    id,
    damage && JSON.stringify(damage),
  ])
}

/** Records as they are stored. */
async function storedRecords(
  query: Query,
  place: Place,
  page: { after: number; limit: number },
): Promise<StoredRecord[]> {
  const rows = await storedRows(query, place, page)
  return rows.flatMap((row) => {
    const { position, at, event } = row
    return position === null ? [] : { position, at, event, problem: rowProblem(row) }
  })
}
