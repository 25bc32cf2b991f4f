import { ByrefError } from '../errors.ts'
import {
  type AssetRefParts,
  extractAssetId,
  formatAssetRef,
  parseAssetRef,
} from '../refs/asset-ref.ts'
import type { FieldKey } from '../refs/field-path.ts'
import type { AssetRefInput } from './asset-locator.ts'
import type { AssetInfo, Assets } from './assets-contract.ts'
import { chunksOf, peek, readBytes } from './bodies/body.ts'
import { base64Of, dataUrlOf, decodeBase64 } from './bodies/data-url.ts'
import { decodedText, markedEncoding } from './bodies/text-encoding.ts'
import { defined } from './defined.ts'
import { readTextPage, type TextPage } from './text-page.ts'
import { valueAsBody } from './value-body.ts'

/** A tool as agents take it: these two need only the assets of the call. */
export interface NativeAssetTool {
  id: string
  description: string
  inputSchema: { readonly [key: string]: unknown }
  execute(input: Record<string, unknown>, context: { assets: Assets }): Promise<unknown>
}

/** As much of a body goes into one answer as a data URL or base64; more is read by ranges. */
const MAX_BYTES = 8 * 1024 * 1024
/** Characters of one page of text. */
const PAGE = 16_000
/** Types whose text is paged as it is; JSON is written out first, a line for each value. */
const PLAIN_TEXT = /^(text\/|application\/x-ndjson)/

const REF = {
  ref: { type: 'string', description: 'The asset: a reference such as asset://… or a field in it' },
  id: { type: 'string', description: 'The id of the asset, instead of ref' },
}

/** `save_asset` (binary-assets.md): keeps bytes that the model has, or looks up an asset that is there. */
export const saveAssetTool: NativeAssetTool = {
  id: 'save_asset',
  description:
    'Saves data as an asset and gives back its reference. With ref instead of data, tells what is known of that asset.',
  inputSchema: {
    type: 'object',
    properties: {
      mimeType: { type: 'string', description: 'Type of the data, such as image/png' },
      dataBase64: { type: 'string', contentEncoding: 'base64', description: 'The data' },
      name: { type: 'string', description: 'A file name' },
      ref: { type: 'string', description: 'An asset that is there already' },
    },
    additionalProperties: false,
  },
  async execute({ mimeType, dataBase64, name, ref }, { assets }) {
    if (ref !== undefined) return summaryOf(await assets.info(text(ref, 'ref')))
    const data = text(dataBase64, 'dataBase64')
    const bytes = decodeBase64(data)
    if (!bytes) throw new ByrefError('invalid_arguments', 'dataBase64 is no base64.')
    const saved = await assets.save(bytes, text(mimeType, 'mimeType'), {
      name: name === undefined ? null : text(name, 'name'),
      owned: true,
    })
    return summaryOf(saved)
  },
}

/** `fetch_asset` (binary-assets.md): the body of an asset, of a field in it, or of a part of either. */
export const fetchAssetTool: NativeAssetTool = {
  id: 'fetch_asset',
  description:
    'Reads an asset: as a data URL, base64 or text. Text and structured content come in pages; ask for the next by startLine.',
  inputSchema: {
    type: 'object',
    properties: {
      ...REF,
      format: {
        type: 'string',
        enum: ['dataUrl', 'base64', 'text'],
        description: 'Default: dataUrl',
      },
      path: {
        type: 'array',
        items: { type: ['string', 'integer'] },
        description: 'A field of the asset, from its first level: ["content", "rows", 0]',
      },
      startLine: { type: 'integer', minimum: 1, description: 'First line of text, from 1' },
      startColumn: {
        type: 'integer',
        minimum: 1,
        description: 'Where in the first line to start, from 1; for lines longer than a page',
      },
      endLine: { type: 'integer', minimum: 1, description: 'Last line of text, inclusive' },
      start: { type: 'integer', description: 'First byte; negative counts from the end' },
      end: { type: 'integer', minimum: 0, description: 'Byte to stop before' },
    },
    additionalProperties: false,
  },
  async execute(input, { assets }) {
    const ref = refOf(input)
    const assetRef = await fullRef(assets, ref)
    const { format = 'dataUrl', start, end } = input
    if (format === 'text') return { assetRef, ...(await readText(assets, ref, input)) }
    if (format !== 'dataUrl' && format !== 'base64') {
      throw new ByrefError('invalid_arguments', 'format is one of dataUrl, base64 and text.')
    }
    const { bytes, mime } = await readRange(assets, ref, input)
    const range = defined({ start, end })
    return format === 'base64'
      ? { assetRef, base64: base64Of(bytes), mime, ...range }
      : { assetRef, dataUrl: dataUrlOf(bytes, mime), ...range }
  },
}

function summaryOf({ ref, mime, size, kind }: AssetInfo) {
  return { assetRef: ref, mimeType: mime, size, kind }
}

/** The reference of an asset that is there, or of the field in it that was asked for. */
async function fullRef(assets: Assets, ref: AssetRefInput): Promise<string> {
  const { ref: whole } = await assets.info(ref)
  const fieldPath = parseAssetRef(ref)?.fieldPath
  return fieldPath ? formatAssetRef({ ...parseAssetRef(whole), fieldPath } as AssetRefParts) : whole
}

function refOf({ ref, id, path }: Record<string, unknown>): AssetRefInput {
  const named = text(ref ?? id, 'ref')
  if (path === undefined || path === null) return named
  if (!Array.isArray(path)) throw new ByrefError('invalid_arguments', 'path is a list of keys.')
  return below(named, [], path)
}

async function readRange(
  assets: Assets,
  ref: AssetRefInput,
  input: Record<string, unknown>,
): Promise<{ bytes: Uint8Array; mime: string }> {
  const { start, end } = input as { start?: number; end?: number }
  const opened = await assets.open(ref, { start, end })
  if (opened.end - opened.start > MAX_BYTES) {
    await opened.stream.cancel()
    throw new ByrefError(
      'asset_too_large',
      `The body has ${opened.size} bytes; at most ${MAX_BYTES} fit into one answer. Ask for a part with start and end.`,
    )
  }
  return { bytes: await readBytes(opened.stream), mime: opened.mime }
}

/** A page of the asset's text; a text file is read as it streams, however long it is. */
async function readText(
  assets: Assets,
  ref: AssetRefInput,
  input: Record<string, unknown>,
): Promise<TextPage> {
  const isRange = input.start !== undefined || input.end !== undefined
  const opened = isRange ? null : await assets.open(ref)
  if (!opened || opened.info.structured || !PLAIN_TEXT.test(opened.mime)) {
    await opened?.stream.cancel()
    return readTextPage([await textAt(assets, ref, input)], input, PAGE)
  }
  const { head, body } = await peek(opened.stream, 2)
  const chunks = decodedText(chunksOf(body), markedEncoding(head))
  return readTextPage(chunks, input, PAGE)
}

async function textAt(
  assets: Assets,
  ref: AssetRefInput,
  input: Record<string, unknown>,
): Promise<string> {
  if (input.start !== undefined || input.end !== undefined) {
    const { bytes } = await readRange(assets, ref, input)
    return new TextDecoder().decode(bytes)
  }
  const value = await assets.resolve(ref)
  if (typeof value === 'string') return value
  const { bytes, mime } = await valueAsBody(value, {
    refOf: (path) => below(ref, ['content'], path),
  })
  const found = Buffer.from(bytes).toString()
  if (mime === 'application/json') return JSON.stringify(JSON.parse(found), null, 2)
  if (PLAIN_TEXT.test(mime)) return found
  throw new ByrefError(
    'asset_unsupported',
    'The asset is not text; ask for dataUrl or base64, or for a range of bytes.',
  )
}

/** The reference to a field below what a reference names: by its own path, or else by `whole`. */
function below(ref: AssetRefInput, whole: readonly FieldKey[], path: readonly FieldKey[]): string {
  const parts = parseAssetRef(ref) ?? { id: extractAssetId(ref) }
  return formatAssetRef({ ...parts, fieldPath: [...(parts.fieldPath ?? whole), ...path] })
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new ByrefError('invalid_arguments', `${name} is missing: it is text.`)
}
