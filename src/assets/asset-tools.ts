import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import { OFFLOADED_TYPE } from '../core/messages/offloaded.ts'
import { unlessAborted } from '../core/on-abort.ts'
import { isWholePath, parseAssetRef } from '../core/refs/asset-ref.ts'
import type { AssetRefInput } from './asset-locator.ts'
import type { AssetInfo } from './asset-store.ts'
import { countOf, fieldBelow, fullRef, refOf, type ToolInput, textOf } from './asset-tool-input.ts'
import type { Assets } from './assets-contract.ts'
import { readBytes } from './bodies/body.ts'
import { base64Of, dataUrlOf, decodeBase64 } from './bodies/data-url.ts'
import { documentForm, isJsonType, isTextType, readsAsText } from './bodies/mime-type.ts'
import { textOfBody } from './bodies/sniff.ts'
import { HEAD_BYTES, headEncoding } from './bodies/text-encoding.ts'
import { isRows, jsonLine } from './tables/table-facts.ts'
import type { TableRows } from './tables/table-rows.ts'
import {
  type DocumentPage,
  readDocumentPage,
  readTextPage,
  type TextPage,
  type TextRange,
} from './text-page.ts'
import { type FileValue, valueAsFile } from './value-as-file.ts'

/** A tool for agents that needs only the assets of the call. */
export interface AssetTool {
  id: string
  description: string
  inputSchema: { readonly [key: string]: unknown }
  /** Set if the tool reads references in parameters that its schema does not show. */
  references?: 'declared'
  execute(input: ToolInput, context: AssetToolContext): Promise<unknown>
  preview?(input: ToolInput, context: AssetToolContext): Promise<string>
}

/** The context of a native tool. */
export interface AssetToolContext {
  assets: Assets
  signal?: AbortSignal
}

/** The schema of a parameter that takes the reference itself, not its value. */
const REF = { type: 'string', asset_ref_acceptable: true, asset_ref_as: 'ref' } as const

/** Maximum size of a body in one answer as a data URL or base64, in bytes. More is read by ranges. */
const MAX_BYTES = 8 * 1024 * 1024

/** Characters in one page of text. */
const PAGE = 16_000

/** Default and maximum number of hits on a page of a search. */
const HITS = 20
const MAX_HITS = 100

/** `save_asset`: saves text or bytes from the model, or looks up an existing asset. */
export const saveAssetTool: AssetTool = {
  id: 'save_asset',
  description:
    'Saves text, or data as base64, as an asset and returns its reference. With ref, describes that asset',
  inputSchema: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      mimeType: { type: 'string', description: 'Default for text: text/plain' },
      dataBase64: { type: 'string', contentEncoding: 'base64' },
      name: { type: 'string', description: 'File name' },
      ref: REF,
    },
    additionalProperties: false,
  },
  async execute({ text, mimeType, dataBase64, name, ref }, { assets }) {
    const isOne = [text, dataBase64, ref].filter((one) => one !== undefined).length === 1
    if (isOne && ref !== undefined) return summaryOf(await assets.info(textOf(ref, 'ref')))
    const type = mimeType === undefined ? null : textOf(mimeType, 'mimeType')
    const fileName = name === undefined ? null : textOf(name, 'name')
    if (isOne && text !== undefined) {
      return summaryOf(await saveText(textOf(text, 'text'), type ?? 'text/plain', fileName, assets))
    }
    const bytes = typeof dataBase64 === 'string' && dataBase64 ? decodeBase64(dataBase64) : null
    if (!isOne || !bytes || type === null) {
      throw new ByrefError(
        'invalid_arguments',
        'Pass text, or dataBase64 (valid base64) with its mimeType, or the ref of an asset.',
      )
    }
    return summaryOf(await assets.save(bytes, type, { name: fileName, owned: true }))
  },
}

/** Text with a text type keeps its type. Text with any other type becomes the file that it encodes. */
async function saveText(
  text: string,
  type: string,
  name: string | null,
  assets: Assets,
): Promise<AssetInfo> {
  if (!/^text\//i.test(type)) return assets.save(Buffer.from(text), type, { name, owned: true })
  return assets.saveAsset({ content_type: type, content: text, asset_name: name ?? undefined })
}

/** `fetch_asset`: reads the body of an asset or of a field in it, or a range of the body. */
export const fetchAssetTool: AssetTool = {
  id: 'fetch_asset',
  description:
    'Reads an asset or field: text (also from PDF, DOCX, XLSX) in pages, or a file to look at. To give an asset to a tool, pass its reference instead of reading it',
  inputSchema: {
    type: 'object',
    // Sent with every prompt, so it is short. `ref` also names fields, so `id` and `path` are accepted but not shown.
    properties: {
      ref: REF,
      format: { type: 'string', description: 'text, dataUrl or base64' },
      page: { type: 'integer', description: 'PDF page or XLSX sheet' },
      startLine: { type: 'integer' },
      startColumn: { type: 'integer' },
      endLine: { type: 'integer' },
      start: { type: 'integer', description: 'First byte; negative: from the end' },
      end: { type: 'integer' },
    },
  },
  async execute(input, context) {
    const source = await sourceOf(refOf(input), context)
    const assetRef = fullRef(source.info, source.ref)
    const { format = await defaultFormat(source, input), start, end } = input
    if (format === 'text') return { assetRef, ...(await readText(source, input)) }
    if (format !== 'dataUrl' && format !== 'base64') {
      throw new ByrefError('invalid_arguments', 'format must be dataUrl, base64 or text.')
    }
    const { bytes, mime } = await readRange(source, input)
    const range = defined({ start, end })
    return format === 'base64'
      ? { assetRef, base64: base64Of(bytes), mime, ...range }
      : { assetRef, dataUrl: dataUrlOf(bytes, mime), ...range }
  },
}

/** `search_asset`: finds where an asset contains a text or matches a regular expression. */
export const searchAssetTool: AssetTool = {
  id: 'search_asset',
  description: 'Searches the lines or fields of an asset',
  inputSchema: {
    type: 'object',
    // Short, like the schema of fetch_asset: `path` is accepted but not shown.
    properties: {
      ref: REF,
      query: { type: 'string' },
      regex: { type: 'boolean' },
      caseSensitive: { type: 'boolean' },
      limit: { type: 'integer' },
      cursor: { type: 'string' },
    },
  },
  async execute(input, { assets, signal }) {
    const { query, regex, caseSensitive, cursor } = input
    const limit = countOf(input, 'limit') ?? HITS
    if (limit > MAX_HITS) {
      throw new ByrefError('invalid_arguments', `limit must be at most ${MAX_HITS}.`)
    }
    const options = {
      query: textOf(query, 'query'),
      regex: regex === true,
      caseSensitive: caseSensitive === true,
      limit,
      ...(cursor !== undefined && { cursor: textOf(cursor, 'cursor') }),
      signal,
    }
    const ref = refOf(input)
    const assetRef = fullRef(await assets.info(ref), ref)
    const { searchAsset } = await import('./search/search-asset.ts')
    return { assetRef, ...(await searchAsset(assets, assetRef, options)) }
  },
}

function summaryOf({ ref, mime, size, kind }: AssetInfo) {
  return { assetRef: ref, mimeType: mime, size, kind }
}

/** What a call of `fetch_asset` reads: an asset or a field in it. */
type Source = Awaited<ReturnType<typeof sourceOf>>

/** @throws ByrefError `asset_not_found` */
async function sourceOf(ref: AssetRefInput, { assets, signal }: AssetToolContext) {
  const info = await assets.info(ref)
  const path = parseAssetRef(ref)?.fieldPath
  let file: Promise<FileValue> | undefined

  async function readValue(): Promise<FileValue> {
    const value = await unlessAborted(signal, () => assets.resolve(ref))
    return valueAsFile(value, { refOf: (below) => fieldBelow(ref, ['content'], below) })
  }

  return {
    ref,
    info,
    assets,
    signal,
    /** Whether the whole asset is read, and not a field. */
    isWhole: isWholePath(path),
    /** Whether all rows of a table are read. */
    isRows: info.table !== null && isRows(path),
    /** Returns the value as a file: text, JSON or bytes. It is read once. */
    value() {
      file ??= readValue()
      return file
    },
  }
}

/** Returns the type of what is read. The value of a field is read for it. */
async function mimeOf(source: Source): Promise<string> {
  return source.isWhole ? source.info.mime : (await source.value()).mime
}

/** Returns the default format: text for lines and structured content, data for files. */
async function defaultFormat(
  source: Source,
  { page, startLine, startColumn, endLine, start, end }: ToolInput,
): Promise<'text' | 'dataUrl'> {
  if ([page, startLine, startColumn, endLine].some((value) => value !== undefined)) return 'text'
  const { structured, table, mime: type, size } = source.info
  if (structured) {
    if (table || source.isWhole) return 'text'
    const mime = await mimeOf(source)
    return isJsonType(mime) || readsAsText(mime) ? 'text' : 'dataUrl'
  }
  // Prompts show only whole files, so a part of a text must be in the result.
  const isPart = (start ?? end ?? null) !== null
  if (isPart && isTextType(type)) return 'text'
  if (documentForm(type) && size > MAX_BYTES) return 'text'
  const { asset_type } = await source.assets.meta(source.ref)
  return asset_type === OFFLOADED_TYPE ? 'text' : 'dataUrl'
}

async function readRange({ assets, ref, signal }: Source, input: ToolInput): Promise<FileValue> {
  const { start, end } = input as { start?: number; end?: number }
  const opened = await assets.open(ref, { start, end, signal })
  if (opened.end - opened.start > MAX_BYTES) {
    await opened.stream.cancel()
    throw new ByrefError(
      'asset_too_large',
      `The body has ${opened.size} bytes; at most ${MAX_BYTES} fit into one answer. ${smallerPart(opened.mime)}`,
    )
  }
  return { bytes: await readBytes(opened.stream), mime: opened.mime }
}

/** Tells a model how to read a part of a large file of a type. */
function smallerPart(mime: string): string {
  if (!isTextType(mime)) return 'Ask for a part with start and end.'
  const field = isJsonType(mime) ? ', read one field (asset://…/content/<key>)' : ''
  return `Read its text with startLine${field}, or find the place with search_asset.`
}

/** Reads a page of the asset's text. A text file is streamed, whatever its length. */
async function readText(source: Source, input: ToolInput): Promise<TextPage | DocumentPage> {
  const { assets, ref, signal } = source
  const range: TextRange = {
    startLine: countOf(input, 'startLine'),
    startColumn: countOf(input, 'startColumn'),
    endLine: countOf(input, 'endLine'),
  }
  const isRange = input.start !== undefined || input.end !== undefined
  const page = countOf(input, 'page')
  const isTable = !isRange && source.isRows
  const mime = isRange || isTable ? null : await mimeOf(source)
  if (mime !== null && documentForm(mime)) {
    const text = await unlessAborted(signal, () => assets.text(ref))
    return readDocumentPage(text, { ...range, page }, PAGE)
  }
  if (page !== undefined) {
    throw new ByrefError(
      'invalid_arguments',
      'page works only for PDF and XLSX: leave it out, and use startLine to read on.',
    )
  }
  if (isTable) {
    const rows = await assets.rows(ref, { signal })
    return readTextPage(rowLines(rows, range), range, PAGE, rows.count)
  }
  if (mime === null) {
    const { bytes } = await readRange(source, input)
    const { bytes: head } = input.start ? await readRange(source, { end: HEAD_BYTES }) : { bytes }
    return readTextPage([textInRange(bytes, head)], range, PAGE)
  }
  if (!source.isWhole || source.info.structured || isJsonType(mime)) {
    return readTextPage([await valueText(source)], range, PAGE)
  }
  const opened = await assets.open(ref, { signal })
  const text = await textOfBody(opened.stream, opened.mime)
  if (!text) throw notText()
  return readTextPage(text, range, PAGE)
}

/** Decodes a range of a text with this beginning. The range may begin and end in the middle of a character. */
function textInRange(bytes: Uint8Array, head: Uint8Array): string {
  const found = bytes.findIndex((byte) => byte >> 6 !== 0b10)
  const first = found === -1 ? bytes.byteLength : found
  const known = headEncoding(head, { isWhole: false })
  const inner = bytes.subarray(first <= 3 ? first : 0)
  const encoding = known === 'utf-8' ? headEncoding(inner, { isWhole: false }) : known
  return new TextDecoder(encoding).decode(bytes)
}

/** Returns a value as text. JSON is formatted, with a line for each value. */
async function valueText(source: Source): Promise<string> {
  const { bytes, mime } = await source.value()
  const text = Buffer.from(bytes).toString()
  if (mime === 'application/json') return JSON.stringify(JSON.parse(text), null, 2)
  if (readsAsText(mime)) return text
  throw notText()
}

function notText(): ByrefError {
  return new ByrefError(
    'asset_unsupported',
    'The asset is not text; ask for dataUrl or base64, or for a range of bytes.',
  )
}

/** Yields a table from the start line on as text. Line N is row N - 1 as JSON. */
async function* rowLines(rows: TableRows, { startLine = 1, endLine = rows.count }: TextRange) {
  let line = startLine
  for await (const row of rows.select({ start: startLine - 1, end: endLine })) {
    yield line++ < rows.count ? `${jsonLine(row)}\n` : jsonLine(row)
  }
}
