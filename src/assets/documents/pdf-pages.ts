import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { optionalPeer } from '../../optional-peer.ts'
import type { NamedFile } from '../tables/table-task.ts'

const { readFile } = nodeBuiltin('node:fs/promises')

/**
 * Yields the text of each page after a line with its number, what people entered into the fields of its form, and the
 * targets of its links.
 *
 * @throws ByrefError `dependency_missing` without the library; `asset_unsupported` if no text can be read because its
 * fonts need character maps
 */
export async function* pdfPages({ name, path }: NamedFile) {
  const { getDocumentProxy } = await optionalPeer('unpdf', 'Reading PDF files')
  /** The character maps that fonts of the pages read so far need. */
  const missing = new Set<string>()
  const pdf = await getDocumentProxy(new Uint8Array(await readFile(path)), {
    // Suppresses the library's warnings about a file.
    verbosity: 0,
    ...withoutMaps(missing),
  })
  const { numPages } = pdf
  let isEmpty = true
  for (let number = 1; number <= numPages; number++) {
    const known = missing.size
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const annotations: readonly Annotation[] = await page.getAnnotations()
    page.cleanup()
    const words = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    const written = `${words.join('').trimEnd()}${enteredIn(annotations)}`
    const text = written + linksIn(annotations, written)
    isEmpty &&= text.trim() === ''
    const note = missing.size > known ? `\n[Text is missing here. ${reasonOf(missing)}]` : ''
    yield `[Page ${number} of ${numPages}]\n${text}${note}`
  }
  await pdf.loadingTask.destroy()
  if (isEmpty && missing.size > 0) {
    throw new ByrefError(
      'asset_unsupported',
      `The text of ${name} cannot be read. ${reasonOf(missing)}`,
    )
  }
}

function reasonOf(missing: ReadonlySet<string>): string {
  return `Its fonts need character maps that are not available: ${[...missing].join(', ')}.`
}

/**
 * Options that collect the names of character maps. The library has none of the maps that fonts for Chinese, Japanese and
 * Korean may need, and leaves out the text of these fonts.
 */
function withoutMaps(missing: Set<string>): object {
  class NoMaps {
    async fetch({ kind, filename, name }: { kind?: string; filename?: string; name?: string }) {
      if (kind === 'cMapUrl' || name) missing.add((filename ?? name ?? '').replace(/\.bcmap$/, ''))
      throw new Error('This file is not available.')
    }
  }
  // Versions of the library differ in the name of the option.
  return { BinaryDataFactory: NoMaps, CMapReaderFactory: NoMaps }
}

type Annotation = Readonly<Record<string, unknown>>

/** Returns a line for each field that has a value: `name: value`. */
function enteredIn(annotations: readonly Annotation[]): string {
  const values = new Map<string, string>()
  for (const { subtype, fieldName, fieldValue, hidden, password } of annotations) {
    if (subtype !== 'Widget' || typeof fieldName !== 'string' || hidden || password) continue
    const value = [fieldValue ?? ''].flat().join(', ').replace(/\r\n?/g, '\n')
    if (value !== '') values.set(fieldName, value)
  }
  return [...values].map(([name, value]) => `\n${name}: ${value}`).join('')
}

/** Returns a line for each target of a link that the text does not contain: `Link: https://…`. */
function linksIn(annotations: readonly Annotation[], text: string): string {
  const targets = annotations.flatMap(({ subtype, url }) =>
    subtype === 'Link' && typeof url === 'string' && !text.includes(url) ? [url] : [],
  )
  return [...new Set(targets)].map((url) => `\nLink: ${url}`).join('')
}
