import { ByrefError } from '../../core/errors.ts'
import type { Database } from '../../postgres/database.ts'
import { toPlain } from '../../postgres/plain-text.ts'
import type { Place } from '../conversation-row.ts'
import { existsError } from '../log-errors.ts'
import type { ImportedLine } from '../read-lines.ts'
import { eventSum } from '../record-rows.ts'
import { type Staged, stageLines } from '../stage-lines.ts'
import { debugColumns, messageKey, wordsOf } from './append-statement.ts'
import { forget, type Noted, noticeOf } from './change-conversation.ts'
import { NOW, nameWords, stateColumns } from './conversation-rows.ts'
import { deleteMessages, titleIn } from './delete-messages.ts'
import { removeAll, removeLeftovers } from './remove-records.ts'

/**
 * Stores lines by pieces under a key that is no conversation yet, so that nobody sees them; `publish` makes it one. What
 * throws leaves nothing.
 */
export async function postgresImport<T>(
  database: Database,
  lines: AsyncIterable<string> | Iterable<string>,
  publish: (staged: Staged) => Promise<T>,
): Promise<T> {
  await removeLeftovers(database)
  const key = await newKey(database)
  try {
    return await publish(await stage(database, lines, key))
  } catch (error) {
    // What cannot be removed now is removed as a leftover.
    await removeAll(database, key).catch(() => {})
    throw error
  }
}

/**
 * Makes what was staged a conversation; with `replaces`, in place of the one that is there: `gone`.
 *
 * @throws ByrefError `conversation_exists`
 */
export function publishStaged(
  { transaction }: Database,
  place: Place,
  { replaces = false, ...staged }: Staged & { replaces?: boolean },
): Promise<{ made: Noted; gone: Noted | null }> {
  const { key, header, position, state } = staged
  const { created, updated, title } = header
  return transaction(async (query) => {
    const gone = replaces ? await forget(query, place) : null
    await query('DELETE FROM byref.leftovers WHERE key = $1', [key])
    const { rows } = await query<Noted>(
      `WITH made AS (
         INSERT INTO byref.conversations (key, namespace, id, name, created, updated, position, imported,
           title, messages, open_run, queued, approvals, failed, agent, words)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         ON CONFLICT (namespace, id) DO NOTHING RETURNING key, namespace, id
       ) ${noticeOf('made', false)}`,
      [
        ...[key, place.namespace, place.id, title === null ? null : toPlain(title)],
        ...[created, updated, position],
        ...stateColumns(state),
        nameWords(title),
      ],
    )
    if (!rows[0]) throw existsError(place.id)
    return { made: rows[0], gone }
  })
}

function stage(
  database: Database,
  lines: AsyncIterable<string> | Iterable<string>,
  key: number,
): Promise<Staged> {
  return stageLines(lines, {
    key,
    store: (piece) => storeLines(database, key, piece),
    forget: (ids) =>
      database.transaction(async (query) => {
        const gone = await deleteMessages(query, key, ids)
        return { gone, title: await titleIn(query, key) }
      }),
  })
}

/** A key that no conversation has or will have. */
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
      throw new ByrefError('log_failed', 'The import took too long between two lines: begin again')
    }
    await query(
      `INSERT INTO byref.records (conversation, position, at, event, message, words, sum)
       SELECT $1, * FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[])`,
      [
        ...[key, records.map(({ position }) => position), records.map(({ at }) => at)],
        ...[records.map(({ json }) => json), records.map(({ event }) => messageKey(event))],
        records.map(({ event }) => wordsOf(event)),
        records.map(({ position, at, json }) => eventSum(position, json) + at),
      ],
    )
    const columns = debugColumns(debug.map(({ message, json }) => [message, json]))
    // Debug data that came with a message and those of a line of their own: the later ones are kept.
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
