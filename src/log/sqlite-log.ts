import { checkOptions, checkValue, is } from '../core/check-options.ts'
import { connect } from '../sqlite/connection.ts'
import { isCorrupt } from '../sqlite/sqlite-errors.ts'
import type { ConversationLog, Lease, LogChange } from './conversation-log.ts'
import {
  type ConversationRow,
  leaseOf,
  type Place,
  stateOf,
  summaryOfRow,
} from './conversation-row.ts'
import { changeOf } from './listeners.ts'
import { type LogStorage, leaseAfter, logOf, type StorageUpkeep } from './log-storage.ts'
import { CHUNK } from './pause.ts'
import { toPlain } from './plain-text.ts'
import {
  type DebugRow,
  debugOf,
  exportStored,
  type RecordRow,
  storedRecord,
} from './record-rows.ts'
import { listRuns, readCosts } from './run-rows.ts'
import { listConversations } from './sqlite/list-conversations.ts'
import { SqliteChanges } from './sqlite/sqlite-changes.ts'
import { sqliteImport } from './sqlite/sqlite-import.ts'
import {
  addNotice,
  createRow,
  deleteConversation,
  deletedIn,
  findRow,
  indexTitle,
  readRecords,
  removeRecords,
  sqliteAppend,
} from './sqlite/sqlite-rows.ts'
import {
  LOG_FILE,
  type LogConnection,
  rowReader,
  rowsOf,
  type Statements,
} from './sqlite/statements.ts'

/** Options of {@link createSqliteLog}. */
export interface SqliteLogOptions {
  /** How long a call waits while other processes lock the file, in milliseconds. Default: 60,000. */
  busyTimeoutMs?: number
}

/**
 * Creates a log in one SQLite file, with Node's `node:sqlite`. When a call resolves, its changes are on disk (WAL,
 * `synchronous=FULL`). Concurrent appends share one sync. Several processes on one machine may use the file. Leases use
 * the machine's clock. The file and its folder are created if they are missing. A busy file is opened at its first use.
 *
 * @param path A file's path, or `:memory:`.
 * @throws ByrefError `log_failed` for a file that cannot be opened, is not a database, or was written by a newer byref;
 *   `storage_full`
 */
export function createSqliteLog(path: string, options: SqliteLogOptions = {}): ConversationLog {
  const { busyTimeoutMs } = checkOptions('createSqliteLog', options, {
    busyTimeoutMs: is.notNegative,
  })
  checkValue(is.string, path, 'The path of createSqliteLog')
  return logOf(new SqliteStorage(path, busyTimeoutMs), null)
}

type ReadRow<T> = (sql: Statements, row: ConversationRow) => T

class SqliteStorage implements LogStorage {
  readonly #connection: LogConnection
  readonly #changes = new SqliteChanges()

  constructor(path: string, busyTimeoutMs: number | undefined) {
    const owner = { path, what: 'conversation log', failed: 'log_failed' } as const
    this.#connection = connect({ owner, kind: LOG_FILE, hooks: this.#changes, busyTimeoutMs })
  }

  readonly upkeep: StorageUpkeep = {
    setAside: (place, damage) =>
      this.#connection.write((sql) => {
        const row = findRow(sql, place)
        if (row) sql.setAside.run(damage && JSON.stringify(damage), row.key)
      }),
    stored: (place, { after, limit }) =>
      this.#read(place, [], (sql, { key }) =>
        rowsOf<RecordRow>(sql.read.all(key, after, limit)).map(storedRecord),
      ),
    cut: (place, after) => this.#cut(place, after),
    check: () => this.#connection.read(problemsOf),
    rebuildIndexes: () => this.#connection.write(({ other }) => other('REINDEX').run()),
  }

  get closed(): boolean {
    return this.#connection.closed
  }

  use<T>(run: () => Promise<T>): Promise<T> {
    return this.#connection.use(run)
  }

  readonly create: LogStorage['create'] = (place) =>
    this.#connection.write(
      (sql) => findRow(sql, place) === null && createRow(sql, place, Date.now()),
      (made) => made && this.#notify(place),
    )

  readonly find: LogStorage['find'] = async (place) => {
    const row = await this.#rowOf(place)
    return row && summaryOfRow(row, Date.now())
  }

  readonly list: LogStorage['list'] = (namespace, options) =>
    listConversations(this.#connection, namespace, options)

  readonly runs: LogStorage['runs'] = (namespace, options) =>
    listRuns(rowReader(this.#connection), namespace, options)

  readonly costs: LogStorage['costs'] = (namespace, options) =>
    readCosts(rowReader(this.#connection), namespace, options)

  readonly append: LogStorage['append'] = (place, input) => {
    const texts = input.events.map((event) => JSON.stringify(event))
    return this.#connection.write(
      (sql) => sqliteAppend(sql, place, { ...input, texts }),
      (records) => {
        if (records.length > 0) this.#notify(place, { records })
      },
    )
  }

  readonly renew: LogStorage['renew'] = (place, lease) =>
    this.#connection.write((sql) => renewLease(sql, place, lease))

  readonly read: LogStorage['read'] = (place, page) =>
    this.#read(place, [], (sql, row) => readRecords(sql, row, page))

  readonly deleted: LogStorage['deleted'] = (place) =>
    this.#read(place, [], (sql, row) => deletedIn(sql, row.key))

  readonly debug: LogStorage['debug'] = (place, message) =>
    this.#read(place, null, (sql, { id, key, position }) => {
      const found = sql.debug.get(key, message)
      return found ? JSON.parse(debugOf(String(found.value), { id, position, message })) : null
    })

  readonly rename: LogStorage['rename'] = (place, name) =>
    this.#connection.write(
      (sql) => renameConversation(sql, place, name),
      (renamed) => renamed && this.#notify(place),
    )

  readonly delete: LogStorage['delete'] = async (place) => {
    const removed = await this.#connection.write(
      (sql) => deleteConversation(sql, place),
      (deleted) => deleted && this.#notify(place, { deleted: true }),
    )
    if (removed?.more) await removeRecords(this.#connection, removed.key)
    return removed !== null
  }

  readonly export: LogStorage['export'] = async (place) => {
    const row = await this.#rowOf(place)
    return row && this.#linesOf(row)
  }

  readonly import: LogStorage['import'] = (lines, placeOf) =>
    sqliteImport(this.#connection, lines, {
      placeOf,
      published: (place) => this.#notify(place),
    })

  readonly subscribe: LogStorage['subscribe'] = (listener, audience) =>
    this.#changes.subscribe(this.#connection, listener, audience)

  close(): Promise<void> {
    return this.#connection.close()
  }

  #rowOf(place: Place): Promise<ConversationRow | null> {
    return this.#connection.read((sql) => findRow(sql, place))
  }

  /** Reads from a conversation. Resolves to `none` if it is unknown. */
  #read<T, None>(place: Place, none: None, work: ReadRow<T>): Promise<T | None> {
    return this.#connection.read((sql) => {
      const row = findRow(sql, place)
      return row ? work(sql, row) : none
    })
  }

  #linesOf(row: ConversationRow, soundEnd?: number): AsyncGenerator<string> {
    const { use, read } = this.#connection
    const { key } = row
    const records = (after: number) =>
      use(() => read((sql) => rowsOf<RecordRow>(sql.read.all(key, after, CHUNK))))
    const debug = (after: number) =>
      use(() => read((sql) => rowsOf<DebugRow>(sql.debugLines.all(key, after, CHUNK))))
    return exportStored(row, { records, debug }, soundEnd)
  }

  async #cut(place: Place, after: number): Promise<number> {
    const row = await this.#rowOf(place)
    if (!row) return 0
    await sqliteImport(this.#connection, this.#linesOf(row, after), {
      placeOf: () => place,
      replaces: true,
      published: () => {
        this.#notify(place, { deleted: true })
        this.#notify(place)
      },
    })
    return Math.max(0, row.position - after)
  }

  #notify(place: Place, change?: Partial<LogChange>): void {
    this.#changes.notify(changeOf(place, change))
  }
}

/** Returns what SQLite finds wrong with the file. A damaged page may also end its check. */
function problemsOf({ other }: Statements): string[] {
  try {
    const rows = other('PRAGMA integrity_check(20)').all()
    return rows.map((row) => String(row.integrity_check)).filter((problem) => problem !== 'ok')
  } catch (error) {
    if (isCorrupt(error)) return [error.errstr]
    throw error
  }
}

/** Renews or ends a lease, in a transaction. False if another owner has the lease. */
function renewLease(sql: Statements, place: Place, lease: Lease): boolean {
  const row = findRow(sql, place)
  if (row?.lease_owner !== lease.owner) return false
  const renewed = leaseAfter(leaseOf(row), lease, Date.now())
  sql.lease.run(renewed?.owner ?? null, renewed?.until ?? null, row.key)
  return true
}

/**
 * Renames a conversation in a transaction. A null title restores the one from its first message. Returns false for an
 * unknown conversation.
 */
function renameConversation(sql: Statements, place: Place, name: string | null): boolean {
  const row = findRow(sql, place)
  if (!row) return false
  sql.name.run(name && toPlain(name), row.key)
  indexTitle(sql, row.key, name ?? stateOf(row).title)
  addNotice(sql, place, { deleted: false })
  return true
}
