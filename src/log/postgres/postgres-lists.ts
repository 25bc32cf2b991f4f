import type { Database } from '../../postgres/database.ts'
import { toPlain } from '../../postgres/plain-text.ts'
import { checkPage, parseCursor } from '../check-arguments.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import { pageOf, summaryOfRow } from '../conversation-row.ts'
import { foldCase } from '../summary.ts'
import { COLUMNS, decodeRow, NOW, type TimedRow } from './conversation-rows.ts'

/** Shorter searches cannot use the trigram index, and read the texts. */
const TRIGRAM = 3
const DUE = '(open_run IS NOT NULL OR queued IS NOT NULL) AND damage IS NULL'

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
  const { items, next } = pageOf(rows, limit, (row) => summaryOfRow(decodeRow(row), row.now))
  return { conversations: items, next }
}

/** Returns the condition that a conversation is this one or a branch of it. */
function inFamily(value: (given: unknown) => string, id: string): string {
  return `(id = ${value(id)} OR root = ${value(toPlain(id))})`
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
