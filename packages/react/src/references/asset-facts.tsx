import { formatBytes } from '../ui/format.ts'
import { tableShape } from './table-shape.ts'

/** The properties of an asset, from an event of the conversation or from the server. */
export interface AssetFactsProps {
  asset: { mime: string; size?: number | null }
  meta?: Record<string, unknown>
}

/** Renders type and size in a line; for a table also rows and columns. */
export function AssetFacts({ asset: { mime, size }, meta = {} }: AssetFactsProps) {
  const sizeText = size === null || size === undefined ? null : formatBytes(size)
  const shape = tableShape(meta)
  const kind = mime === 'application/vnd.apache.parquet' ? 'Table' : mime
  const facts = [kind, shape, sizeText].filter(Boolean)
  return <p className="truncate text-xs text-ink-3 tabular-nums">{facts.join(' · ')}</p>
}
