import { ByrefError } from '../core/errors.ts'
import type { AssetText } from './documents/document-text.ts'

/** Which part of a text; lines and columns count from 1. */
export interface TextRange {
  /** Default: 1. */
  startLine?: number
  /** Where in its first line it starts, in UTF-16 units. Default: 1. */
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
  /** Where the next page starts; absent where the range ends with this one. */
  nextStartLine?: number
  /** Only where the next page starts within a line. */
  nextStartColumn?: number
}

/**
 * At most `size` UTF-16 units of the range. A page ends with a whole line, unless one line alone is longer. Holds no more
 * than a page, however long the text.
 */
export async function readTextPage(
  chunks: AsyncIterable<string> | Iterable<string>,
  { startLine = 1, startColumn = 1, endLine = Infinity }: TextRange,
  size: number,
): Promise<TextPage> {
  let line = 1
  let skip = startColumn - 1
  // One unit more than a page tells that there is more.
  let found = ''
  for await (const chunk of chunks) {
    for (const piece of piecesOf(chunk)) {
      const endsLine = piece.endsWith('\n')
      if (line >= startLine && line <= endLine && found.length <= size) {
        found += piece.slice(skip, skip + size + 1)
        skip = endsLine ? 0 : Math.max(0, skip - piece.length)
      }
      if (endsLine) line++
    }
  }
  const range = { startLine, lines: line }
  if (found.length <= size) {
    const last = Math.min(endLine, line)
    const text = last < line && found.endsWith('\n') ? found.slice(0, -1) : found
    return { text, ...range, endLine: Math.max(last, startLine - 1) }
  }
  const newline = found.lastIndexOf('\n', size)
  if (newline >= 0) {
    const text = found.slice(0, newline)
    const last = startLine + text.split('\n').length - 1
    return { text, ...range, endLine: last, ...(last < endLine && { nextStartLine: last + 1 }) }
  }
  const text = withoutHalf(found.slice(0, size))
  const next = { nextStartLine: startLine, nextStartColumn: startColumn + text.length }
  return { text, ...range, endLine: startLine, ...next }
}

/** The lines of a chunk with their ends; the last one may go on in the next chunk. */
function* piecesOf(chunk: string): Generator<string> {
  for (let at = 0; at < chunk.length; ) {
    const newline = chunk.indexOf('\n', at)
    const end = newline === -1 ? chunk.length : newline + 1
    yield chunk.slice(at, end)
    at = end
  }
}

/** The text without the first half of a surrogate pair at its end. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text
}

/** A part of a document's text. */
export interface DocumentPage extends TextPage {
  /** The page, from 1, on which it starts. */
  page: number
  /** Pages of the whole document; of a workbook its sheets. */
  pages: number
  /** The first page of which nothing is here; absent on the last, and where the part ends within a page. */
  nextPage?: number
}

/** The page, from 1, that a line belongs to. */
export function pageAt(pages: readonly number[], line: number): number {
  return Math.max(1, pages.findLastIndex((start) => start <= line) + 1)
}

/**
 * At most `size` UTF-16 units of a document: the lines that are asked for, else whole pages from `page` on, as many as fit,
 * or the beginning of one that is longer.
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
  // A page that does not fit any more is left to the next part, unless it is the only one.
  if (next === first || range.startLine !== undefined) return { ...part, ...about }
  const end = (pages[next - 1] ?? 0) - 1
  const lines = part.text.split('\n').slice(0, end - part.startLine + 1)
  return { ...whole, text: lines.join('\n').trimEnd(), endLine: end, ...about, nextPage: next }
}
