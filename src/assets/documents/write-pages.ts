// Runs in a table process: parsing a document there limits its memory and does not block the event loop.

import { ByrefError, errorMessage } from '../../core/errors.ts'
import { optionalPeer } from '../../optional-peer.ts'
import type { DocumentForm } from '../bodies/mime-type.ts'
import { createSpool } from '../tables/spool.ts'
import { TableError } from '../tables/table-error.ts'
import type { NamedFile } from '../tables/table-task.ts'
import type { WrittenTable } from '../tables/write-table.ts'
import { sheetTexts } from '../tables/xlsx-table.ts'
import { pdfPages } from './pdf-pages.ts'

/** A document in a file. */
export interface DocumentFile extends NamedFile {
  form: DocumentForm
}

/**
 * Writes each page of a document as a line of JSON.
 *
 * @throws ByrefError `asset_too_large` as soon as these are more than `most` bytes, because a small file may have endless
 * text; what {@link documentPages} throws
 */
export async function writePages(file: DocumentFile & { most: number }): Promise<WrittenTable> {
  const { name, most } = file
  const body = createSpool()
  let rows = 0
  try {
    for await (const page of documentPages(file)) {
      await body.append(Buffer.from(`${JSON.stringify(page)}\n`))
      rows++
      if (body.size > most) {
        const message = `${name} has more than ${most} bytes of text: split it, or save its text as a file.`
        throw new ByrefError('asset_too_large', message)
      }
    }
    return { columns: [], rows, body }
  } catch (error) {
    await body.dispose()
    throw error
  }
}

/**
 * Yields the text of a document, page by page. A workbook is read sheet by sheet, a DOCX file at once as Markdown.
 *
 * @throws ByrefError `dependency_missing` without the library; `asset_unsupported` for a file that cannot be read, or
 * without text
 */
export async function* documentPages({ form, name, path }: DocumentFile): AsyncGenerator<string> {
  let isEmpty = true
  try {
    for await (const page of READERS[form]({ name, path })) {
      isEmpty &&= page.replace(/^\[(?:Page|Sheet) .*\]$/m, '').trim() === ''
      yield page
    }
  } catch (error) {
    // The workbook is damaged, or its library is missing.
    if (error instanceof TableError) throw unreadable(error.message, error)
    if (error instanceof ByrefError) throw error
    throw unreadable(
      `${name} cannot be read as ${form.toUpperCase()}: ${errorMessage(error)}`,
      error,
    )
  }
  if (isEmpty) {
    throw unreadable(`${name} has no text${form === 'pdf' ? ': its pages may be pictures' : ''}.`)
  }
}

const READERS: Readonly<Record<DocumentForm, (file: NamedFile) => AsyncGenerator<string>>> = {
  pdf: pdfPages,
  docx: docxPages,
  xlsx: sheetTexts,
}

async function* docxPages({ path }: NamedFile) {
  const { convertToHtml, images } = await optionalPeer('mammoth', 'Reading DOCX files')
  // Without this, the bytes of pictures would be in the text.
  const convertImage = images.imgElement(async () => ({ src: '' }))
  const { value } = await convertToHtml({ path }, { convertImage })
  yield htmlText(value.replace(NOTE_MARK, '$1'))
}

function unreadable(message: string, cause?: unknown): ByrefError {
  return new ByrefError('asset_unsupported', message, { cause })
}

/** The number of a footnote, which is superscript only in print. */
const NOTE_MARK = /<sup>(<a [^>]*>\[\d+\]<\/a>)<\/sup>/g
const TAG = /<(\/?)([a-z][a-z0-9]*)([^>]*)>|([^<]+)/gi
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
}

/**
 * Converts simple, well-formed HTML, as mammoth makes from DOCX, to Markdown: headings, lists, links, and tables with a
 * line for each row. A cell that covers several columns or rows has its text in the first one. Text that is struck through
 * becomes `~~text~~`, and superscript and subscript keep their tags. Other styles and pictures are left out.
 */
function htmlText(html: string): string {
  const lines: string[] = []
  let line = ''
  /** The cells of the open row, and the number of open tables. */
  let cells: string[] = []
  let depth = 0
  /** The columns and rows that the open cell covers, and the number of further rows that each column is covered in. */
  let span = { columns: 1, rows: 1 }
  let covered: number[] = []
  const lists: { isOrdered: boolean; items: number }[] = []
  let link: { target: string; start: number } | null = null

  function endLine(): void {
    if (depth > 0) {
      // A cell is one line, whatever it contains.
      if (line !== '' && !line.endsWith(' ')) line += ' '
      return
    }
    if (line.trim() !== '') lines.push(line.trimEnd(), ...(lists.length > 0 ? [] : ['']))
    line = ''
  }

  function skipCovered(): void {
    for (let rows = covered[cells.length]; rows; rows = covered[cells.length]) {
      covered[cells.length] = rows - 1
      cells.push('')
    }
  }

  function open(tag: string, attributes: string): void {
    if (tag === 'table' && depth === 0) {
      endLine()
      covered = []
    }
    if (tag === 'table') depth++
    else if (depth === 1 && /^t[dh]$/.test(tag)) {
      span = { columns: spanOf('colspan', attributes), rows: spanOf('rowspan', attributes) }
    } else if (tag === 'a') {
      const target = decoded(/href="([^"#][^"]*)"/.exec(attributes)?.[1] ?? '')
      link = target ? { target, start: line.length } : null
    } else if (tag === 'br') line += depth > 0 ? ' ' : '\n'
    else if (tag === 's') line += '~~'
    else if (/^su[bp]$/.test(tag)) line += `<${tag}>`
    else if (depth > 0) return
    else if (/^h[1-6]$/.test(tag)) line += `${'#'.repeat(Number(tag[1]))} `
    else if (tag === 'ul' || tag === 'ol') {
      endLine()
      lists.push({ isOrdered: tag === 'ol', items: 0 })
    } else if (tag === 'li') {
      const list = lists.at(-1)
      if (list)
        line += `${'  '.repeat(lists.length - 1)}${list.isOrdered ? `${++list.items}.` : '-'} `
    }
  }

  function close(tag: string): void {
    if (tag === 'a' && link) {
      const text = line.slice(link.start)
      if (text !== link.target) line = `${line.slice(0, link.start)}[${text}](${link.target})`
      link = null
    } else if (tag === 's') line += '~~'
    else if (/^su[bp]$/.test(tag)) line += `</${tag}>`
    else if (/^(p|h[1-6]|li)$/.test(tag)) endLine()
    else if (tag === 'ul' || tag === 'ol') {
      endLine()
      lists.pop()
      if (lists.length === 0 && depth === 0) lines.push('')
    } else if (tag === 'table' && --depth === 0) lines.push('')
    // A table inside a cell is part of the cell's text.
    else if (depth === 1 && /^t[dh]$/.test(tag)) {
      skipCovered()
      for (let column = 0; column < span.columns; column++) {
        covered[cells.length] = span.rows - 1
        cells.push(column > 0 ? '' : line.trim().replaceAll('|', '\\|').replace(/\s+/g, ' '))
      }
      line = ''
    } else if (depth === 1 && tag === 'tr') {
      skipCovered()
      lines.push(`| ${cells.join(' | ')} |`)
      cells = []
    }
  }

  for (const [, slash, tag, attributes, text] of html.matchAll(TAG)) {
    if (text !== undefined) line += decoded(text)
    else if (slash) close((tag ?? '').toLowerCase())
    else open((tag ?? '').toLowerCase(), attributes ?? '')
  }
  endLine()
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
}

/** Returns the number of columns or rows that a cell covers. A file may state any number. */
function spanOf(name: string, attributes: string): number {
  const stated = new RegExp(`${name}="(\\d+)"`).exec(attributes)?.[1]
  return Math.min(1_000, Math.max(1, Number(stated ?? 1)))
}

function decoded(text: string): string {
  return text.replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
