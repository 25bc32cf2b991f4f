import { formatCount } from '../ui/format.ts'

/** Returns `1,461 rows × 6 columns` if the flattened meta is that of a table, otherwise null. */
export function tableShape(meta: Record<string, unknown>): string | null {
  const named = Object.keys(meta).filter((key) => /^content\/columns\/\d+\/name$/.test(key)).length
  if (named === 0) return null
  const columns = countBeforeCut(meta[`content/columns/${named}`]) ?? named
  const rows = rowCount(meta)
  const of = `${formatCount(columns)} ${columns === 1 ? 'column' : 'columns'}`
  return rows === null ? of : `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'} × ${of}`
}

/** Returns the row count from the mark of a shortened list, or else the number of rows in the meta. */
function rowCount(meta: Record<string, unknown>): number | null {
  const rows = Object.entries(meta).filter(([key]) => /^content\/rows\/\d+$/.test(key))
  return countBeforeCut(rows.at(-1)?.[1]) ?? ('content/rows' in meta ? rows.length : null)
}

/** Returns the length of a list from the mark `<cut from 120 items>` at its end. Null for any other value. */
export function countBeforeCut(mark: unknown): number | null {
  const cut = /^<cut from (\d+) items>$/.exec(String(mark))
  return cut ? Number(cut[1]) : null
}
