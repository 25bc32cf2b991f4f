import { checkOptions, is } from '../core/check-options.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { setRecent } from '../core/recent.ts'
import { Database } from '../postgres/database.ts'
import { migrate } from '../postgres/migrate.ts'
import { POSTGRES_OPTIONS, type PostgresOptions } from '../postgres/postgres-options.ts'
import { type ConversationLog, type ConversationQueue, scopedKey } from './conversation-log.ts'
import { type Place, stateOf, summaryOfRow } from './conversation-row.ts'
import { type LogStorage, logOf, type StorageUpkeep } from './log-storage.ts'
import { keyOf } from './plain-text.ts'
import {
  deleteConversation,
  enqueueNow,
  type Notice,
  removeRecords,
  renameConversation,
  renewLease,
} from './postgres/change-conversation.ts'
import { createRow, findRow, listConversations, rowReader } from './postgres/conversation-rows.ts'
import { LOG_TABLES } from './postgres/log-tables.ts'
import { Notifier } from './postgres/notifier.ts'
import { appendAtOnce, appendInTransaction, type Known } from './postgres/postgres-append.ts'
import { PostgresChanges } from './postgres/postgres-changes.ts'
import { postgresExport, postgresImport, publishStaged } from './postgres/postgres-import.ts'
import { deletedIn, readRecords, storedRows } from './postgres/postgres-records.ts'
import type { Lines } from './read-lines.ts'
import { debugOf, storedRecord } from './record-rows.ts'
import { listRuns, readCosts } from './run-rows.ts'
import { Turns } from './turns.ts'

/** Options of {@link createPostgresLog}. */
export type PostgresLogOptions = PostgresOptions & {
  /** Receives each conversation that is due and has no runner, in the transaction of the append that made it due. */
  queue?: ConversationQueue
}

const QUEUE = is.having<ConversationQueue>('a queue, made by createQueue', 'enqueue')

/** Maximum number of conversations whose state is cached. */
const MAX_KNOWN = 10_000

/**
 * Creates a log in a PostgreSQL database, for any number of processes on any number of machines. When a call resolves,
 * its changes are committed, and as durable as the server makes them. Leases use the server's clock. An append by a
 * writer who knows the end of a conversation is one statement, which holds no lock over the network. A lost connection
 * rejects running calls with `log_failed`; the next call gets another connection. The first use creates the tables.
 * Several processes may do this at the same time.
 *
 * @throws ByrefError `config_invalid`. Every use rejects with `log_failed` if the database cannot be used
 */
export function createPostgresLog(options: PostgresLogOptions): ConversationLog {
  checkOptions('createPostgresLog', options, { ...POSTGRES_OPTIONS, queue: QUEUE })
  return logOf(new PostgresStorage(options), null)
}

class PostgresStorage implements LogStorage {
  readonly queue: ConversationQueue | undefined
  readonly #database: Database
  readonly #notifier: Notifier
  readonly #changes: PostgresChanges
  /** The state of conversations when this process last saw them, for appends in one statement. */
  readonly #known = new Map<string, Known>()
  /** The changes of one conversation run one after the other. */
  readonly #turns = new Turns<string>()

  /** @throws ByrefError `config_invalid` */
  constructor(options: PostgresLogOptions) {
    this.queue = options.queue
    this.#database = new Database(options, {
      owner: { what: 'conversation log', failed: 'log_failed' },
      migrate: (opened) => migrate(opened, LOG_TABLES),
    })
    this.#notifier = new Notifier(this.#database)
    this.#changes = new PostgresChanges(this.#database, this.#notifier, this.#turns)
  }

  readonly upkeep: StorageUpkeep = {
    setAside: ({ namespace, id }, damage) => {
      const sql = 'UPDATE byref.conversations SET damage = $3 WHERE namespace = $1 AND id = $2'
      return this.#database.query(sql, [namespace, id, damage && JSON.stringify(damage)])
    },
    stored: async (place, page) => {
      const rows = await storedRows(this.#database.query, place, page)
      return rows.filter(({ position }) => position !== null).map(storedRecord)
    },
    cut: async (place, after) => {
      const row = await findRow(this.#database.query, place)
      if (!row) return 0
      const lines = postgresExport(this.#database, row, after)
      await this.#import(lines, () => place, { replaces: true })
      return Math.max(0, row.position - after)
    },
  }

  get closed(): boolean {
    return this.#database.closed
  }

  /** Runs a call once the tables exist and the state before the first subscriber is known. */
  use<T>(run: () => Promise<T>): Promise<T> {
    return this.#database.use(async () => {
      await this.#changes.begun()
      return run()
    })
  }

  readonly create: LogStorage['create'] = (place) =>
    this.#turns.take(scopedKey(place.namespace, place.id), async () => {
      const row = await createRow(this.#database.query, place)
      if (!row) return
      const change = { ...place, key: row.key, position: 0, notice: null, deleted: false }
      await this.#changes.publish(change)
    })

  readonly find: LogStorage['find'] = async (place) => {
    const row = await findRow(this.#database.query, place)
    if (!row) return null
    // A process that reads a conversation often appends to it next.
    const { key, position } = row
    this.#remember(place, { key, position, state: stateOf(row) })
    return summaryOfRow(row, row.now)
  }

  readonly list: LogStorage['list'] = (namespace, options) =>
    listConversations(this.#database, namespace, { options, hasTrigrams: this.#hasTrigrams })

  readonly runs: LogStorage['runs'] = (namespace, options) =>
    listRuns(rowReader(this.#database), namespace, options)

  readonly costs: LogStorage['costs'] = (namespace, options) =>
    readCosts(rowReader(this.#database), namespace, options)

  readonly append: LogStorage['append'] = (place, given) => {
    const queue = this.queue
    const database = this.#database
    const texts = given.events.map((event) => JSON.stringify(event))
    const input = { ...given, texts }
    return this.#turns.take(scopedKey(place.namespace, place.id), async () => {
      const known = this.#takeKnown(place)
      const isKnown = known !== undefined && known.position === given.after
      const atOnce = isKnown ? await appendAtOnce(database.query, known, { input, queue }) : null
      const { records, known: now } =
        atOnce ?? (await appendInTransaction(database, place, { input, queue }))
      this.#remember(place, now)
      if (records.length > 0) {
        const { key, position } = now
        const change = { ...place, key, position, notice: null, deleted: false }
        await this.#changes.publish(change, records)
      }
      return records
    })
  }

  readonly renew: LogStorage['renew'] = (place, lease) =>
    renewLease(this.#database, place, { lease, queue: this.queue })

  readonly read: LogStorage['read'] = (place, page) =>
    readRecords(this.#database.query, place, page)

  readonly deleted: LogStorage['deleted'] = (place) => deletedIn(this.#database.query, place)

  readonly debug: LogStorage['debug'] = async ({ namespace, id }, message) => {
    const { rows } = await this.#database.query<{ position: number; value: string }>(
      `SELECT c.position, d.value FROM byref.conversations c JOIN byref.debug d ON d.conversation = c.key
       WHERE c.namespace = $1 AND c.id = $2 AND d.message = $3`,
      [namespace, id, keyOf(message)],
    )
    const [found] = rows
    if (!found) return null
    return JSON.parse(debugOf(found.value, { id, position: found.position, message }))
  }

  readonly rename: LogStorage['rename'] = async (place, name) => {
    const rename = () => renameConversation(this.#database.query, place, name)
    return (await this.#changeWithNotice(place, rename, { deleted: false })) !== null
  }

  readonly delete: LogStorage['delete'] = async (place) => {
    const remove = () => deleteConversation(this.#database.query, place)
    const deleted = await this.#changeWithNotice(place, remove, { deleted: true })
    if (deleted) await removeRecords(this.#database, deleted.key)
    return deleted !== null
  }

  readonly export: LogStorage['export'] = async (place) => {
    const row = await findRow(this.#database.query, place)
    return row && postgresExport(this.#database, row)
  }

  readonly import: LogStorage['import'] = (lines, placeOf) => this.#import(lines, placeOf)

  readonly subscribe: LogStorage['subscribe'] = (listener, audience) =>
    this.#changes.subscribe(listener, audience)

  readonly enqueue: LogStorage['enqueue'] = async (place) => {
    if (this.queue) await enqueueNow(this.#database, this.queue, place)
  }

  readonly stream: LogStorage['stream'] = (place, event) => {
    this.#notifier.stream(place, event)
  }

  close(): Promise<void> {
    return this.#database.close(async () => {
      await this.#changes.close()
      await this.#notifier.flush()
    })
  }

  #remember(place: Place, known: Known): void {
    setRecent(this.#known, scopedKey(place.namespace, place.id), known, MAX_KNOWN)
  }

  #takeKnown(place: Place): Known | undefined {
    const known = this.#known.get(scopedKey(place.namespace, place.id))
    this.#known.delete(scopedKey(place.namespace, place.id))
    return known
  }

  /** Makes a change without a record, such as a rename, and publishes it. Runs in the conversation's turn. */
  #changeWithNotice(
    place: Place,
    change: () => Promise<Notice | null>,
    { deleted }: { deleted: boolean },
  ): Promise<Notice | null> {
    return this.#turns.take(scopedKey(place.namespace, place.id), async () => {
      const notice = await change()
      if (deleted) this.#takeKnown(place)
      if (notice) await this.#changes.publish({ ...place, ...notice, position: null, deleted })
      return notice
    })
  }

  /** Imports lines. With `replaces`, the import replaces the existing conversation. */
  async #import(
    lines: Lines,
    placeOf: (id: string) => Place,
    { replaces = false } = {},
  ): Promise<string> {
    const database = this.#database
    const changes = this.#changes
    const { place, old } = await postgresImport(database, lines, (staged) => {
      const place = placeOf(staged.header.id)
      return this.#turns.take(scopedKey(place.namespace, place.id), async () => {
        if (replaces) this.#takeKnown(place)
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

  /** Whether the database has the trigram index for searches. */
  readonly #hasTrigrams = onceResolved(async () => {
    const { query, schema } = this.#database
    const index = `"${schema}".records_words`
    const { rows } = await query('SELECT to_regclass($1) IS NOT NULL AS there', [index])
    return rows[0]?.there === true
  })
}
