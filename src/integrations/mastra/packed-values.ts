import type { Assets } from '../../assets/assets-contract.ts'
import { bufferOf } from '../../assets/bodies/buffer-of.ts'
import { binaryBody } from '../../assets/extract/found-body.ts'
import { fileRefIn } from '../../assets/held-body.ts'
import { mapInParallel } from '../../assets/in-parallel.ts'
import { isTooLong, previewOf, type StoringCall } from '../../boundary/store.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../../core/messages/offloaded.ts'
import { newId } from '../../core/new-id.ts'
import { parseAssetRef } from '../../core/refs/asset-ref.ts'

/** The number of items that are stored at once. */
const AT_ONCE = 16

/** In a list that is too long, items with more characters of JSON than this are stored. */
const ITEM_CHARS = 1_000

/**
 * Stores the long fields of a value, and those with bytes, each as an asset: a reference replaces it. {@link unpacked}
 * returns an equal value. Unlike in a result for a model, nothing inside a field changes its form. A list stays a list,
 * because `.foreach()` needs it. Returns the same value if nothing is stored.
 */
export async function packed(
  value: unknown,
  { assets, ...call }: StoringCall & { assets: Assets },
): Promise<unknown> {
  const max = call.maxResultChars
  const isLong = (one: unknown) => holdsBytes(one) || isTooLong(one, max)
  const save = async (one: unknown) => ({ ...standIn(one), ...(await stored(one, call, assets)) })
  if (Array.isArray(value)) {
    const limit = isTooLong(value, max) ? ITEM_CHARS : max
    const isStored = (one: unknown) => isLong(one) || isTooLong(one, limit)
    if (!value.some(isStored)) return value
    // Previews would make a long list longer.
    const saveItem = async (one: unknown) => ({ ...(await save(one)), preview: null })
    return mapInParallel(value, AT_ONCE, async (one) => (isStored(one) ? saveItem(one) : one))
  }
  if (!isPlainObject(value)) return isLong(value) ? save(value) : value
  const long = new Set(Object.keys(value).filter((key) => isLong(value[key])))
  const fields = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, long.has(key) ? standIn(one) : one]),
  )
  if (isTooLong(fields, max)) return save(value)
  for (const key of long) fields[key] = await save(value[key])
  return long.size === 0 ? value : fields
}

/** Returns what replaces a value, without its reference and size. */
function standIn(value: unknown): Omit<OffloadedValue, 'assetRef' | 'size'> {
  const preview = holdsBytes(value) ? null : previewOf(value)
  return { mimeType: 'application/json', kind: 'file', offloaded: true, preview }
}

/**
 * Matches the name of a stored part in its asset. It is random and only in the reference, so nobody who knows an asset by
 * its id can write such a reference. Other references, such as those of a model, are data.
 */
const KEY = /^(?:step|bytes)-[0-9a-z]{27}$/

async function stored(
  value: unknown,
  { tool, toolCallId }: StoringCall,
  assets: Assets,
): Promise<Pick<OffloadedValue, 'assetRef' | 'size'>> {
  const hasBytes = holdsBytes(value)
  const key = `${hasBytes ? 'bytes' : 'step'}-${newId()}`
  const { ref, size } = await assets.scoped({ by: 'tool', tool, toolCallId }).saveAsset({
    asset_type: OFFLOADED_TYPE,
    asset_name: `${tool} result`,
    content_type: 'application/json',
    content: { [key]: hasBytes ? described(value, key) : value },
  })
  return { assetRef: `${ref}/content/${key}`, size }
}

function holdsBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (binaryBody(value) !== null) return true
  return Array.isArray(value) || isPlainObject(value)
    ? Object.values(value).some(holdsBytes)
    : false
}

/** Returns a value with descriptions of each Buffer and File. An asset keeps only their bytes. */
function described(value: unknown, key: string): unknown {
  if (Buffer.isBuffer(value)) return { [key]: 'buffer', body: value }
  if (value instanceof File) {
    const { name, type, lastModified } = value
    return { [key]: 'file', body: value, name, type, lastModified }
  }
  return withParts(value, (one) => described(one, key))
}

/** Returns a value with each Buffer and File that {@link described} has described. */
function restored(value: unknown, key: string): unknown {
  if (!isPlainObject(value) || !Object.hasOwn(value, key)) {
    return withParts(value, (one) => restored(one, key))
  }
  const { [key]: form, body, name, ...about } = value
  return form === 'buffer'
    ? bufferOf(body as Uint8Array)
    : new File([body as Blob], String(name), about)
}

/** Changes the items of a list or the fields of an object. Returns the same value if it has none, or if none changes. */
function withParts(value: unknown, change: (part: unknown) => unknown): unknown {
  if (!Array.isArray(value) && !isPlainObject(value)) return value
  return replaced(value, Object.values(value).map(change))
}

function replaced(value: object, parts: readonly unknown[]): unknown {
  const before = Object.entries(value)
  if (before.every(([, one], i) => one === parts[i])) return value
  return Array.isArray(value)
    ? parts
    : Object.fromEntries(before.map(([key], i) => [key, parts[i]]))
}

/** Returns a value with its stored parts, at any depth. Returns the same value if it has none. */
export async function unpacked(value: unknown, assets: Assets): Promise<unknown> {
  const ref = Object(value).offloaded === true ? fileRefIn(value) : null
  const [, key, ...deeper] = (ref !== null && parseAssetRef(ref)?.fieldPath) || []
  if (ref !== null && typeof key === 'string' && KEY.test(key) && deeper.length === 0) {
    const stored = await assets.resolve(ref)
    return key.startsWith('bytes') ? restored(stored, key) : stored
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return value
  return replaced(
    value,
    await Promise.all(Object.values(value).map((one) => unpacked(one, assets))),
  )
}
