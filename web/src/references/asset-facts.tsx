import type { AssetDetails } from 'byref/client'
import { formatBytes } from '../ui/format.ts'
import { tableShape } from './table-shape.ts'

/** Type, size and, of a table, rows and columns, in a line. */
export function AssetFacts({ details }: { details: AssetDetails }) {
  const { mime, size } = details.asset
  const shape = tableShape(details.meta)
  const facts = [shape, mime, size === null ? null : formatBytes(size)].filter(Boolean)
  return <p className="text-xs text-ink-3 tabular-nums">{facts.join(' · ')}</p>
}
