import type { AssetCreated } from '../events/events.ts'
import { isPlainObject } from '../json/json.ts'
import { type AssetRefParts, formatAssetRef, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import type { FieldKey } from '../refs/field-key.ts'

/** Replaces a value that was too large for its place and is stored as an asset. */
export interface OffloadedValue {
  offloaded: true
  /** The reference of the asset. Its content is the value. */
  assetRef: string
  mimeType: 'application/json' | 'text/plain'
  kind: 'file'
  /** Size of the asset's body in bytes: that of the text, or of the JSON of any other value. */
  size: number
  /** The beginning of the value. Only in results. */
  preview?: unknown
}

/** All keys. Only results have `preview`. */
export const OFFLOADED_KEYS: ReadonlySet<unknown> = new Set<keyof OffloadedValue>([
  'offloaded',
  'assetRef',
  'mimeType',
  'kind',
  'size',
  'preview',
])

/** The `asset_type` of an offloaded result. */
export const OFFLOADED_TYPE = 'tool_result'

/** Whether an asset is an offloaded result. */
export function isOffloadedResult({ meta }: AssetCreated): boolean {
  return meta?.asset_type === OFFLOADED_TYPE
}

/** Whether a value is a reference to an offloaded value. Readers continue in its asset. */
export function isOffloaded(value: unknown): value is OffloadedValue {
  return isPlainObject(value) && value.offloaded === true && isAssetRef(value.assetRef)
}

/** Returns the reference to a field in an offloaded value. */
export function offloadedField({ assetRef }: OffloadedValue, path: readonly FieldKey[]): string {
  const { id, namespace } = parseAssetRef(assetRef) as AssetRefParts
  return formatAssetRef({ id, namespace, fieldPath: ['content', ...path] })
}
