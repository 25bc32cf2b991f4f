import {
  type AssetRefParts,
  extractAssetId,
  formatAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import type { FieldKey } from '../core/refs/field-path.ts'

/** Which part of an asset and how. */
export interface AssetUrlOptions {
  /** The field, instead of the one that the reference names; such as `['content', 'rows', 0]`. */
  path?: FieldKey[]
  /** Ask the browser to save it under its name instead of showing it. */
  download?: boolean
}

/** The path of what is known of an asset. */
export function assetPath(ref: string): string {
  return `/api/assets/${encodeURIComponent(parse(ref).id)}`
}

/** The path of an asset's body, or of a field in it. */
export function contentPath(ref: string, { path, download = false }: AssetUrlOptions = {}): string {
  const { id, fieldPath } = parse(ref)
  const field = path ?? fieldPath ?? []
  const query = new URLSearchParams()
  // Keys are written as in an asset URL, of which only what follows the id is wanted.
  const whole = formatAssetRef({ id, fieldPath: field })
  if (field.length > 0) query.set('path', whole.slice(formatAssetRef({ id }).length))
  if (download) query.set('download', '1')
  return `/api/assets/${encodeURIComponent(id)}/content${query.size > 0 ? `?${query}` : ''}`
}

/** The parts of a reference; a bare id is one of the asset itself. */
function parse(ref: string): AssetRefParts {
  return parseAssetRef(ref) ?? { id: extractAssetId(ref) }
}
