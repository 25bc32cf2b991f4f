import type { ListPlace } from '../check-arguments.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import {
  type ConversationsQuery,
  conversationsPage,
  readConversations,
  type TimedRow,
} from '../conversation-query.ts'
import { type ConversationRow, titleOfRow } from '../conversation-row.ts'
import { CHUNK, pause } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import { chatText, foldCase } from '../summary.ts'
import { type LogConnection, rowReader, type Statements } from './statements.ts'

/** Returns one page of a list of conversations. The namespace '' means none. */
export async function listConversations(
  connection: LogConnection,
  namespace: string,
  options: ListOptions,
): Promise<{ conversations: ConversationSummary[]; next: string | null }> {
  const words = options.search ? foldCase(options.search) : null
  const query: ConversationsQuery = { namespace, options, matches: null }
  if (words !== null && [...words].length < TRIGRAM) {
    return conversationsPage(options, (page) => scanRows(connection, query, { ...page, words }))
  }
  if (words !== null) {
    await indexRecords(connection)
    query.matches = (value) => `key IN (${FOUND} ${value(phrase(words))})`
  }
  return conversationsPage(options, (page) => readConversations(rowReader(connection), query, page))
}

/** Maximum number of conversations that a search for a short text reads at once. */
const SCANNED = 100

async function scanRows(
  connection: LogConnection,
  query: ConversationsQuery,
  { after, size, words }: { after: ListPlace | null; size: number; words: string },
): Promise<TimedRow[]> {
  const found: TimedRow[] = []
  for (let last = after; ; ) {
    const page = { after: last, size: SCANNED }
    const rows = await readConversations(rowReader(connection), query, page)
    for (const row of rows) {
      if (await scan(connection, row, words)) found.push(row)
      if (found.length === size) return found
    }
    if (rows.length < SCANNED) return found
    last = rows.at(-1) ?? null
  }
}

/** The keys of the conversations that the index finds. */
const FOUND = `SELECT CASE WHEN rowid & 1 THEN rowid >> 1
  ELSE (SELECT conversation FROM records WHERE id = search.rowid >> 1) END
  FROM search WHERE search MATCH`

/** Shorter searches cannot use the trigram index, and read the records. */
const TRIGRAM = 3

/**
 * Indexes the texts of the records since the last search. Searches do this instead of appends, because there are many
 * more appends.
 */
async function indexRecords({ read, write }: LogConnection): Promise<void> {
  const isBehind = (sql: Statements): boolean => sql.toIndex.get(indexed(sql), 1) !== undefined
  while (await read(isBehind)) {
    await write(indexSome)
    await pause()
  }
}

/** Returns a text as a query of the index in which every character is literal. */
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
