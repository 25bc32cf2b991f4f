import type { AssetInfo } from 'byref/client'

/** An asset as it is saved with a page. */
export interface SavedAsset {
  asset: AssetInfo
  meta: Record<string, unknown>
  /** The body in Base64; null for one that was left out. */
  body: string | null
  /** The first rows of a table. */
  rows?: Record<string, unknown>[]
  columns?: { name: string; type: string }[]
}

/** A conversation as it is saved in one HTML file. */
export interface SavedPage {
  version: 1
  id: string
  savedAt: string
  /** The lines of its export (docs/reference/conversation-log.md). */
  lines: readonly string[]
  /** Whether debug data are among the lines. */
  debug: boolean
  assets: readonly SavedAsset[]
}

/** Bytes of one body, and of all of them, up to which they are saved with a page. */
export const LIMITS = { each: 5_000_000, all: 25_000_000, rows: 1_000 }

/** The id of the element that holds the {@link SavedPage} as JSON. */
export const DATA_ID = 'byref-saved-page'
