// Runs in a table process: a document is parsed where its memory is limited and nobody waits for it.

import { readFile } from 'node:fs/promises'
import { ByrefError, errorMessage } from '../../errors.ts'
import { createSpool } from '../tables/spool.ts'
import { TableError } from '../tables/table-error.ts'
import type { WrittenTable } from '../tables/write-table.ts'
import { sheetTexts } from '../tables/xlsx-table.ts'
import type { DocumentForm } from './document-form.ts'
import { htmlText } from './html-text.ts'

/** A document, as a file. */
export interface DocumentFile {
  form: DocumentForm
  name: string
  path: string
}

/** Loads the libraries; tests leave one out. */
export interface DocumentLibraries {
  pdf(): Promise<typeof import('unpdf')>
  docx(): Promise<typeof import('mammoth')>
}

const LIBRARIES: DocumentLibraries = {
  pdf: () => import('unpdf'),
  docx: () => import('mammoth'),
}

/** The library's warnings about a file are not for the log. */
const QUIET = { verbosity: 0 }

/** Writes the pages of a document, each as a line of JSON. */
export async function writePages(file: DocumentFile): Promise<WrittenTable> {
  const body = createSpool()
  let rows = 0
  try {
    for await (const page of documentPages(file)) {
      await body.append(Buffer.from(`${JSON.stringify(page)}\n`))
      rows++
    }
    return { columns: [], rows, body }
  } catch (error) {
    await body.dispose()
    throw error
  }
}

/**
 * The text of a document, page by page: of a workbook sheet by sheet, of a DOCX all of it as Markdown.
 *
 * @throws ByrefError `dependency_missing` without the library; `asset_unsupported` for a file that cannot be read, or that
 *   has no text
 */
export async function* documentPages(
  { form, name, path }: DocumentFile,
  libraries: DocumentLibraries = LIBRARIES,
): AsyncGenerator<string> {
  let isEmpty = true
  try {
    for await (const page of READERS[form]({ name, path }, libraries)) {
      isEmpty &&= page.replace(/^\[(?:Page|Sheet) .*\]$/m, '').trim() === ''
      yield page
    }
  } catch (error) {
    // A workbook without its library, or damaged.
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

type PageReader = (
  file: Pick<DocumentFile, 'name' | 'path'>,
  libraries: DocumentLibraries,
) => AsyncGenerator<string>

const READERS: Readonly<Record<DocumentForm, PageReader>> = {
  pdf: pdfPages,
  docx: docxPages,
  xlsx: sheetTexts,
}

async function* pdfPages({ path }: { path: string }, { pdf: load }: DocumentLibraries) {
  const { getDocumentProxy } = await library(load, { form: 'a PDF', name: 'unpdf' })
  const pdf = await getDocumentProxy(new Uint8Array(await readFile(path)), QUIET)
  const { numPages } = pdf
  for (let number = 1; number <= numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    page.cleanup()
    const words = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    yield `[Page ${number} of ${numPages}]\n${words.join('').trimEnd()}`
  }
  await pdf.loadingTask.destroy()
}

async function* docxPages({ path }: { path: string }, { docx: load }: DocumentLibraries) {
  const { convertToHtml, images } = await library(load, { form: 'a DOCX', name: 'mammoth' })
  // A picture is not text, and its bytes would be.
  const convertImage = images.imgElement(async () => ({ src: '' }))
  const { value } = await convertToHtml({ path }, { convertImage })
  yield htmlText(value)
}

async function library<T>(
  load: () => Promise<T>,
  { form, name }: { form: string; name: string },
): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw new ByrefError(
      'dependency_missing',
      `The text of ${form} is read by ${name}, which is not installed: npm install ${name}`,
      { cause },
    )
  }
}

function unreadable(message: string, cause?: unknown): ByrefError {
  return new ByrefError('asset_unsupported', message, { cause })
}
