import { checkMethods, checkOptions, is } from '../core/check-options.ts'
import { newId } from '../core/new-id.ts'
import { connect } from '../sqlite/connection.ts'
import { checkAppend, leaseAfter } from './admit.ts'
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
  type ConversationLog,
  closedError,
  existsError,
  type Lease,
  type LogChange,
  type LogUpkeep,
  notFoundError,
} from './conversation-log.ts'
import { type ConversationRow, leaseOf, type Place, summaryOfRow } from './conversation-row.ts'
import { logEntry } from './copy-event.ts'
import { CHUNK } from './pause.ts'
import {
  type DebugRow,
  debugOf,
  exportStored,
  type RecordRow,
  rowProblem,
  type StoredPages,
} from './record-rows.ts'
import { listRuns, readCosts } from './run-rows.ts'
import { deletedIn } from './sqlite/delete-messages.ts'
import { listConversations } from './sqlite/list-conversations.ts'
import { forget, giveNotice, removeAll } from './sqlite/remove-records.ts'
import {
  createRow,
  findRow,
  indexTitle,
  readRecords,
  sqliteAppend,
} from './sqlite/sqlite-append.ts'
import { SqliteChanges } from './sqlite/sqlite-changes.ts'
import { sqliteImport } from './sqlite/sqlite-import.ts'
import {
  LOG_FILE,
  type LogConnection,
  rowsOf,
  runReader,
  type Statements,
} from './sqlite/statements.ts'

/** Options of {@link createSqliteLog}. */
export interface SqliteLogOptions {
  /** How long a call waits while other processes lock the file, in milliseconds. Default: 60,000. */
  busyTimeoutMs?: number
}

/**
 * Makes a log in one SQLite file, with Node's `node:sqlite`. What resolves has reached the disk (WAL, `synchronous=FULL`), and
 * concurrent appends share one sync. Several processes on one machine may use the file. Leases use the machine's clock. The
 * file and its folder are created if they are missing. A busy file is opened at its first use.
 *
 * @param path A file's path, or `:memory:`.
 * @throws ByrefError `log_failed` for a file that cannot be opened, is not a database, or was written by a newer byref;
 *   `storage_full`
 */
export function createSqliteLog(path: string, options: SqliteLogOptions = {}): ConversationLog {
  const { busyTimeoutMs } = checkOptions('createSqliteLog', options, {
    busyTimeoutMs: is.notNegative,
  })
  const owner = { path, what: 'conversation log', failed: 'log_failed' } as const
  const changes = new SqliteChanges()
  return logOf(connect({ owner, kind: LOG_FILE, hooks: changes, busyTimeoutMs }), changes, null)
}

function logOf(
  connection: LogConnection,
  changes: SqliteChanges,
  namespace: string | null,
): ConversationLog {
  const { use, write } = connection
  const space = new Space(connection, changes, namespace)
  const log: ConversationLog = {
    namespace,
    scoped: (other) => logOf(connection, changes, checkNamespace(other)),
    create: (id = newId()) => use(() => space.create(id)),
    find: (id) =>
      use(async () => {
        const row = await space.rowOf(id)
        return row && summaryOfRow(row, Date.now())
      }),
    list: (options = {}) => use(() => listConversations(connection, namespace ?? '', options)),
    runs: (options = {}) => use(() => listRuns(runReader(connection), namespace ?? '', options)),
    costs: (options = {}) => use(() => readCosts(runReader(connection), namespace ?? '', options)),
    append: (id, events, options) => use(() => space.append(id, events, options)),
    renew: (id, { owner, ms }) =>
      use(async () => {
        checkLease({ owner, ms })
        return write((sql) => renewLease(sql, space.placeOf(id), { owner, ms }))
      }),
    read: (id, { after = 0, limit = 500 } = {}) =>
      use(async () => {
        const page = { after: checkPosition(after), limit: checkLimit(limit) }
        return space.read(id, [], (sql, row) => readRecords(sql, row, page))
      }),
    deleted: (id) => use(() => space.read(id, [], (sql, row) => deletedIn(sql, row.key))),
    debug: (id, message) =>
      use(() =>
        space.read(id, null, (sql, { key, position }) => {
          const found = sql.debug.get(key, message)
          return found ? JSON.parse(debugOf(String(found.value), { id, position, message })) : null
        }),
      ),
    rename: (id, title) => use(() => space.rename(id, title)),
    delete: (id) => use(() => space.delete(id)),
    async *export(id) {
      const row = await use(() => space.rowOf(id))
      if (!row) throw notFoundError(id)
      yield* space.linesOf(row)
    },
    import: (lines, { id } = {}) => use(() => space.import(lines, id)),
    subscribe(listener, options) {
      if (connection.closed) throw closedError()
      return changes.subscribe(connection, listener, { ...options, namespace })
    },
    upkeep: upkeepOf(connection, space),
    close: connection.close,
  }
  return checkMethods('log', log, LOG_METHODS)
}

type ReadRow<T> = (sql: Statements, row: ConversationRow) => T

/** The conversations of one namespace in a file. */
class Space {
  readonly namespace: string | null
  readonly #connection: LogConnection
  readonly #changes: SqliteChanges

  constructor(connection: LogConnection, changes: SqliteChanges, namespace: string | null) {
    this.namespace = namespace
    this.#connection = connection
    this.#changes = changes
  }

  placeOf(id: string): Place {
    return { namespace: this.namespace ?? '', id }
  }

  rowOf(id: string): Promise<ConversationRow | null> {
    return this.#connection.read((sql) => findRow(sql, this.placeOf(id)))
  }

  /** Reads from a conversation; resolves to `none` for an unknown conversation. */
  read<T, None>(id: string, none: None, work: ReadRow<T>): Promise<T | None> {
    return this.#connection.read((sql) => {
      const row = findRow(sql, this.placeOf(id))
      return row ? work(sql, row) : none
    })
  }

  async create(id: string): Promise<string> {
    const place = this.placeOf(checkId(id))
    await this.#connection.write(
      (sql) => {
        if (findRow(sql, place)) return false
        createRow(sql, place, Date.now())
        return true
      },
      (made) => made && this.#notify(id),
    )
    return id
  }

  readonly append: ConversationLog['append'] = async (id, events, options = {}) => {
    const place = this.placeOf(checkId(id))
    checkAppend(options)
    const entry = logEntry(events, options.debug)
    const appendix = {
      after: options.after,
      lease: options.lease && { ...options.lease },
      ...entry,
      texts: entry.events.map((event) => JSON.stringify(event)),
    }
    return this.#connection.write(
      (sql) => sqliteAppend(sql, place, appendix),
      (records) => {
        if (records.length > 0) this.#notify(id, { records })
      },
    )
  }

  async rename(id: string, title: string | null): Promise<boolean> {
    const name = checkTitle(title)
    return this.#connection.write(
      (sql) => giveName(sql, this.placeOf(id), name),
      (renamed) => renamed && this.#notify(id),
    )
  }

  async delete(id: string): Promise<boolean> {
    const removed = await this.#connection.write(
      (sql) => forget(sql, this.placeOf(id)),
      (deleted) => deleted && this.#notify(id, { deleted: true }),
    )
    if (removed?.more) await removeAll(this.#connection, removed.key)
    return removed !== null
  }

  linesOf(row: ConversationRow, soundEnd?: number): AsyncGenerator<string> {
    const { use, read } = this.#connection
    const { key } = row
    const pages: StoredPages = {
      records: (after) =>
        use(() => read((sql) => rowsOf<RecordRow>(sql.read.all(key, after, CHUNK)))),
      debug: (after) =>
        use(() => read((sql) => rowsOf<DebugRow>(sql.debugLines.all(key, after, CHUNK)))),
    }
    return exportStored(row, pages, soundEnd)
  }

  async import(
    lines: AsyncIterable<string> | Iterable<string>,
    id: string | undefined,
  ): Promise<string> {
    if (id !== undefined && (await this.rowOf(checkId(id)))) throw existsError(id)
    return sqliteImport(this.#connection, lines, {
      namespace: this.namespace ?? '',
      id,
      published: (made) => this.#notify(made),
    })
  }

  /** Removes the records after a position; resolves to how many there were. */
  async cut(id: string, after: number): Promise<number> {
    const row = await this.rowOf(id)
    if (!row) return 0
    await sqliteImport(this.#connection, this.linesOf(row, after), {
      namespace: this.namespace ?? '',
      id,
      replaces: true,
      published: () => {
        this.#notify(id, { deleted: true })
        this.#notify(id)
      },
    })
    return Math.max(0, row.position - after)
  }

  #notify(id: string, change: Partial<LogChange> = {}): void {
    const { namespace } = this
    this.#changes.notify({ conversation: id, namespace, records: [], ...change })
  }
}

/** Renews or ends a lease, in a transaction; false for the lease of another owner. */
function renewLease(sql: Statements, place: Place, lease: Lease): boolean {
  const row = findRow(sql, place)
  if (row?.lease_owner !== lease.owner) return false
  const renewed = leaseAfter(leaseOf(row), lease, Date.now())
  sql.lease.run(renewed?.owner ?? null, renewed?.until ?? null, row.key)
  return true
}

/** Renames a conversation in a transaction; a null title restores its own. Returns false for an unknown conversation. */
function giveName(sql: Statements, place: Place, name: string | null): boolean {
  const row = findRow(sql, place)
  if (!row) return false
  sql.name.run(name, row.key)
  indexTitle(sql, row.key, name ?? row.title)
  giveNotice(sql, place, { deleted: false })
  return true
}

function upkeepOf({ use, read, write }: LogConnection, space: Space): LogUpkeep {
  return {
    cut: (id, after) => use(() => space.cut(id, after)),
    setAside: (id, damage) =>
      use(() =>
        write((sql) => {
          const row = findRow(sql, space.placeOf(id))
          if (row) sql.setAside.run(damage && JSON.stringify(damage), row.key)
        }),
      ),
    stored: (id, { after, limit }) =>
      use(() =>
        space.read(id, [], (sql, { key }) => {
          return rowsOf<RecordRow>(sql.read.all(key, after, limit)).map((one) => {
            const { position, at, event } = one
            return { position, at, event, problem: rowProblem(one) }
          })
        }),
      ),
    check: () =>
      use(() =>
        read(({ other }) =>
          other('PRAGMA integrity_check(20)')
            .all()
            .map((row) => String(row.integrity_check))
            .filter((problem) => problem !== 'ok'),
        ),
      ),
  }
}
