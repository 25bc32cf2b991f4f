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

function rowCount(meta: Record<string, unknown>): number | null {
  const said = Object.entries(meta).find(([key]) => /^content\/rows(\/\D*)?$/.test(key))
  const number = typeof said?.[1] === 'string' ? /(\d[\d,]*)\s+(?:items|rows)/.exec(said[1]) : null
  return number?.[1] ? Number(number[1].replaceAll(',', '')) : null
}
