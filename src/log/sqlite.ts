import { DatabaseSync } from 'node:sqlite'
import { type ConversationEvent, isDurable, type LogRecord } from '../content/events.ts'
import { newId } from '../content/new-id.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  openRunAfter,
  titleOf,
} from './conversation-log.ts'
import { listeners } from './listeners.ts'
import { migrate } from './sqlite-migrations.ts'

/**
 * A log in one SQLite file, by Node's own `node:sqlite`. Every append is one transaction that has reached the disk
 * (WAL, `synchronous=FULL`) when it resolves. Several processes may use one file; `subscribe` tells of this one's
 * appends. The file is made if it is not there; its folder is not.
 *
 * @param path A file's path, or `:memory:`.
 * @throws When the file cannot be opened, is no database, or was written by a newer byref.
 */
export function createSqliteLog(path: string): ConversationLog {
  const db = new DatabaseSync(path)
  try {
    db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db)
  } catch (error) {
    db.close()
    throw error
  }
  const subscribers = listeners()
  const sql = {
    create: db.prepare(
      'INSERT INTO conversations (id, created_at, updated_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    find: db.prepare(`${SUMMARY} WHERE id = ?`),
    list: db.prepare(`${SUMMARY} ORDER BY updated_at DESC, last_position DESC`),
    insert: db.prepare('INSERT INTO records (conversation, timestamp, event) VALUES (?, ?, ?)'),
    touch: db.prepare(
      `UPDATE conversations SET updated_at = ?, title = coalesce(title, ?), messages = messages + ?,
       last_position = ?, open_run = ? WHERE id = ?`,
    ),
    read: db.prepare(
      'SELECT position, timestamp, event FROM records WHERE conversation = ? AND position > ? ORDER BY position LIMIT ?',
    ),
    putDebug: db.prepare(
      'INSERT OR REPLACE INTO debug (conversation, message, value) VALUES (?, ?, ?)',
    ),
    debug: db.prepare('SELECT value FROM debug WHERE conversation = ? AND message = ?'),
  }

  function insert(
    conversation: string,
    events: readonly ConversationEvent[],
    debug: Record<string, unknown>,
  ): LogRecord[] {
    const timestamp = new Date().toISOString()
    sql.create.run(conversation, timestamp, timestamp)
    const records = events.map((event) => {
      const json = JSON.stringify(event)
      const position = Number(sql.insert.run(conversation, timestamp, json).lastInsertRowid)
      return { position, timestamp, event: JSON.parse(json) as ConversationEvent }
    })
    const messages = events.filter((event) => event.type === 'NEW_MESSAGE').length
    const last = records.at(-1)?.position ?? 0
    const before = sql.find.get(conversation) as unknown as ConversationSummary
    const openRun = openRunAfter(events, before.openRun)
    sql.touch.run(timestamp, titleOf(events), messages, last, openRun, conversation)
    for (const [message, value] of Object.entries(debug)) {
      sql.putDebug.run(conversation, message, JSON.stringify(value))
    }
    return records
  }

  return {
    async create(id = newId()) {
      const now = new Date().toISOString()
      sql.create.run(id, now, now)
      return id
    },
    async find(id) {
      return (sql.find.get(id) as ConversationSummary | undefined) ?? null
    },
    async list() {
      return sql.list.all() as unknown as ConversationSummary[]
    },
    async append(conversation, events, { debug = {} } = {}) {
      const bad = events.find((event) => !isDurable(event))
      if (bad) throw new TypeError(`${bad.type} is not durable and has no place in the log`)
      const records = transaction(db, () => insert(conversation, events, debug))
      subscribers.tell(conversation, records)
      return records
    },
    async read(conversation, { after = 0, limit = 500 } = {}) {
      return sql.read.all(conversation, after, limit).map((row) => ({
        position: Number(row.position),
        timestamp: String(row.timestamp),
        event: JSON.parse(String(row.event)) as ConversationEvent,
      }))
    },
    async debug(conversation, messageId) {
      const row = sql.debug.get(conversation, messageId)
      return row ? JSON.parse(String(row.value)) : null
    },
    subscribe: subscribers.add,
    async close() {
      if (db.isOpen) db.close()
    },
  }
}

const SUMMARY =
  'SELECT id, title, created_at AS createdAt, updated_at AS updatedAt, messages, open_run AS openRun FROM conversations'

/** IMMEDIATE takes the write lock at once, so that two processes wait for each other instead of failing midway. */
function transaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
