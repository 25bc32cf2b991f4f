import type { AssetOrigin } from '../content/events.ts'
import type { AssetKind } from './asset-store.ts'

/** Everything that is known of an asset without reading its body. */
export interface AssetInfo {
  assetId: string
  /** The full reference, `asset://…`. */
  ref: string
  /** Null where there are no namespaces. */
  namespace: string | null
  mime: string
  kind: AssetKind
  /** Bytes of the body: of structured content its JSON, of a table its Parquet. */
  size: number
  /** SHA-256 of the body, lower-case hex. */
  digest: string
  name: string | null
  description: string | null
  /** ISO 8601 in UTC. */
  createdAt: string
  expiresAt: string | null
  /** Whether it is structured content, with fields that references can name. */
  structured: boolean
  /** Of a table (spec A15) how large it is, and the reference of the file as it came; null for other assets. */
  table: { rows: number; columns: number; source: string | null } | null
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
