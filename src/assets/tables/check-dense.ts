import { broken, type TableSource } from './table-text.ts'

/** Cells that a table may have whatever is in them. */
const MAX_SPARSE = 1_000_000

/**
 * Refuses tables that are mostly empty cells, so many that a small file becomes a huge one: called with how many columns
 * there are by now, and how many rows and cells came since the last call.
 */
export function checkDense(
  source: TableSource,
  reason: string,
): (columns: number, rows: number, cells: number) => void {
  let count = 0
  let filled = 0
  return (columns, rows, cells) => {
    count += rows
    filled += cells
    const size = count * columns
    if (size > MAX_SPARSE && size > filled * 10) throw broken(source, null, reason)
  }
}
