import type { AssetOrigin } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { AssetRecord } from './asset-store.ts'

/** Everything that is known of an asset without reading its body. */
export interface AssetInfo extends Omit<AssetRecord, 'version' | 'attributes' | 'parts'> {
  /** The full reference, `asset://…`. */
  ref: string
  description: string | null
  /** Whether it is structured content, with fields that references can name. */
  structured: boolean
  /** Of a table how large it is, and the reference of the file as it came; null for other assets. */
  table: { rows: number; columns: number; source: string | null } | null
  /** Of what it holds, where it was made with trust on (docs/reference/trust.md). */
  label?: WrittenLabel
}

/** Who makes an asset, for its event. */
export interface AssetMaker {
  /** Default: `system`. */
  by?: AssetOrigin
  tool?: string
  toolCallId?: string
  /** JSON Pointer into the result that held the asset. */
  origin?: string
}
