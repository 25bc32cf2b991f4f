import type { Database, Query } from '../../postgres/database.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import {
  conversationsPage,
  type QueryDialect,
  type ReadRows,
  readConversations,
  type TimedRow,
} from '../conversation-query.ts'
import type { Place } from '../conversation-row.ts'
import { foldCase } from '../summary.ts'

/**
 * The database's time in milliseconds since 1970. Compare with it in a subquery, because otherwise no index is used.
 */
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

/** Reads the rows of statements that are composed at run time. */
export function rowReader({ query }: Database): ReadRows {
  return async <Row extends object>(sqlOf: (dialect: QueryDialect) => string): Promise<Row[]> => {
    const values: unknown[] = []
    const value = (given: unknown): string => `$${values.push(given)}`
    const now = () => `(SELECT ${NOW})`
    const sql = sqlOf({ value, find: 'strpos', schema: 'byref.', now, useDueIndex: '' })
    return (await query<Row>(sql, values)).rows
  }
}

/** Shorter searches cannot use the trigram index, and read the texts. */
const TRIGRAM = 3

/** Returns one page of a list of conversations. The namespace '' means none. */
export async function listConversations(
  database: Database,
  namespace: string,
  { options, hasTrigrams }: { options: ListOptions; hasTrigrams: () => Promise<boolean> },
): Promise<{ conversations: ConversationSummary[]; next: string | null }> {
  const words = foldCase(options.search ?? '')
  const isIndexed = [...words].length >= TRIGRAM && (await hasTrigrams())
  const matches =
    words === ''
      ? null
      : (value: QueryDialect['value']) => {
          const pattern = value(`%${words.replace(/[\\%_]/g, '\\$&')}%`)
          return isIndexed ? inIndex(pattern) : inTexts(pattern)
        }
  return conversationsPage(options, (page) =>
    readConversations(rowReader(database), { namespace, options, matches }, page),
  )
}

function inIndex(pattern: string): string {
  return `key IN (SELECT conversation FROM byref.records WHERE words LIKE ${pattern}
    UNION ALL SELECT key FROM byref.conversations WHERE words LIKE ${pattern})`
}

function inTexts(pattern: string): string {
  return `(words LIKE ${pattern} OR EXISTS
    (SELECT 1 FROM byref.records r WHERE r.conversation = c.key AND r.words LIKE ${pattern}))`
}
