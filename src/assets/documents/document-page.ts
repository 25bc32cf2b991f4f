import { ByrefError } from '../../core/errors.ts'
import { readTextPage, type TextPage, type TextRange } from '../text-page.ts'
import type { AssetText } from './document-text.ts'

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
