import { z } from 'zod'
import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { requireRows, withProgress } from './read-rows.ts'

/** Finds the rows with the highest or lowest values of a column. */
export const rankRows = defineTool({
  id: 'rank_rows',
  description:
    'Finds the rows with the highest or lowest value in a column, best first. Rows without a value are left out.',
  inputSchema: z.object({
    rows: z
      .custom<TableRows>()
      .meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' })
      .describe('The rows of a table or of a summary.'),
    by: z.string().describe('The column to rank by.'),
    order: z.enum(['highest', 'lowest']).default('highest'),
    limit: z.number().int().min(1).max(20).default(1).describe('How many rows to return.'),
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, by, order, limit }, { progress, signal }) {
    requireRows(rows, [by])
    const sign = order === 'highest' ? -1 : 1
    const best: TableRow[] = []
    for await (const row of withProgress(rows, { verb: 'Ranking', progress, signal })) {
      if (row[by] === null || row[by] === undefined || row[by] === '') continue
      let place = best.length
      while (place > 0 && sign * compare(row[by], best[place - 1]?.[by]) < 0) place--
      if (place < limit) best.splice(place, 0, row)
      if (best.length > limit) best.pop()
    }
    return { by, order, of: rows.count, rows: best }
  },
})

function compare(a: unknown, b: unknown): number {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0
  const [left, right] = [String(a), String(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
