import { ByrefError } from '../../core/errors.ts'
import type { Database } from '../../postgres/database.ts'
import { eventSum } from '../checksums.ts'
import { existsError } from '../conversation-log.ts'
import { type ConversationRow, type Place, stateColumns } from '../conversation-row.ts'
import { CHUNK } from '../pause.ts'
import { fromPlain } from '../plain-text.ts'
import { type ImportedLine, importStaged, type Lines, type Staged } from '../read-lines.ts'
import { type DebugRow, exportStored, type RecordRow } from '../record-rows.ts'
import { debugColumns, messageKey, wordsOf } from './append-statement.ts'
import {
  deleteConversation,
  type Notice,
  nameColumns,
  noticeOf,
  removeLeftovers,
  removeRecords,
} from './change-conversation.ts'
import { NOW } from './conversation-rows.ts'
import { deleteMessages } from './postgres-records.ts'
import { putRuns } from './postgres-runs.ts'

/** Returns the lines of a conversation; see {@link exportStored}. */
export function postgresExport(
  { use, query }: Database,
  row: ConversationRow,
  soundEnd?: number,
): AsyncGenerator<string> {
  const { key, position: end } = row
  const pages = {
    async records(after: number): Promise<readonly RecordRow[]> {
      const sql = `SELECT position, at, event, sum FROM byref.records
        WHERE conversation = $1 AND position > $2 AND position <= $3 ORDER BY position LIMIT $4`
      return (await use(() => query<RecordRow>(sql, [key, after, end, CHUNK]))).rows
    },
    async debug(after: number): Promise<readonly DebugRow[]> {
      const sql = `SELECT id, message, name, value FROM byref.debug
        WHERE conversation = $1 AND id > $2 ORDER BY id LIMIT $3`
      type Row = DebugRow & { name: string | null }
      const { rows } = await use(() => query<Row>(sql, [key, after, CHUNK]))
      return rows.map(({ name, ...found }) =>
        name === null ? found : { ...found, message: fromPlain(name) },
      )
    },
  }
  return exportStored(row, pages, soundEnd)
}

/**
 * Stores lines in pieces under a key without a conversation, so that they are not visible. Then `publish` creates the
 * conversation. A failure leaves nothing behind.
 */
export async function postgresImport<T>(
  database: Database,
  lines: Lines,
  publish: (staged: Staged) => Promise<T>,
): Promise<T> {
  await removeLeftovers(database)
  const key = await newKey(database)
  return importStaged(lines, {
    key,
    store: (piece) => storeLines(database, key, piece),
    deleteMessages: (ids) => database.transaction((query) => deleteMessages(query, key, ids)),
    publish,
    discard: () => removeRecords(database, key),
  })
}

/**
 * Creates a conversation from the staged records. With `replaces`, it replaces an existing one, `gone`.
 *
 * @throws ByrefError `conversation_exists`
 */
export function publishStaged(
  { transaction }: Database,
  place: Place,
  { replaces = false, ...staged }: Staged & { replaces?: boolean },
): Promise<{ made: Notice; old: Notice | null }> {
  const { key, header, position, state, runs } = staged
  const { created, updated, title } = header
  const [name, words] = nameColumns(title)
  return transaction(async (query) => {
    const old = replaces ? await deleteConversation(query, place) : null
    await query('DELETE FROM byref.leftovers WHERE key = $1', [key])
    const { rows } = await query<Notice>(
      `WITH made AS (
         INSERT INTO byref.conversations (key, namespace, id, name, words, created, updated, position, imported,
           state, due, root)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)
         ON CONFLICT (namespace, id) DO NOTHING RETURNING key, namespace, id
       ) ${noticeOf('made', false)}`,
      [
        key,
        place.namespace,
        place.id,
        name,
        words,
        created,
        updated,
        position,
        ...stateColumns(state),
      ],
    )
    if (!rows[0]) throw existsError(place.id)
    await putRuns(query, key, runs)
    return { made: rows[0], old }
  })
}

/** Returns a key that no conversation has or will have. */
async function newKey({ query, schema }: Database): Promise<number> {
  const { rows } = await query<{ key: number }>(
    `INSERT INTO byref.leftovers (key, touched)
     SELECT nextval(pg_get_serial_sequence($1, 'key')), ${NOW} RETURNING key`,
    [`"${schema}".conversations`],
  )
  return Number(rows[0]?.key)
}

function storeLines(
  { transaction }: Database,
  key: number,
  lines: readonly ImportedLine[],
): Promise<void> {
  const records = lines.filter((line) => line.type === 'record')
  const debug = lines.filter((line) => line.type === 'debug')
  return transaction(async (query) => {
    const touched = await query(`UPDATE byref.leftovers SET touched = ${NOW} WHERE key = $1`, [key])
    if (touched.rowCount === 0) {
      throw new ByrefError('log_failed', 'The import paused for too long: start it again')
    }
    await query(
      `INSERT INTO byref.records (conversation, position, at, event, message, words, sum)
       SELECT $1, * FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[])`,
      [
        key,
        records.map(({ position }) => position),
        records.map(({ at }) => at),
        records.map(({ json }) => json),
        records.map(({ event }) => messageKey(event)),
        records.map(({ event }) => wordsOf(event)),
        records.map(({ position, at, json }) => eventSum(position, json) + at),
      ],
    )
    const columns = debugColumns(debug.map(({ message, json }) => [message, json]))
    // The debug data of a message may be in its metadata and on a line of its own. The later one is kept.
    await query(
      `INSERT INTO byref.debug (conversation, message, name, value)
       SELECT $1, message, name, value FROM (
         SELECT DISTINCT ON (message) * FROM unnest($2::text[], $3::text[], $4::text[])
           WITH ORDINALITY AS d (message, name, value, n) ORDER BY message, n DESC
       ) AS last ORDER BY n
       ON CONFLICT (conversation, message) DO UPDATE SET value = excluded.value`,
      [key, ...columns],
    )
  })
}
