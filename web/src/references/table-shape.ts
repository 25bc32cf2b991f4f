import { formatCount } from '../ui/format.ts'

/** `1,461 rows × 6 columns` where the flattened meta is that of a table, else null. */
export function tableShape(meta: Record<string, unknown>): string | null {
  const columns = Object.keys(meta).filter((key) =>
    /^content\/columns\/\d+\/name$/.test(key),
  ).length
  if (columns === 0) return null
  const rows = rowCount(meta)
  const of = `${columns} ${columns === 1 ? 'column' : 'columns'}`
  return rows === null ? of : `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} × ${of}`
}

/** What the mark of a cut list says, else the number of rows that are there. */
function rowCount(meta: Record<string, unknown>): number | null {
  const rows = Object.entries(meta).filter(([key]) => /^content\/rows\/\d+$/.test(key))
  const cut = /^<cut: (\d+) items>$/.exec(String(rows.at(-1)?.[1]))
  if (cut) return Number(cut[1])
  return 'content/rows' in meta ? rows.length : null
}
