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
import { type DebugRow, exportStored, type StoredPages } from './export-stored.ts'
import { CHUNK } from './pause.ts'
import { debugOf, type RecordRow, rowProblem } from './record-rows.ts'
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
import { LOG_FILE, type LogConnection, rowsOf, type Statements } from './sqlite/statements.ts'

/** Options of {@link createSqliteLog}. */
export interface SqliteLogOptions {
  /** How long a call waits while other processes lock the file, in milliseconds. Default: 60,000. */
  busyTimeoutMs?: number
}

/**
 * Makes a log in one SQLite file, with Node's `node:sqlite`. What resolves has reached the disk (WAL, `synchronous=FULL`), and
 * concurrent appends share one sync. Several processes on one machine may use the file. Leases use the machine's clock. The
 * file is created where it is missing; its folder must exist. A busy file is opened at its first use.
 *
 * @param path A file's path, or `:memory:`.
 * @throws ByrefError `log_failed` for a file that cannot be opened, is no database, or was written by a newer byref;
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
  const { use, read, write } = connection
  const placeOf = (id: string) => ({ namespace: namespace ?? '', id })
  const tell = (id: string, change: Partial<LogChange> = {}): void =>
    changes.notify({ conversation: id, namespace, records: [], ...change })

  const linesOf = (row: ConversationRow, soundEnd?: number): AsyncGenerator<string> => {
    const { key } = row
    const pages: StoredPages = {
      records: (after) =>
        use(() => read((sql) => rowsOf<RecordRow>(sql.read.all(key, after, CHUNK)))),
      debug: (after) =>
        use(() => read((sql) => rowsOf<DebugRow>(sql.debugLines.all(key, after, CHUNK)))),
    }
    return exportStored(row, pages, soundEnd)
  }

  const log: ConversationLog = {
    namespace,
    scoped: (other) => logOf(connection, changes, checkNamespace(other)),
    create: (id = newId()) =>
      use(async () => {
        const place = placeOf(checkId(id))
        await write(
          (sql) => {
            if (findRow(sql, place)) return false
            createRow(sql, place, Date.now())
            return true
          },
          (made) => made && tell(id),
        )
        return id
      }),
    find: (id) =>
      use(async () => {
        const row = await read((sql) => findRow(sql, placeOf(id)))
        return row && summaryOfRow(row, Date.now())
      }),
    list: (options = {}) => use(() => listConversations(connection, namespace ?? '', options)),
    append: (id, events, options = {}) =>
      use(async () => {
        const place = placeOf(checkId(id))
        checkAppend(options)
        const entry = logEntry(events, options.debug)
        const appendix = {
          after: options.after,
          lease: options.lease && { ...options.lease },
          ...entry,
          texts: entry.events.map((event) => JSON.stringify(event)),
        }
        return write(
          (sql) => sqliteAppend(sql, place, appendix),
          (records) => {
            if (records.length > 0) tell(id, { records })
          },
        )
      }),
    renew: (id, { owner, ms }) =>
      use(async () => {
        checkLease({ owner, ms })
        return write((sql) => renewLease(sql, placeOf(id), { owner, ms }))
      }),
    read: (id, { after = 0, limit = 500 } = {}) =>
      use(async () => {
        const page = { after: checkPosition(after), limit: checkLimit(limit) }
        return read((sql) => {
          const row = findRow(sql, placeOf(id))
          return row ? readRecords(sql, row, page) : []
        })
      }),
    deleted: (id) =>
      use(() =>
        read((sql) => {
          const row = findRow(sql, placeOf(id))
          return row ? deletedIn(sql, row.key) : []
        }),
      ),
    debug: (id, messageId) =>
      use(async () => {
        return read((sql) => {
          const row = findRow(sql, placeOf(id))
          const found = row && sql.debug.get(row.key, messageId)
          if (!found) return null
          const { position } = row
          return JSON.parse(debugOf(String(found.value), { id, position, message: messageId }))
        })
      }),
    rename: (id, title) =>
      use(async () => {
        const name = checkTitle(title)
        return write(
          (sql) => giveName(sql, placeOf(id), name),
          (renamed) => renamed && tell(id),
        )
      }),
    delete: (id) =>
      use(async () => {
        const removed = await write(
          (sql) => forget(sql, placeOf(id)),
          (gone) => gone && tell(id, { deleted: true }),
        )
        if (removed?.more) await removeAll(connection, removed.key)
        return removed !== null
      }),
    async *export(id) {
      const row = await use(() => read((sql) => findRow(sql, placeOf(id))))
      if (!row) throw notFoundError(id)
      yield* linesOf(row)
    },
    import: (lines, { id } = {}) =>
      use(async () => {
        if (id !== undefined && (await read((sql) => findRow(sql, placeOf(checkId(id)))))) {
          throw existsError(id)
        }
        return sqliteImport(connection, lines, {
          namespace: namespace ?? '',
          id,
          published: (made) => tell(made),
        })
      }),
    subscribe(listener, options) {
      if (connection.closed) throw closedError()
      return changes.subscribe(connection, listener, { ...options, namespace })
    },
    upkeep: {
      ...sqliteUpkeep(connection, placeOf),
      cut: (id, after) =>
        use(async () => {
          const row = await read((sql) => findRow(sql, placeOf(id)))
          if (!row) return 0
          await sqliteImport(connection, linesOf(row, after), {
            namespace: namespace ?? '',
            id,
            replaces: true,
            published() {
              tell(id, { deleted: true })
              tell(id)
            },
          })
          return Math.max(0, row.position - after)
        }),
    },
    close: connection.close,
  }
  return checkMethods('log', log, LOG_METHODS)
}

/** Renews or ends a lease, in a transaction; false for the lease of another owner. */
function renewLease(sql: Statements, place: Place, lease: Lease): boolean {
  const row = findRow(sql, place)
  if (row?.lease_owner !== lease.owner) return false
  const renewed = leaseAfter(leaseOf(row), lease, Date.now())
  sql.lease.run(renewed?.owner ?? null, renewed?.until ?? null, row.key)
  return true
}

/** Gives a conversation a title, or its own for null, in a transaction; false for an unknown conversation. */
function giveName(sql: Statements, place: Place, name: string | null): boolean {
  const row = findRow(sql, place)
  if (!row) return false
  sql.name.run(name, row.key)
  indexTitle(sql, row.key, name ?? row.title)
  giveNotice(sql, place, { deleted: false })
  return true
}

/** Everything of the upkeep except `cut`. */
function sqliteUpkeep(
  { use, read, write }: LogConnection,
  placeOf: (id: string) => Place,
): Omit<LogUpkeep, 'cut'> {
  return {
    setAside: (id, damage) =>
      use(() =>
        write((sql) => {
          const row = findRow(sql, placeOf(id))
          if (row) sql.setAside.run(damage && JSON.stringify(damage), row.key)
        }),
      ),
    stored: (id, { after, limit }) =>
      use(() =>
        read((sql) => {
          const row = findRow(sql, placeOf(id))
          const rows = row ? sql.read.all(row.key, after, limit) : []
          return rowsOf<RecordRow>(rows).map((one) => {
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
