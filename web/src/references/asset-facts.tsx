import { formatBytes } from '../ui/format.ts'
import { tableShape } from './table-shape.ts'

/** What is said of an asset: by an event of the conversation, or by the server. */
export interface AssetFactsProps {
  asset: { mime: string; size?: number | null }
  meta?: Record<string, unknown>
}

/** Type, size and, of a table, rows and columns, in a line. */
export function AssetFacts({ asset: { mime, size }, meta = {} }: AssetFactsProps) {
  const sizeText = size === null || size === undefined ? null : formatBytes(size)
  const facts = [tableShape(meta), mime, sizeText].filter(Boolean)
  return <p className="truncate text-xs text-ink-3 tabular-nums">{facts.join(' · ')}</p>
}
