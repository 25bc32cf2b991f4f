import type { AssetCreated } from '../events/events.ts'
import { isPlainObject } from '../json/json.ts'
import { type AssetRefParts, formatAssetRef, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import type { FieldKey } from '../refs/field-key.ts'

/** What stands for a value that was too large for its place and is an asset. */
export interface OffloadedValue {
  offloaded: true
  /** The asset; its content is the value. */
  assetRef: string
  mimeType: 'application/json'
  kind: 'file'
  /** Bytes of the value as JSON. */
  size: number
  /** The value in short, in results only. */
  preview?: unknown
}

/** Its keys, of which the preview is in results only. */
export const OFFLOADED_KEYS: ReadonlySet<unknown> = new Set<keyof OffloadedValue>([
  'offloaded',
  'assetRef',
  'mimeType',
  'kind',
  'size',
  'preview',
])

/** What the asset of a offloaded result is called by its type. */
export const OFFLOADED_TYPE = 'tool_result'

/** Whether an asset is a result that was too large for its place. */
export function isOffloadedResult({ meta }: AssetCreated): boolean {
  return meta?.asset_type === OFFLOADED_TYPE
}

/** Whether a value stands for one that is an asset: who reads it reads on there. */
export function isOffloaded(value: unknown): value is OffloadedValue {
  return isPlainObject(value) && value.offloaded === true && isAssetRef(value.assetRef)
}

/** The reference to a path in a offloaded value. */
export function offloadedField({ assetRef }: OffloadedValue, path: readonly FieldKey[]): string {
  const { id, namespace } = parseAssetRef(assetRef) as AssetRefParts
  return formatAssetRef({ id, namespace, fieldPath: ['content', ...path] })
}
