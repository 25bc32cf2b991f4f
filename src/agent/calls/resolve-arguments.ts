import type { Assets } from '../../assets/assets-contract.ts'
import { base64Of, dataUrlOf } from '../../assets/bodies/data-url.ts'
import { ByrefError } from '../../errors.ts'
import { type AssetRef, isAssetRef, parseAssetRef } from '../../refs/asset-ref.ts'
import { parseVariableRef, unescapeDagger } from '../../refs/variable-ref.ts'
import { type JsonSchema, jsonSchemaOf, type Tool } from '../tools/tool.ts'

/** Deeper arguments are refused. */
const MAX_DEPTH = 200

/**
 * A call's arguments with the values of `†` variables in place of these, anywhere, unless the tool forbids them (spec
 * D7). What a variable gives is never scanned for more; `\\†state` is the text `†state` (R10).
 *
 * @param read The value of a `†` reference; throws VariableError where there is none.
 * @throws what `read` throws; ByrefError `invalid_arguments` for arguments nested too deep
 */
export function resolveVariables(
  tool: Tool,
  args: Record<string, unknown>,
  read: (variable: string) => unknown,
): Record<string, unknown> {
  if (tool.variables === false) return args
  const resolve = (value: unknown, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw tooDeep()
    if (typeof value === 'string') {
      if (!value.includes('†')) return value
      return parseVariableRef(value) === null ? unescapeDagger(value) : read(value)
    }
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => resolve(item, depth + 1))
    // fromEntries defines keys, so that "__proto__" is one like any other.
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, resolve(item, depth + 1)]),
    )
  }
  return resolve(args, 0) as Record<string, unknown>
}

/**
 * Arguments with the values of asset references in place of these where the schema says `asset_ref_acceptable`,
 * converted to what it asks for (spec T3). Each is resolved once; contents are never scanned.
 *
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export async function resolveAssets(
  tool: Tool,
  args: Record<string, unknown>,
  open: () => Assets,
): Promise<Record<string, unknown>> {
  const schema = jsonSchemaOf(tool)
  if (!mayAccept(schema)) return args
  const assets = open()
  const resolve = async (value: unknown, schema: JsonSchema, depth: number): Promise<unknown> => {
    if (depth > MAX_DEPTH) throw tooDeep()
    if (typeof value === 'string') return resolveAsset(value, schema, assets)
    if (typeof value !== 'object' || value === null) return value
    if (schema.asset_ref_acceptable === true && parseRef(value)) {
      return resolveAsset(value, schema, assets)
    }
    if (Array.isArray(value)) {
      const items = schemaAt(schema.items)
      return Promise.all(value.map((item) => resolve(item, items, depth + 1)))
    }
    const entries = Object.entries(value).map(async ([key, item]) => {
      return [key, await resolve(item, propertySchema(schema, key), depth + 1)] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }
  return (await resolve(args, schema, 0)) as Record<string, unknown>
}

const accepting = new WeakMap<JsonSchema, boolean>()

/** Whether the flag stands anywhere in the schema: a tool without it has nothing to resolve. */
function mayAccept(schema: JsonSchema): boolean {
  const known =
    accepting.get(schema) ?? JSON.stringify(schema).includes('"asset_ref_acceptable":true')
  accepting.set(schema, known)
  return known
}

function tooDeep(): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `The arguments are nested deeper than ${MAX_DEPTH} levels`,
  )
}

async function resolveAsset(value: unknown, schema: JsonSchema, assets: Assets): Promise<unknown> {
  if (schema.asset_ref_acceptable !== true) return value
  const ref = parseRef(value)
  return ref ? convert(ref, schema, assets) : value
}

function parseRef(value: unknown): string | AssetRef | null {
  if (typeof value === 'string') return isAssetRef(value) ? value : null
  if (typeof value !== 'object' || value === null || !('asset_id' in value)) return null
  return parseAssetRef(value as AssetRef) ? (value as AssetRef) : null
}

/** The value behind a reference, as the schema of the parameter wants it. */
async function convert(
  ref: string | AssetRef,
  schema: JsonSchema,
  assets: Assets,
): Promise<unknown> {
  const asBytes = BYTE_FORMS.find(({ fits }) => fits(schema))
  if (asBytes) return asBytes.make(await assets.get(ref))
  const types = [schema.type].flat()
  const wantsJson = types.includes('object') || types.includes('array')
  const wantsText = types.includes('string') || isTextType(schema.contentMediaType)
  const value = await assets.resolve(ref)
  if (wantsText && !wantsJson && typeof value !== 'string') {
    const { bytes, mime } = await assets.get(ref)
    const text = decode(bytes)
    if (text !== null) return text
    throw misfit(ref, mime, bytes, types)
  }
  if (!(value instanceof Uint8Array) || types[0] === undefined) return value
  const text = wantsJson ? decode(value) : null
  if (text !== null) return parseJson(text, ref)
  throw misfit(ref, (await assets.info(ref)).mime, value, types)
}

interface Body {
  bytes: Uint8Array
  mime: string
}

/** Schemas that ask for the bytes themselves, in some form. */
const BYTE_FORMS: readonly { fits(schema: JsonSchema): boolean; make(body: Body): unknown }[] = [
  { fits: ({ asset_ref_as }) => asset_ref_as === 'bytes', make: ({ bytes }) => bytes },
  { fits: ({ asset_ref_as }) => asset_ref_as === 'blob', make: toBlob },
  { fits: ({ asset_ref_as }) => asset_ref_as === 'stream', make: (body) => toBlob(body).stream() },
  {
    fits: ({ contentEncoding }) => contentEncoding === 'base64',
    make: ({ bytes }) => base64Of(bytes),
  },
  {
    fits: ({ format }) => format === 'data-url',
    make: ({ bytes, mime }) => dataUrlOf(bytes, mime),
  },
]

function toBlob({ bytes, mime }: Body): Blob {
  // Blob's types want bytes that are not shared between threads; assets never are.
  return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime })
}

function isTextType(mediaType: unknown): boolean {
  return typeof mediaType === 'string' && mediaType.startsWith('text/')
}

function misfit(
  ref: string | AssetRef,
  mime: string,
  { length }: Uint8Array,
  types: readonly unknown[],
): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${show(ref)} is ${mime}, ${length} bytes, and cannot be passed as ${types.join(' or ')}`,
  )
}

function parseJson(text: string, ref: string | AssetRef): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('invalid_arguments', `${show(ref)} holds text that is no JSON`, { cause })
  }
}

/** The text in UTF-8 bytes, or null where they are none. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function show(ref: string | AssetRef): string {
  return typeof ref === 'string' ? ref : JSON.stringify(ref)
}

function schemaAt(schema: unknown): JsonSchema {
  return typeof schema === 'object' && schema !== null ? (schema as JsonSchema) : {}
}

function propertySchema(schema: JsonSchema, key: string): JsonSchema {
  const properties = schemaAt(schema.properties)
  if (Object.hasOwn(properties, key)) return schemaAt(properties[key])
  return schemaAt(schema.additionalProperties)
}
