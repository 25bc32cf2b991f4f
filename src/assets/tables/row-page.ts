import type { TextPage, TextRange } from '../text-page.ts'
import { jsonLine } from './json-line.ts'
import type { TableRows } from './table-rows.ts'

/**
 * At most `size` UTF-16 units of a table as text, of which line N is the row N - 1 as JSON. A page ends with a whole row,
 * unless one alone is longer. Only the rows of the page are read.
 */
export async function readRowPage(
  rows: TableRows,
  { startLine = 1, startColumn = 1, endLine = Infinity }: TextRange,
  size: number,
): Promise<TextPage> {
  const lines = rows.count
  const last = Math.min(endLine, lines)
  const texts: string[] = []
  let length = 0
  let skip = startColumn - 1
  for await (const row of rows.select({ start: startLine - 1, end: last })) {
    const text = jsonLine(row).slice(skip)
    if (texts.length === 0 && text.length > size) {
      const next = { nextStartLine: startLine, nextStartColumn: skip + size + 1 }
      return { text: text.slice(0, size), startLine, endLine: startLine, lines, ...next }
    }
    length += text.length + 1
    if (length > size + 1) break
    texts.push(text)
    skip = 0
  }
  const end = startLine + texts.length - 1
  const more = end < last && texts.length > 0 && { nextStartLine: end + 1 }
  return { text: texts.join('\n'), startLine, endLine: end, lines, ...more }
}
