import type { AssetInfo } from 'byref/client'

/** An asset in a saved page. */
export interface SavedAsset {
  asset: AssetInfo
  meta: Record<string, unknown>
  /** The body in base64. Null if it was left out. */
  body: string | null
  /** The first rows of a table. */
  rows?: Record<string, unknown>[]
  columns?: { name: string; type: string }[]
}

/** A Mermaid diagram in a saved page, as SVG. */
export interface SavedDiagram {
  source: string
  light: string
  dark: string
}

/** A conversation in a saved HTML file. */
export interface SavedPage {
  version: 1
  id: string
  savedAt: string
  /** The lines of its export (docs/reference/conversation-log.md). */
  lines: readonly string[]
  /** Whether debug data are among the lines. */
  debug: boolean
  assets: readonly SavedAsset[]
  /** Diagrams are drawn when the page is saved. Absent in pages that were saved before. */
  diagrams?: readonly SavedDiagram[]
}

/** Maximum bytes of one body and of all bodies, and maximum rows of a table, that are saved with a page. */
export const LIMITS = { each: 5_000_000, all: 25_000_000, rows: 1_000 }

/** The id of the element that holds the {@link SavedPage} as JSON. */
export const DATA_ID = 'byref-saved-page'
