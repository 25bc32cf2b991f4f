import { optionalLibrary } from './optional-library.ts'

/** The words of a document, or why there are none. */
export type DocumentText =
  /** `rest` says what was left out; null where nothing was. */
  { type: 'text'; text: string; rest: string | null } | { type: 'failed'; why: string }

/** What the library says of a file that is not as it should be is nobody's to read. */
const QUIET = { verbosity: 0 }

/** The text of a PDF, page by page until there are enough characters, by `unpdf`. */
export async function pdfText(
  bytes: Uint8Array,
  maxChars: number,
  load: () => Promise<typeof import('unpdf')> = () => import('unpdf'),
): Promise<DocumentText> {
  const library = await optionalLibrary(load)
  if (!library) return failed('with unpdf its text would be: npm install unpdf')
  try {
    // The library takes the bytes away from whoever gives them.
    const pdf = await library.getDocumentProxy(bytes.slice(), QUIET)
    const { numPages } = pdf
    let text = ''
    let page = 0
    while (page < numPages && text.length <= maxChars) {
      const { items } = await (await pdf.getPage(++page)).getTextContent()
      const words = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
      text += `${page > 1 ? '\n\n' : ''}${words.join('')}`
    }
    await pdf.loadingTask.destroy()
    if (text.trim() === '') return failed('the model takes none, and it has no text')
    const isCut = page < numPages || text.length > maxChars
    return {
      type: 'text',
      ...cut(text, maxChars),
      rest: isCut ? `page ${page} of ${numPages}` : null,
    }
  } catch (error) {
    return failed(`it is no PDF that can be read (${lineOf(error)})`)
  }
}

/** How many pages a PDF has, by `unpdf`; without it as many as can be seen. Null where it is not a PDF. */
export async function pdfPages(
  bytes: Uint8Array,
  load: () => Promise<typeof import('unpdf')> = () => import('unpdf'),
): Promise<number | null> {
  const library = await optionalLibrary(load)
  if (!library)
    return (
      Buffer.from(bytes)
        .toString('latin1')
        .split(/\/Type\s*\/Page\b/).length - 1
    )
  try {
    const pdf = await library.getDocumentProxy(bytes.slice(), QUIET)
    const { numPages } = pdf
    await pdf.loadingTask.destroy()
    return numPages
  } catch {
    return null
  }
}

/** The text of a DOCX, by `mammoth`. */
export async function docxText(
  bytes: Uint8Array,
  maxChars: number,
  load: () => Promise<typeof import('mammoth')> = () => import('mammoth'),
): Promise<DocumentText> {
  const library = await optionalLibrary(load)
  if (!library) return failed('with mammoth its text would be: npm install mammoth')
  try {
    const { value } = await library.extractRawText({ buffer: Buffer.from(bytes) })
    if (value.trim() === '') return failed('it has no text')
    return { type: 'text', ...cut(value, maxChars), rest: restOf(value.length, maxChars) }
  } catch (error) {
    return failed(`it is no DOCX that can be read (${lineOf(error)})`)
  }
}

/** The beginning of a text of at most so many characters, never half of one. */
export function cut(text: string, maxChars: number): { text: string } {
  return {
    text: text.length > maxChars ? text.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '') : text,
  }
}

function restOf(length: number, maxChars: number): string | null {
  return length > maxChars ? `${maxChars} of ${length} characters` : null
}

function failed(why: string): DocumentText {
  return { type: 'failed', why }
}

function lineOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''
}
