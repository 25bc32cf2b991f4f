import type { Database, Query } from '../../postgres/database.ts'
import { toPlain } from '../../postgres/plain-text.ts'
import { checkPage, parseCursor, possibleId } from '../check-arguments.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import { type ConversationRow, type Place, pageOf, summaryOfRow } from '../conversation-row.ts'
import { foldCase } from '../summary.ts'

/** A row of the conversations, and the time of the database. */
export interface TimedRow extends ConversationRow {
  now: number
}

/** The database's time in milliseconds since 1970. Compare with it in a subquery, or no index is used. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The columns of {@link ConversationRow}. */
export const COLUMNS = `key, namespace, id, name, created, updated, position, state,
  lease_owner, lease_until, imported, damage`

const FIND = `SELECT ${COLUMNS}, ${NOW} AS now FROM byref.conversations WHERE namespace = $1 AND id = $2`

// The time is read after the lock is held.
const LOCK = `WITH locked AS MATERIALIZED (
    SELECT ${COLUMNS} FROM byref.conversations WHERE namespace = $1 AND id = $2 FOR UPDATE
  ) SELECT ${COLUMNS}, ${NOW} AS now FROM locked`

const CREATE = `INSERT INTO byref.conversations (namespace, id, created, updated)
  SELECT $1, $2, now, now FROM (SELECT ${NOW} AS now) AS clock
  ON CONFLICT (namespace, id) DO NOTHING RETURNING ${COLUMNS}, ${NOW} AS now`

/** Returns the row of a conversation, or null. */
export function findRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, FIND, place)
}

/** Returns the row of a conversation, locked until the end of the transaction, or null. */
export function lockRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, LOCK, place)
}

/** Creates the row of a conversation, locked until the end of the transaction; null if it exists. */
export function createRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, CREATE, place)
}

async function firstRow(
  query: Query,
  sql: string,
  { namespace, id }: Place,
): Promise<TimedRow | null> {
  const { rows } = await query<TimedRow>(sql, [namespace, id])
  return rows[0] ?? null
}

/** Shorter searches cannot use the trigram index, and read the texts. */
const TRIGRAM = 3
const DUE = 'due = 1 AND damage IS NULL'

/** One page of a list of conversations. The namespace '' means none. */
export async function listConversations(
  { query }: Database,
  namespace: string,
  { options, hasTrigrams }: { options: ListOptions; hasTrigrams: () => Promise<boolean> },
): Promise<{ conversations: ConversationSummary[]; next: string | null }> {
  const { cursor, due, search, allNamespaces, branchesOf } = options
  const limit = checkPage(options.limit ?? 50)
  const place = cursor ? parseCursor(cursor) : null
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const conditions = [
    ...(allNamespaces ? [] : [`namespace = ${value(namespace)}`]),
    ...(due ? [DUE] : []),
    ...(due === 'abandoned' ? [`lease_owner IS NOT NULL AND lease_until <= (SELECT ${NOW})`] : []),
    ...(branchesOf === undefined ? [] : [inFamily(value, branchesOf)]),
    ...(place ? [`(updated, key) < (${value(place.updated)}, ${value(place.key)})`] : []),
    ...(search ? [await found(search, value, hasTrigrams)] : []),
  ]
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const { rows } = await query<TimedRow>(
    `SELECT ${COLUMNS}, ${NOW} AS now FROM byref.conversations c ${where}
     ORDER BY updated DESC, key DESC LIMIT ${value(limit + 1)}`,
    values,
  )
  const { items, next } = pageOf(rows, limit, (row) => summaryOfRow(row, row.now))
  return { conversations: items, next }
}

/** Returns the condition that a conversation is this one or a branch of it. */
function inFamily(value: (given: unknown) => string, id: string): string {
  return `(id = ${value(possibleId(id))} OR root = ${value(toPlain(id))})`
}

/**
 * Returns the condition that a title or a message contains the text. It uses an index if there is one, and otherwise
 * reads the texts.
 */
async function found(
  search: string,
  value: (given: unknown) => string,
  hasTrigrams: () => Promise<boolean>,
): Promise<string> {
  const words = foldCase(search)
  const pattern = value(`%${words.replace(/[\\%_]/g, '\\$&')}%`)
  if ([...words].length >= TRIGRAM && (await hasTrigrams())) {
    return `key IN (SELECT conversation FROM byref.records WHERE words LIKE ${pattern}
      UNION ALL SELECT key FROM byref.conversations WHERE words LIKE ${pattern})`
  }
  return `(words LIKE ${pattern} OR EXISTS
    (SELECT 1 FROM byref.records r WHERE r.conversation = c.key AND r.words LIKE ${pattern}))`
}
