import { unflatten } from 'byref/client'
import { countBeforeCut } from '../../references/table-shape.ts'
import { isRecord } from '../../ui/is-record.ts'

/** The part of a table that its meta contains. */
export interface TableSample {
  columns: { name: string; type: string | null; missing: number | null; warning?: string }[]
  rows: Record<string, unknown>[]
  /** Number of all rows. */
  total: number
  /** Number of all columns. Set only if the meta does not contain all of them. */
  width?: number
}

/** Returns the table that a flattened meta describes, with its first rows. Null for any other asset. */
export function readTable(meta: Record<string, unknown>): TableSample | null {
  if (!('content/columns/0/name' in meta) || !('content/rows' in meta)) return null
  const { content } = unflatten(meta) as { content: { columns?: unknown; rows?: unknown } }
  if (!Array.isArray(content?.columns) || !Array.isArray(content.rows)) return null
  const columns = content.columns.flatMap(
    (column: { name?: unknown; type?: unknown; missing?: unknown; warning?: unknown }) =>
      typeof column?.name === 'string'
        ? [
            {
              name: column.name,
              type: typeof column.type === 'string' ? column.type : null,
              missing: typeof column.missing === 'number' ? column.missing : null,
              ...(typeof column.warning === 'string' && { warning: column.warning }),
            },
          ]
        : [],
  )
  const rows = content.rows.filter(isRecord)
  const total = countBeforeCut(content.rows.at(-1)) ?? rows.length
  const width = countBeforeCut(content.columns.at(-1))
  return { columns, rows, total, ...(width !== null && { width }) }
}

/** Returns whether the cells of a column of this type are numbers. */
export function isNumeric(type: string | null): boolean {
  return /^(number|integer|decimal)$/.test(type ?? '')
}
