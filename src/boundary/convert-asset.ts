import type { AssetInfo } from '../assets/asset-store.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { base64Of, dataUrlOf } from '../assets/bodies/data-url.ts'
import {
  documentForm,
  isJsonType,
  isPlainText,
  mayBeText,
  readsAsText,
  tableFormat,
} from '../assets/bodies/mime-type.ts'
import { headText } from '../assets/bodies/sniff.ts'
import { decodeText } from '../assets/bodies/text-encoding.ts'
import { heldBody } from '../assets/held-body.ts'
import { csvText } from '../assets/tables/csv-text.ts'
import { PARQUET_TYPE } from '../assets/tables/table-facts.ts'
import { type Alternatives, acceptsType } from '../core/board/schema-walk.ts'
import { ByrefError } from '../core/errors.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  isWholePath,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import type { JsonSchema } from './describe-schema.ts'
import type { Codec } from './describe-tool.ts'

/** A keyword for a parameter without a type that gets files as bytes. */
export const RAW = 'x-raw'

/**
 * Converts the value of a reference to what a parameter accepts. Of the schemas that accept references, it chooses the
 * first that asks for bytes or matches the value, or else the first that the value can be converted to. Also returns
 * that schema. A field that holds a file of a result is that file, unless the parameter takes objects. With
 * `acceptsFiles`, a text parameter also accepts files, as base64 or a data URL. It is for tools that do not know
 * references.
 *
 * @throws ByrefError the error of the reference that failed; `invalid_arguments` if the value fits no schema
 */
export async function convertAsset(
  given: string | AssetRef,
  accepting: Alternatives,
  assets: Assets,
  { acceptsFiles = false, bytes, saveFile }: Codec & { acceptsFiles?: boolean } = {},
): Promise<{ value: unknown; schema: JsonSchema }> {
  const held = await heldBody(parseAssetRef(given) as AssetRefParts, assets)
  const ref = held?.ref ?? given
  let value: Promise<unknown> | undefined
  const resolved = (): Promise<unknown> => {
    value ??= assets.resolve(ref)
    return value
  }
  const encoded = (content: unknown): unknown =>
    bytes === 'base64' && content instanceof Uint8Array ? base64Of(content) : content
  for (const schema of accepting) {
    if (saveFile && schema.format === 'path') return { value: await saveFile(ref, assets), schema }
    const form = FORMS.find(({ fits }) => fits(schema))
    if (form) return { value: encoded(await form.make(ref, assets)), schema }
    if (held && !isText(schema) && acceptsType(schema, held.value)) {
      return { value: held.value, schema }
    }
    const isFile = (await resolved()) instanceof Uint8Array
    if (acceptsFiles && takesFile(schema) && (isFile || (await wholeFile(ref, assets)) !== null)) {
      return { value: await fileText(schema, ref, assets), schema }
    }
    if (acceptsFiles && isFile && schema.type === undefined && !schema[RAW]) {
      return { value: await asText(schema, ref, { assets, acceptsFiles }), schema }
    }
    if (schema.type === undefined ? !isText(schema) : !isFile && acceptsType(schema, await value)) {
      return { value: encoded(await value), schema }
    }
  }
  let firstError: unknown
  for (const schema of accepting) {
    try {
      const source = { assets, value: await resolved(), acceptsFiles }
      return { value: await convertTo(schema, ref, source), schema }
    } catch (error) {
      firstError ??= error
    }
  }
  throw firstError
}

/** Returns a value as text: the text of files and documents, tables as CSV, other values as JSON. */
export async function textOf(ref: string | AssetRef, assets: Assets): Promise<string> {
  const { bytes, mime } = await assets.get(ref)
  if (documentForm(mime)) return (await assets.text(ref)).text
  if (mime === PARQUET_TYPE && (await isTable(ref, assets))) return csvText(ref, assets)
  const text = textIn(bytes, mime)
  if (text !== null) return text
  throw cannotConvert(ref, `${mime}, ${bytes.length} bytes`, ['text'])
}

/** Returns a file as base64 text, or as a data URL where the schema asks for a URL. */
async function fileText(
  schema: JsonSchema,
  ref: string | AssetRef,
  assets: Assets,
): Promise<string> {
  const { bytes, mime } = await assets.get(ref)
  return takesUrl(schema) ? dataUrlOf(bytes, mime) : base64Of(bytes)
}

function takesUrl({ format, description }: JsonSchema): boolean {
  return format === 'uri' || (typeof description === 'string' && DATA_URL.test(description))
}

/** Whether a text parameter expects every file as base64 or a data URL, also text files. */
function takesFile(schema: JsonSchema): boolean {
  const { description, type } = schema
  if (![type].flat().includes('string') && !isText(schema)) return false
  return takesUrl(schema) || (typeof description === 'string' && BASE64.test(description))
}

const BASE64 = /\bbase-?64\b/i

const DATA_URL = /\bdata[ -]?ur[il]s?\b/i

interface Form {
  fits(schema: JsonSchema): boolean
  make(ref: string | AssetRef, assets: Assets): Promise<unknown>
}

const as = (form: string): Form['fits'] => {
  return ({ asset_ref_as }) => asset_ref_as === form
}

/** The forms of a value that a schema can ask for: bytes in some form, rows, the reference, or the asset itself. */
const FORMS: readonly Form[] = [
  { fits: as('bytes'), make: async (ref, assets) => (await assets.get(ref)).bytes },
  {
    fits: as('blob'),
    async make(ref, assets) {
      const { bytes, mime } = await assets.get(ref)
      // Blob's types reject shared memory. Bytes of assets are never shared.
      return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime })
    },
  },
  { fits: as('stream'), make: async (ref, assets) => (await assets.open(ref)).stream },
  { fits: as('asset'), make: wholeAsset },
  { fits: as('rows'), make: (ref, assets) => assets.rows(ref) },
  { fits: as('ref'), make: async (ref) => show(ref) },
  {
    fits: ({ contentEncoding }) => contentEncoding === 'base64',
    make: async (ref, assets) => base64Of((await assets.get(ref)).bytes),
  },
  {
    // `x-mcp-file` marks the files of MCP tools (SEP-2631, a draft).
    fits: (schema) => schema.format === 'data-url' || schema['x-mcp-file'] !== undefined,
    async make(ref, assets) {
      const { bytes, mime } = await assets.get(ref)
      return dataUrlOf(bytes, mime)
    },
  },
]

/** Returns the asset with all its metadata. */
async function wholeAsset(ref: string | AssetRef, assets: Assets): Promise<unknown> {
  const { id, namespace, fieldPath } = Object(parseAssetRef(ref))
  const whole = formatAssetRef({ id, namespace })
  if (!isWholePath(fieldPath)) {
    throw new ByrefError(
      'invalid_arguments',
      `${show(ref)} names a field, but the parameter takes whole assets. Pass ${whole}`,
    )
  }
  return { ...(await assets.meta(whole)), content: await assets.resolve(whole) }
}

async function convertTo(
  schema: JsonSchema,
  ref: string | AssetRef,
  { assets, value, acceptsFiles }: { assets: Assets; value: unknown; acceptsFiles: boolean },
): Promise<unknown> {
  const types = [schema.type].flat()
  if (types.includes('string') || isText(schema)) {
    return asText(schema, ref, { assets, acceptsFiles })
  }
  const rows = types.includes('array') ? await allRows(ref, value, assets) : null
  if (rows) return rows
  const isRaw = value instanceof Uint8Array || typeof value === 'string'
  // Return JSON values unchanged: validation reports what is wrong with them.
  if (!isRaw) return value
  const isContainer = types.includes('object') || types.includes('array')
  const text = typeof value === 'string' ? value : decode(value)
  const { mime, size } = await assets.info(ref)
  try {
    if (isContainer && text !== null) return JSON.parse(text)
  } catch (cause) {
    // Bytes that happen to be UTF-8 are not text.
    if (typeof value === 'string' || textIn(value, mime) !== null) throw notJson(ref, cause)
  }
  throw cannotConvert(ref, `${mime}, ${size} bytes`, types)
}

/** Returns the text of an asset. With `acceptsFiles`, that of a file that is not text is base64 or a data URL. */
async function asText(
  schema: JsonSchema,
  ref: string | AssetRef,
  { assets, acceptsFiles }: { assets: Assets; acceptsFiles: boolean },
): Promise<string> {
  try {
    return await textOf(ref, assets)
  } catch (error) {
    const cannotBeText =
      error instanceof ByrefError && /^(invalid_arguments|asset_unsupported)$/.test(error.code)
    if (!acceptsFiles || !cannotBeText) throw error
  }
  return fileText(schema, ref, assets)
}

/**
 * Returns the rows of a table, or of a file that is a table, as a list. Null for any other asset.
 *
 * @param content The content of the asset.
 *
 * @throws ByrefError as `assets.rows`
 */
export async function allRows(
  ref: string | AssetRef,
  content: unknown,
  assets: Pick<Assets, 'info' | 'rows'>,
): Promise<unknown[] | null> {
  const file = await wholeFile(ref, assets)
  if (!file) return null
  const { mime, table } = file
  if (table) return (content as { rows: unknown[] }).rows
  if (isPlainText(mime)) return csvRows(ref, assets)
  if ([null, 'json'].includes(tableFormat(mime))) return null
  return Array.fromAsync(await assets.rows(ref))
}

/** Returns the rows of text that is CSV. Null for other text, which may be JSON. */
async function csvRows(
  ref: string | AssetRef,
  assets: Pick<Assets, 'rows'>,
): Promise<unknown[] | null> {
  try {
    return await Array.fromAsync(await assets.rows(ref))
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'invalid_arguments') return null
    throw error
  }
}

/** Returns the file or table that a reference names as a whole. Null for another value or a field. */
async function wholeFile(
  ref: string | AssetRef,
  assets: Pick<Assets, 'info'>,
): Promise<AssetInfo | null> {
  if (!isWholePath(parseAssetRef(ref)?.fieldPath)) return null
  const info = await assets.info(ref)
  return !info.structured || info.table !== null ? info : null
}

/** Returns whether a reference names a table, and not a field of it. */
async function isTable(ref: string | AssetRef, assets: Assets): Promise<boolean> {
  return isWholePath(parseAssetRef(ref)?.fieldPath) && (await assets.info(ref)).table !== null
}

function isText({ contentMediaType }: JsonSchema): boolean {
  return typeof contentMediaType === 'string' && contentMediaType.startsWith('text/')
}

function cannotConvert(
  ref: string | AssetRef,
  description: string,
  types: readonly unknown[],
): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${show(ref)} is ${description} and cannot be converted to ${types.join(' or ')}. Pass it to a parameter that accepts files.`,
  )
}

function notJson(ref: string | AssetRef, cause: unknown): ByrefError {
  const message = `${show(ref)} contains text that is not JSON`
  return new ByrefError('invalid_arguments', message, { cause })
}

/** Returns the text of a file that is not a document. Null if its type, or else its bytes show that it is not text. */
function textIn(bytes: Uint8Array, mime: string): string | null {
  if (readsAsText(mime)) return decodeText(bytes)
  if (isJsonType(mime)) return decode(bytes)
  const found = mayBeText(mime) ? headText(bytes, true) : null
  return found?.encoding === 'utf-8' ? found.text : null
}

/** Decodes UTF-8; null if the bytes are not valid. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Returns the reference as models write it. */
function show(ref: string | AssetRef): string {
  const parts = typeof ref === 'string' ? null : parseAssetRef(ref)
  return parts ? formatAssetRef(parts) : String(ref)
}
