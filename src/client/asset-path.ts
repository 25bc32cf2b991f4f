import { formatAssetRef, refParts } from '../core/refs/asset-ref.ts'
import type { FieldKey } from '../core/refs/field-path.ts'

/** Options of an asset's URL. */
export interface AssetUrlOptions {
  /** A field such as `['content', 'rows', 0]`, in place of the one that the reference names. */
  path?: FieldKey[]
  /** Makes the browser save the file under its name. */
  download?: boolean
}

/** Returns the path of an asset's metadata. */
export function assetPath(ref: string): string {
  return `/api/assets/${encodeURIComponent(refParts(ref).id)}`
}

/** Returns the path of an asset's body, or of a field in it. */
export function contentPath(ref: string, { path, download = false }: AssetUrlOptions = {}): string {
  const { id, fieldPath } = refParts(ref)
  const field = path ?? fieldPath ?? []
  const query = new URLSearchParams()
  // The keys as in an asset reference, without what comes before them.
  const whole = formatAssetRef({ id, fieldPath: field })
  if (field.length > 0) query.set('path', whole.slice(formatAssetRef({ id }).length))
  if (download) query.set('download', '1')
  return `/api/assets/${encodeURIComponent(id)}/content${query.size > 0 ? `?${query}` : ''}`
}
