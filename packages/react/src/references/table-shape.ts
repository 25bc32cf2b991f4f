import { formatCount } from '../ui/format.ts'

/** Returns `1,461 rows × 6 columns` if the flattened meta is that of a table, otherwise null. */
export function tableShape(meta: Record<string, unknown>): string | null {
  const columns = Object.keys(meta).filter((key) =>
    /^content\/columns\/\d+\/name$/.test(key),
  ).length
  if (columns === 0) return null
  const rows = rowCount(meta)
  const of = `${formatCount(columns)} ${columns === 1 ? 'column' : 'columns'}`
  return rows === null ? of : `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} × ${of}`
}

/** Returns the row count from the mark of a shortened list, or else the number of rows in the meta. */
function rowCount(meta: Record<string, unknown>): number | null {
  const rows = Object.entries(meta).filter(([key]) => /^content\/rows\/\d+$/.test(key))
  const cut = /^<cut from (\d+) items>$/.exec(String(rows.at(-1)?.[1]))
  if (cut) return Number(cut[1])
  return 'content/rows' in meta ? rows.length : null
}
