import { ByrefError } from '../../core/errors.ts'
import { unlessAborted } from '../../core/on-abort.ts'
import { type AssetRefParts, formatAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import type { FieldKey } from '../../core/refs/field-key.ts'
import type { Assets } from '../assets-contract.ts'
import { documentForm, isJsonType } from '../bodies/mime-type.ts'
import { textOfBody } from '../bodies/sniff.ts'
import { textIn } from '../bodies/text-encoding.ts'
import { NotJsonError } from '../json/json-walker.ts'
import { isRows, jsonLine } from '../tables/table-facts.ts'
import type { TableRows } from '../tables/table-rows.ts'
import { pageAt } from '../text-page.ts'
import { leafPieces } from './leaf-pieces.ts'
import { type FieldStep, linePieces, type Piece, type PieceReader, pathOf } from './line-pieces.ts'
import { createMatcher, type Matcher, type PieceMatch, type SearchQuery } from './matcher.ts'

/** Options of {@link searchAsset}. */
export interface SearchOptions extends SearchQuery {
  /** Maximum number of hits of a page. */
  limit: number
  /** Where the page starts: the `cursor` of the previous page. */
  cursor?: string
  signal?: AbortSignal
}

/** A match in an asset. */
export interface SearchHit {
  /** The leaf; absent in a text file, where `line` and `column` give the position. */
  ref?: string
  /** True if the name of the field matches, not its value. */
  key?: true
  /** The line, from 1; absent if `text` is the whole leaf. */
  line?: number
  /** Where the match starts in its line, from 1, in UTF-16 units. */
  column?: number
  /** The page of a document, or the sheet of a workbook, from 1. */
  page?: number
  /** The text around the match; `…` marks where it was cut. */
  text: string
}

/** A page of hits, in the order of the asset. */
export interface SearchPage {
  hits: SearchHit[]
  /** Number of hits in all pages; present on the last page. */
  total?: number
  /** Present if there are more hits. */
  more?: true
  cursor?: string
}

/** Characters of a snippet, and how many of them precede the match. */
const SNIPPET = 200
const LEAD = 60

/** Maximum number of characters of all hits of a page. */
const PAGE = 16_000

/** Maximum length of a reference. A field with a longer one is reported by a container around it. */
const MAX_REF = 1_000

/** Characters that are searched at once. */
const BLOCK = 64 * 1024
const CURSOR = /^(\d{1,15})\.(\d{1,15})$/

/**
 * Searches an asset, or a field of it, for a text or a regular expression: the lines of a text file or document; the leaves
 * of JSON and structured content and the names of their fields, each name where it occurs first. Each matching line is one
 * hit; lines of more than 17,000 characters are searched in parts. Takes time in proportion to the asset, and the memory of
 * one leaf if the store streams.
 *
 * @throws ByrefError `asset_unsupported` for an asset without text, `invalid_arguments` for an invalid expression or cursor,
 * `tool_timeout` for an expression that takes too long
 */
export async function searchAsset(
  assets: Assets,
  ref: string,
  { limit, cursor, signal, ...query }: SearchOptions,
): Promise<SearchPage> {
  const start = readCursor(cursor)
  const matcher = await createMatcher(query, { signal })
  const page = { ref, start, limit, matcher }
  try {
    return await findPage(await openPieces(assets, ref, signal), page)
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    return await findPage(await openPieces(assets, ref, signal, { isText: true }), page)
  } finally {
    await matcher.close()
  }
}

/** A requested page. It starts at the piece of this index, after this number of hits. */
interface AskedPage {
  ref: string
  start: { piece: number; hits: number }
  limit: number
  matcher: Matcher
}

async function findPage(
  batches: AsyncIterable<Piece[]>,
  { ref, start, limit, matcher }: AskedPage,
): Promise<SearchPage> {
  const hits: SearchHit[] = []
  let size = 0
  let passed = 0
  for await (const pieces of batches) {
    const first = Math.max(0, start.piece - passed)
    const searched = first > 0 ? pieces.slice(first) : pieces
    const found = searched.length > 0 ? await matcher.match(searched, limit + 1 - hits.length) : []
    for (const match of found) {
      const hit = hitOf(searched[match.index] as Piece, match, ref)
      size += hit.text.length + (hit.ref?.length ?? 0)
      if (hits.length === limit || (size > PAGE && hits.length > 0)) {
        const next = `${passed + first + match.index}.${start.hits + hits.length}`
        return { hits, more: true, cursor: next }
      }
      hits.push(hit)
    }
    passed += pieces.length
  }
  return { hits, total: start.hits + hits.length }
}

/** Returns the pieces of a body, in batches. */
async function openPieces(
  assets: Assets,
  ref: string,
  signal: AbortSignal | undefined,
  { isText = false } = {},
): Promise<AsyncIterable<Piece[]>> {
  const table = isText ? null : await tableAsJson(assets, ref, signal)
  if (table) return batchesOf(table, leafPieces())
  const { mime, stream } = await assets.open(ref, { signal })
  if (documentForm(mime)) {
    await stream.cancel()
    const { text, pages } = await unlessAborted(signal, () => assets.text(ref))
    return batchesOf(blocksOf([text]), linePieces(), pages)
  }
  if (!isText && isJsonType(mime)) return batchesOf(blocksOf(textIn(stream)), leafPieces())
  const text = isText ? textIn(stream) : await textOfBody(stream, mime)
  if (!text) {
    throw new ByrefError(
      'asset_unsupported',
      `${ref} is ${mime}, which has no text: text, PDF, DOCX, XLSX, tables and structured content can be searched.`,
    )
  }
  return batchesOf(blocksOf(text), linePieces())
}

async function* batchesOf(
  chunks: AsyncIterable<string>,
  reader: PieceReader,
  pages?: readonly number[],
): AsyncGenerator<Piece[]> {
  const onPage = (piece: Piece): Piece =>
    pages ? { ...piece, page: pageAt(pages, piece.line ?? 1) } : piece
  for await (const chunk of chunks) yield reader.read(chunk).map(onPage)
  yield reader.end().map(onPage)
}

async function* blocksOf(chunks: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += BLOCK) yield chunk.slice(at, at + BLOCK)
  }
}

function hitOf(piece: Piece, match: PieceMatch, root: string): SearchHit {
  const { field, isKey, line, column, page } = piece
  const text = snippetOf(piece.text, match)
  const place = { line: line ?? 1, column: column + match.start, ...(page && { page }) }
  if (!field) return { ...place, text }
  const ref = refTo(root, field)
  if (isKey) return { ref, key: true, text }
  return { ref, ...((line !== null || text !== piece.text) && place), text }
}

function snippetOf(text: string, { start, length }: PieceMatch): string {
  if (text.length <= SNIPPET) return text
  // A match that fits is shown whole, with the text before it.
  const lead = Math.max(0, Math.min(LEAD, SNIPPET - length))
  const from = Math.max(0, Math.min(start - lead, text.length - SNIPPET))
  const shown = text.slice(from, from + SNIPPET).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return `${from > 0 ? '…' : ''}${shown}${from + SNIPPET < text.length ? '…' : ''}`
}

/**
 * Returns the reference to a field below what was searched, or to a container around it if that reference would be too
 * long.
 */
function refTo(root: string, field: FieldStep): string {
  const parts = parseAssetRef(root) as AssetRefParts
  const top: readonly FieldKey[] = parts.fieldPath ?? ['content']
  for (let step: FieldStep | null = field; step; step = step.above) {
    const ref = formatAssetRef({ ...parts, fieldPath: [...top, ...pathOf(step)] })
    if (ref.length <= MAX_REF) return ref
  }
  return root
}

function readCursor(cursor: string | undefined): AskedPage['start'] {
  if (cursor === undefined) return { piece: 0, hits: 0 }
  const [, piece, hits] = CURSOR.exec(cursor) ?? []
  if (piece !== undefined) return { piece: Number(piece), hits: Number(hits) }
  throw new ByrefError(
    'invalid_arguments',
    'Invalid cursor: use the cursor of a previous search, or leave it out to start from the beginning.',
  )
}

const CHUNK = 64 * 1024

/** Returns the content of a table, or its rows, as JSON that is made row by row; null for anything else. */
async function tableAsJson(
  assets: Assets,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<string> | null> {
  const { table } = await assets.info(ref)
  const path = parseAssetRef(ref)?.fieldPath
  if (!table || !isRows(path)) return null
  const rows = await assets.rows(ref, { signal })
  if (path?.at(-1) === 'rows') return rowsText(rows, '[', ']')
  const before = `{"columns":${JSON.stringify(rows.columns)},"rows":[`
  return rowsText(rows, before, `],"source":${JSON.stringify(table.source)}}`)
}

async function* rowsText(rows: TableRows, before: string, after: string): AsyncGenerator<string> {
  let text = before
  let separator = ''
  for await (const row of rows) {
    text += separator + jsonLine(row)
    separator = ','
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  yield text + after
}
