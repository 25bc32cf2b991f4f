import type { JsonValue } from '../json/json.ts'

/**
 * A record that can hold anything: bytes, text, JSON with bytes at its leaves, a live object. It never changes
 * once saved.
 */
export interface Asset {
  /** The application's own classification of assets. */
  asset_type?: string
  asset_id: string
  asset_name?: string
  description?: string
  /** A MIME type, `command`, `asset_ref`, `data`, or a type string such as `<class 'dict'>`. */
  content_type: string
  content: unknown
}

/** The asset with every value that JSON cannot represent replaced by its type string. */
export interface AssetMeta {
  asset_type?: string
  asset_id: string
  asset_name?: string
  description?: string
  content_type: string
  content: JsonValue
}
