import { chatText, foldCase } from '../chat-text.ts'
import type { ConversationRow } from '../conversation-row.ts'
import { CHUNK, pause } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import type { LogConnection, Statements } from './statements.ts'

/** Fewer characters than the index's trigrams have are searched for in the records themselves. */
export const TRIGRAM = 3

/**
 * Brings the texts of the records since the last search into the index. It is done here and not by appends, of which there
 * are many more than searches.
 */
export async function indexRecords({ read, write }: LogConnection): Promise<void> {
  const isBehind = (sql: Statements): boolean => sql.toIndex.get(indexed(sql), 1) !== undefined
  while (await read(isBehind)) {
    await write(indexSome)
    await pause()
  }
}

/** Text as a query of the index, every character literal. */
export function phrase(words: string): string {
  return `"${words.replaceAll('"', '""')}"`
}

/** Whether a conversation's title or one of its chat messages contains the text, by reading them. */
export async function scan(
  { read }: LogConnection,
  { key, name, title }: ConversationRow,
  words: string,
): Promise<boolean> {
  if (foldCase(name ?? title ?? '').includes(words)) return true
  for (let position = 0; ; ) {
    const rows = await read((sql) => sql.messages.all(key, position, CHUNK))
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
