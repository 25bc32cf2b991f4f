import { ByrefError } from '../core/errors.ts'
import { textStart } from '../core/json/cut.ts'
import type { AssetText } from './documents/document-text.ts'

/** A range of a text. Lines and columns count from 1. */
export interface TextRange {
  /** Default: 1. */
  startLine?: number
  /** The column in the first line, in UTF-16 units. Default: 1. */
  startColumn?: number
  /** The last line, inclusive. Default: the last of the text. */
  endLine?: number
}

/** A page of a text. */
export interface TextPage {
  text: string
  startLine: number
  endLine: number
  /** Lines of the whole text. */
  lines: number
  /** The line where the next page starts. Absent if the range ends with this page. */
  nextStartLine?: number
  /** The column where the next page starts, if it starts within a line. */
  nextStartColumn?: number
}

/**
 * Reads at most `size` UTF-16 units of the range. A page ends with a whole line, unless one line alone is longer. Holds
 * one page in memory, whatever the length of the text.
 *
 * @param lines The number of lines, if it is known. The chunks then begin with the start line, and are read only as far
 * as the page needs them.
 * @throws ByrefError `invalid_arguments` for a line after the last
 */
export async function readTextPage(
  chunks: AsyncIterable<string> | Iterable<string>,
  { startLine = 1, startColumn = 1, endLine = Infinity }: TextRange,
  size: number,
  lines?: number,
): Promise<TextPage> {
  let line = lines === undefined ? 1 : startLine
  let skip = startColumn - 1
  // One more unit than a page shows whether there is more.
  let found = ''
  for await (const chunk of chunks) {
    for (const piece of piecesOf(chunk)) {
      const endsLine = piece.endsWith('\n')
      if (line >= startLine && line <= endLine && found.length <= size) {
        const from = Math.min(skip, endsLine ? piece.length - 1 : piece.length)
        found += piece.slice(from, from + size + 1)
        skip = endsLine ? 0 : skip - from
      }
      if (endsLine) line++
    }
    if (lines !== undefined && found.length > size) break
  }
  const count = lines ?? line
  if (startLine > 1) checkLine(startLine, count)
  const range = { startLine, lines: count }
  if (found.length <= size) {
    const last = Math.min(endLine, count)
    const text = last < count && found.endsWith('\n') ? found.slice(0, -1) : found
    return { text, ...range, endLine: Math.max(last, startLine - 1) }
  }
  const newline = found.lastIndexOf('\n', size)
  if (newline >= 0) {
    const text = found.slice(0, newline)
    const last = startLine + text.split('\n').length - 1
    return { text, ...range, endLine: last, ...(last < endLine && { nextStartLine: last + 1 }) }
  }
  const text = textStart(found, size)
  const next = { nextStartLine: startLine, nextStartColumn: startColumn + text.length }
  return { text, ...range, endLine: startLine, ...next }
}

/** @throws ByrefError `invalid_arguments` for a line after the last */
function checkLine(startLine: number, lines: number): void {
  if (startLine <= lines) return
  const count = lines === 1 ? 'one line' : `${lines} lines`
  throw new ByrefError('invalid_arguments', `There is no line ${startLine}: the text has ${count}.`)
}

/** Yields the lines of a chunk with their line ends. The last one may continue in the next chunk. */
function* piecesOf(chunk: string): Generator<string> {
  for (let at = 0; at < chunk.length; ) {
    const newline = chunk.indexOf('\n', at)
    const end = newline === -1 ? chunk.length : newline + 1
    yield chunk.slice(at, end)
    at = end
  }
}

/** A part of a document's text. */
export interface DocumentPage extends TextPage {
  /** The page, from 1, on which it starts. */
  page: number
  /** Number of pages in the document; of a workbook, its sheets. */
  pages: number
  /** The first page that is not included at all. Absent on the last page, and if the part ends within a page. */
  nextPage?: number
}

/** Returns the page, from 1, of a line. */
export function pageAt(pages: readonly number[], line: number): number {
  return Math.max(1, pages.findLastIndex((start) => start <= line) + 1)
}

/**
 * Reads at most `size` UTF-16 units of a document. It returns the requested lines, or else as many whole pages from
 * `page` on as fit, or the beginning of a longer page.
 *
 * @throws ByrefError `invalid_arguments` for a page beyond the last
 */
export async function readDocumentPage(
  { text, pages }: AssetText,
  { page, ...range }: TextRange & { page?: number },
  size: number,
): Promise<DocumentPage> {
  if (page !== undefined && page > pages.length) {
    const count = pages.length === 1 ? 'one page' : `${pages.length} pages`
    throw new ByrefError(
      'invalid_arguments',
      `There is no page ${page}: the document has ${count}.`,
    )
  }
  const { startLine = pages[(page ?? 1) - 1] } = range
  const part = await readTextPage([text], { ...range, startLine }, size)
  const first = pageAt(pages, part.startLine)
  const about = { page: first, pages: pages.length }
  const { nextStartLine, nextStartColumn: _, ...whole } = part
  if (nextStartLine === undefined) return { ...part, ...about }
  const next = pageAt(pages, nextStartLine)
  // A page that does not fit is left for the next part, unless it is the only one.
  if (next === first || range.startLine !== undefined) return { ...part, ...about }
  const end = (pages[next - 1] ?? 0) - 1
  const lines = part.text.split('\n').slice(0, end - part.startLine + 1)
  return { ...whole, text: lines.join('\n').trimEnd(), endLine: end, ...about, nextPage: next }
}
