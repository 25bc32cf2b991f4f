import { ByrefError } from '../core/errors.ts'
import { type AssetRefParts, formatAssetRef, isAssetRef } from '../core/refs/asset-ref.ts'
import type { Assets } from './assets-contract.ts'

/**
 * Returns the reference of an object that names an asset by its `assetRef`, such as a file as a prompt shows it, or a
 * result of `query_tables`. Null for any other value.
 */
export function refIn(value: unknown): string | null {
  const { assetRef } = Object(value) as { assetRef?: unknown }
  return typeof assetRef === 'string' && isAssetRef(assetRef) ? assetRef : null
}

/** Returns the reference of a file in a result, `{ assetRef, mimeType, … }`; null for any other value. */
export function fileRefIn(value: unknown): string | null {
  const { mimeType } = Object(value) as { mimeType?: unknown }
  return typeof mimeType === 'string' ? refIn(value) : null
}

/** A field of an asset that holds a file of a result, such as `asset://id/content/picture`. */
export interface HeldBody {
  /** The reference of the file. */
  ref: string
  /** The value of the field: `{ assetRef, mimeType, … }`. */
  value: object
}

/**
 * Returns the file that a reference to a field leads to. Null for a reference to a whole asset, and for a field that has
 * any other value or cannot be read.
 *
 * @throws any error of the store, because an error must not hide the labels of a file
 */
export async function heldBody(
  { fieldPath = [], ...asset }: AssetRefParts,
  assets: Pick<Assets, 'resolve'>,
): Promise<HeldBody | null> {
  if (fieldPath[0] !== 'content' || fieldPath.length < 2) return null
  const at = (path: typeof fieldPath) =>
    assets.resolve(formatAssetRef({ ...asset, fieldPath: path }))
  try {
    // A field that is not there is found quickly, also in a table with many rows.
    if (typeof (await at([...fieldPath, 'assetRef'])) !== 'string') return null
    const value = await at(fieldPath)
    const ref = fileRefIn(value)
    return ref === null ? null : { ref, value: value as object }
  } catch (error) {
    if (error instanceof ByrefError && error.code !== 'storage_failed') return null
    throw error
  }
}
