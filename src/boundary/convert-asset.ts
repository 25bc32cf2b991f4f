import type { Assets } from '../assets/assets-contract.ts'
import { base64Of, dataUrlOf } from '../assets/bodies/data-url.ts'
import { documentForm } from '../assets/documents/document-form.ts'
import type { Alternatives } from '../core/board/schema-walk.ts'
import { acceptsType } from '../core/board/schema-walk.ts'
import { ByrefError } from '../core/errors.ts'
import { type AssetRef, formatAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import type { JsonSchema } from './describe-schema.ts'

/**
 * Converts the value of a reference to what a parameter accepts. Of the schemas that accept references, it chooses
 * the first that asks for bytes or matches the value, or else the first that the value can be converted to. Also
 * returns that schema.
 *
 * @throws ByrefError the error of the reference that failed; `invalid_arguments` if the value fits no schema
 */
export async function convertAsset(
  ref: string | AssetRef,
  accepting: Alternatives,
  assets: Assets,
): Promise<{ value: unknown; schema: JsonSchema }> {
  let value: Promise<unknown> | undefined
  const resolved = (): Promise<unknown> => {
    value ??= assets.resolve(ref)
    return value
  }
  for (const schema of accepting) {
    const form = FORMS.find(({ fits }) => fits(schema))
    if (form) return { value: await form.make(ref, assets), schema }
    const isFile = (await resolved()) instanceof Uint8Array
    if (schema.type === undefined ? !isText(schema) : !isFile && acceptsType(schema, await value)) {
      return { value: await value, schema }
    }
  }
  let misfit: unknown
  for (const schema of accepting) {
    try {
      return { value: await turnInto(schema, ref, { assets, value: await resolved() }), schema }
    } catch (error) {
      misfit ??= error
    }
  }
  throw misfit
}

/**
 * Like {@link convertAsset}, for tools that take JSON. Bytes become base64, even in a text parameter if they are
 * not valid text.
 */
export async function convertToJson(
  ref: string | AssetRef,
  accepting: Alternatives,
  assets: Assets,
): Promise<{ value: unknown; schema: JsonSchema }> {
  try {
    const { value, schema } = await convertAsset(ref, accepting, assets)
    return { value: value instanceof Uint8Array ? base64Of(value) : value, schema }
  } catch (error) {
    const isMisfit = error instanceof ByrefError && error.code === 'invalid_arguments'
    const schema = accepting.find(({ type }) => [type].flat().includes('string'))
    if (!isMisfit || !schema) throw error
    return { value: (await assets.getBase64(ref)).base64, schema }
  }
}

/** Returns a value as text: text and documents as they are, other values as JSON. Bytes must be valid text. */
export async function textOf(ref: string | AssetRef, assets: Assets): Promise<string> {
  const { bytes, mime } = await assets.get(ref)
  if (documentForm(mime)) return (await assets.text(ref)).text
  const text = decode(bytes)
  if (text !== null) return text
  throw misfitOf(ref, `${mime}, ${bytes.length} bytes`, ['text'])
}

interface Form {
  fits(schema: JsonSchema): boolean
  make(ref: string | AssetRef, assets: Assets): Promise<unknown>
}

const as = (form: string): Form['fits'] => {
  return ({ asset_ref_as }) => asset_ref_as === form
}

/** Schemas that ask for bytes in some form, or for the asset itself. */
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
  {
    fits: ({ contentEncoding }) => contentEncoding === 'base64',
    make: async (ref, assets) => base64Of((await assets.get(ref)).bytes),
  },
  {
    fits: ({ format }) => format === 'data-url',
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
  if (fieldPath && fieldPath.join() !== 'content') {
    throw new ByrefError(
      'invalid_arguments',
      `${show(ref)} names a field, and the parameter takes whole assets: pass ${whole}`,
    )
  }
  return { ...(await assets.meta(whole)), content: await assets.resolve(whole) }
}

async function turnInto(
  schema: JsonSchema,
  ref: string | AssetRef,
  { assets, value }: { assets: Assets; value: unknown },
): Promise<unknown> {
  const types = [schema.type].flat()
  if (types.includes('string') || isText(schema)) return textOf(ref, assets)
  const isRaw = value instanceof Uint8Array || typeof value === 'string'
  // Pass JSON values on: validation reports what is wrong with them.
  if (!isRaw) return value
  const isContainer = types.includes('object') || types.includes('array')
  const text = typeof value === 'string' ? value : decode(value)
  if (isContainer && text !== null) return parseJson(text, ref)
  const { mime, size } = await assets.info(ref)
  throw misfitOf(ref, `${mime}, ${size} bytes`, types)
}

function isText({ contentMediaType }: JsonSchema): boolean {
  return typeof contentMediaType === 'string' && contentMediaType.startsWith('text/')
}

function misfitOf(ref: string | AssetRef, what: string, types: readonly unknown[]): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${show(ref)} is ${what}, and cannot be passed as ${types.join(' or ')}`,
  )
}

function parseJson(text: string, ref: string | AssetRef): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('invalid_arguments', `${show(ref)} holds text that is no JSON`, { cause })
  }
}

/** Decodes UTF-8; null if the bytes are not valid. */
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
