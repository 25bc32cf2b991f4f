import type { AssetOrigin } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { AssetRecord } from './asset-store.ts'

/** The description of an asset. Reading it does not read the body. */
export interface AssetInfo extends Omit<AssetRecord, 'version' | 'attributes' | 'parts'> {
  /** The full reference, `asset://…`. */
  ref: string
  description: string | null
  /** Whether it is structured content, with fields that references can name. */
  structured: boolean
  /** The size of a table, and the reference of its original file. Null for other assets. */
  table: { rows: number; columns: number; source: string | null } | null
  /** The reference of the version that it was made from, by `edit`. Absent for an asset that is not an edited one. */
  previous?: string
  /** Who made it: a `tool`, the `agent` (its model), a `user`, or the `system` (the app). */
  by?: AssetOrigin
  /** The tool that made it, and its call. */
  tool?: string
  toolCallId?: string
  /** The label of its content, if it was made with trust on (docs/reference/trust.md). */
  label?: WrittenLabel
}

/** The maker of an asset, for its event. */
export interface AssetMaker {
  /** Default: `system`. */
  by?: AssetOrigin
  tool?: string
  toolCallId?: string
  /** JSON Pointer into the result that held the asset. */
  origin?: string
}
