import type { Assets } from '../../assets/assets-contract.ts'
import { binaryBody } from '../../assets/extract/found-body.ts'
import { fileRefIn } from '../../assets/held-body.ts'
import { isTooLong, previewOf, type StoringCall } from '../../boundary/store.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { OFFLOADED_TYPE, type OffloadedValue } from '../../core/messages/offloaded.ts'
import { parseAssetRef } from '../../core/refs/asset-ref.ts'

/**
 * Stores the long fields of a value, and those with bytes, each as an asset: a reference and a preview replace it.
 * {@link unpacked} returns an equal value. Unlike in a result for a model, nothing inside a field changes its form. Returns the
 * same value if nothing is stored.
 */
export async function packed(
  value: unknown,
  { assets, ...call }: StoringCall & { assets: Assets },
): Promise<unknown> {
  if (!isPlainObject(value)) return packedWhole(value, call, assets)
  const entries = await Promise.all(
    Object.entries(value).map(async ([key, one]) => [key, await packedWhole(one, call, assets)]),
  )
  const fields = Object.fromEntries(entries)
  if (isTooLong(fields, call.maxResultChars)) return store(value, call, assets)
  return Object.keys(fields).every((key) => fields[key] === value[key]) ? value : fields
}

async function packedWhole(value: unknown, call: StoringCall, assets: Assets): Promise<unknown> {
  const isLong = holdsBytes(value) || isTooLong(value, call.maxResultChars)
  return isLong ? store(value, call, assets) : value
}

async function store(
  value: unknown,
  { tool, toolCallId }: StoringCall,
  assets: Assets,
): Promise<OffloadedValue> {
  const { ref, size } = await assets.scoped({ by: 'tool', tool, toolCallId }).saveAsset({
    asset_type: OFFLOADED_TYPE,
    asset_name: `${tool} result`,
    content_type: 'application/json',
    content: { value },
  })
  const preview = holdsBytes(value) ? null : previewOf(value)
  const about = { mimeType: 'application/json', kind: 'file', size, offloaded: true } as const
  return { assetRef: `${ref}/content/value`, ...about, preview }
}

function holdsBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (binaryBody(value) !== null) return true
  return Array.isArray(value) || isPlainObject(value)
    ? Object.values(value).some(holdsBytes)
    : false
}

/** Returns a value with its stored parts, at any depth. Returns the same value if it has none. */
export async function unpacked(value: unknown, assets: Assets): Promise<unknown> {
  const ref = Object(value).offloaded === true ? fileRefIn(value) : null
  // A long result of a tool is the content of its asset.
  if (ref !== null) {
    return assets.resolve(parseAssetRef(ref)?.fieldPath?.length ? ref : `${ref}/content`)
  }
  if (!Array.isArray(value) && !isPlainObject(value)) return value
  const keys = Object.keys(value)
  const before = Object.values(value)
  const after = await Promise.all(before.map((one) => unpacked(one, assets)))
  if (after.every((one, i) => one === before[i])) return value
  return Array.isArray(value) ? after : Object.fromEntries(keys.map((key, i) => [key, after[i]]))
}
