import { checkPage, type ListPlace, parseCursor, possibleId } from '../check-arguments.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import { type ConversationRow, pageOf, summaryOfRow, titleOfRow } from '../conversation-row.ts'
import { CHUNK, pause } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import { chatText, foldCase } from '../summary.ts'
import { type LogConnection, rowsOf, type Statements } from './statements.ts'

/** A query for conversations. */
interface Query {
  namespace: string
  options: ListOptions
  /** Folded text to find in the index, or null. */
  words: string | null
  size: number
}

/** One page of a list of conversations. The namespace '' means none. */
export async function listConversations(
  connection: LogConnection,
  namespace: string,
  options: ListOptions,
): Promise<{ conversations: ConversationSummary[]; next: string | null }> {
  const limit = checkPage(options.limit ?? 50)
  const place = options.cursor ? parseCursor(options.cursor) : null
  const words = options.search ? foldCase(options.search) : null
  const isShort = words !== null && [...words].length < TRIGRAM
  if (words !== null && !isShort) await indexRecords(connection)
  const query = { namespace, options, words: isShort ? null : words, size: limit + 1 }
  const rows = isShort
    ? await scanRows(connection, { ...query, size: 100 }, { place, words, size: limit + 1 })
    : await readRows(connection, query, place)
  const now = Date.now()
  const { items, next } = pageOf(rows, limit, (row) => summaryOfRow(row, now))
  return { conversations: items, next }
}

async function scanRows(
  connection: LogConnection,
  query: Query,
  { place, words, size }: { place: ListPlace | null; words: string; size: number },
): Promise<ConversationRow[]> {
  const found: ConversationRow[] = []
  for (let after = place; ; ) {
    const rows = await readRows(connection, query, after)
    for (const row of rows) {
      if (await scan(connection, row, words)) found.push(row)
      if (found.length === size) return found
    }
    if (rows.length < query.size) return found
    after = rows.at(-1) ?? null
  }
}

function readRows(
  { read }: LogConnection,
  { namespace, options, words, size }: Query,
  place: ListPlace | null,
): Promise<ConversationRow[]> {
  const conditions: string[] = []
  const values: (string | number)[] = []
  const where = (condition: string, ...used: (string | number)[]): void => {
    conditions.push(condition)
    values.push(...used)
  }
  if (!options.allNamespaces) where('namespace = ?', namespace)
  if (options.due) where('due = 1 AND damage IS NULL')
  if (options.due === 'abandoned') where('lease_until <= ?', Date.now())
  if (options.branchesOf !== undefined) {
    const id = possibleId(options.branchesOf)
    where('(id = ? OR root = ?)', id, id)
  }
  if (place) where('(updated, key) < (?, ?)', place.updated, place.key)
  if (words !== null) where(`key IN (${FOUND})`, phrase(words))
  const all = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const index = options.due ? 'INDEXED BY conversations_due' : ''
  const sql = `SELECT * FROM conversations ${index} ${all} ORDER BY updated DESC, key DESC LIMIT ?`
  return read(({ other }) => rowsOf<ConversationRow>(other(sql).all(...values, size)))
}

/** The keys of the conversations that the index finds. */
const FOUND = `SELECT CASE WHEN rowid & 1 THEN rowid >> 1
  ELSE (SELECT conversation FROM records WHERE id = search.rowid >> 1) END
  FROM search WHERE search MATCH ?`

/** Shorter searches cannot use the trigram index, and read the records. */
const TRIGRAM = 3

/**
 * Indexes the texts of the records since the last search. Searches do it and not appends, because there are many more
 * appends.
 */
async function indexRecords({ read, write }: LogConnection): Promise<void> {
  const isBehind = (sql: Statements): boolean => sql.toIndex.get(indexed(sql), 1) !== undefined
  while (await read(isBehind)) {
    await write(indexSome)
    await pause()
  }
}

/** Text as a query of the index, every character literal. */
function phrase(words: string): string {
  return `"${words.replaceAll('"', '""')}"`
}

/** Returns whether a conversation's title or one of its chat messages contains the text, by reading them. */
async function scan(
  { read }: LogConnection,
  row: ConversationRow,
  words: string,
): Promise<boolean> {
  if (foldCase(titleOfRow(row) ?? '').includes(words)) return true
  for (let position = 0; ; ) {
    const rows = await read((sql) => sql.messages.all(row.key, position, CHUNK))
    if (rows.some(({ event }) => foldedText(event)?.includes(words))) return true
    if (rows.length < CHUNK) return false
    position = Number(rows.at(-1)?.position)
    await pause()
  }
}

function indexSome(sql: Statements): void {
  const rows = sql.toIndex.all(indexed(sql), CHUNK)
  for (const { id, event, deleted } of rows) {
    const text = deleted ? null : foldedText(event)
    if (text) sql.index.run(2 * Number(id), text)
  }
  const last = rows.at(-1)
  if (last) sql.setIndexed.run(Number(last.id))
}

function indexed(sql: Statements): number {
  return Number(sql.indexed.get()?.indexed)
}

function foldedText(json: unknown): string | null {
  const event = eventIn(json)
  const text = event && chatText(event)
  return text === null ? null : foldCase(text)
}
