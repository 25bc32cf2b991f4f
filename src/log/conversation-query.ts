import { checkPage, type ListPlace, pageOf, parseCursor, possibleId } from './check-arguments.ts'
import type { ConversationSummary, ListOptions } from './conversation-log.ts'
import { type ConversationRow, summaryOfRow } from './conversation-row.ts'
import { toPlain } from './plain-text.ts'

/** The parts in which the statements of the two databases differ. */
export interface QueryDialect {
  /** Adds a value of the statement. Returns its placeholder. */
  value(given: string | number): string
  /** The SQL function that finds a text in another. */
  find: 'instr' | 'strpos'
  /** The prefix of table names. */
  schema: '' | 'byref.'
  /** Returns an SQL expression for the time in milliseconds. */
  now(): string
  /** The clause that makes a query of due conversations use their index. */
  useDueIndex: 'INDEXED BY conversations_due' | ''
}

/** Runs a statement, in the dialect of the database, and returns its rows. */
export type ReadRows = <Row extends object>(
  sqlOf: (dialect: QueryDialect) => string,
) => Promise<Row[]>

/** A row of the table of conversations, with the database's time. */
export interface TimedRow extends ConversationRow {
  now: number
}

/** Which conversations to list. The namespace '' means none. */
export interface ConversationsQuery {
  namespace: string
  options: ListOptions
  /** Returns the condition that a conversation contains the searched text; null without a search. */
  matches: ((value: QueryDialect['value']) => string) | null
}

/** Reads at most `size` conversations after a place, last changed first. */
export function readConversations(
  read: ReadRows,
  { namespace, options, matches }: ConversationsQuery,
  { after, size }: { after: ListPlace | null; size: number },
): Promise<TimedRow[]> {
  const { due, allNamespaces, branchesOf: root } = options
  return read(({ value, schema, now, useDueIndex }) => {
    const conditions = [
      ...(allNamespaces ? [] : [`namespace = ${value(namespace)}`]),
      ...(due ? ['due = 1 AND damage IS NULL'] : []),
      ...(due === 'abandoned' ? [`lease_owner IS NOT NULL AND lease_until <= ${now()}`] : []),
      ...(root === undefined
        ? []
        : [`(id = ${value(possibleId(root))} OR root = ${value(toPlain(root))})`]),
      ...(after ? [`(updated, key) < (${value(after.updated)}, ${value(after.key)})`] : []),
      ...(matches ? [matches(value)] : []),
    ]
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    return `SELECT c.*, ${now()} AS now FROM ${schema}conversations c ${due ? useDueIndex : ''} ${where}
      ORDER BY updated DESC, key DESC LIMIT ${value(size)}`
  })
}

/** Returns the page that the options ask for. `read` reads one more row, to find out whether another page follows. */
export async function conversationsPage(
  { limit = 50, cursor }: ListOptions,
  read: (page: { after: ListPlace | null; size: number }) => Promise<TimedRow[]>,
): Promise<{ conversations: ConversationSummary[]; next: string | null }> {
  const most = checkPage(limit)
  const rows = await read({ after: cursor ? parseCursor(cursor) : null, size: most + 1 })
  const { items, next } = pageOf(rows, most, (row) => summaryOfRow(row, row.now))
  return { conversations: items, next }
}
