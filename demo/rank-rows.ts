import { z } from 'zod'
import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { requireRows, withProgress } from './read-rows.ts'
import { numberOf } from './summarize.ts'
import { columnsOf, meets, whereSchema } from './where.ts'

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
    where: whereSchema,
    limit: z.number().int().min(1).max(20).default(1).describe('How many rows to return.'),
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, by, order, where, limit }, { progress, signal }) {
    requireRows(rows, [by, ...columnsOf(where)])
    let of = 0
    let empty = 0
    let ties = 0
    const sign = order === 'highest' ? -1 : 1
    const best: TableRow[] = []
    for await (const row of withProgress(rows, { verb: 'Ranking', progress, signal })) {
      if (!meets(row, where)) continue
      of++
      if (row[by] === null || row[by] === undefined || row[by] === '') {
        empty++
        continue
      }
      let place = best.length
      while (place > 0 && sign * compare(row[by], best[place - 1]?.[by]) < 0) place--
      if (place < limit) best.splice(place, 0, row)
      const dropped = place >= limit ? row : best.length > limit ? best.pop() : undefined
      if (!dropped) continue
      // A dropped row may tie with the last one of the result.
      if (compare(dropped[by], best.at(-1)?.[by]) === 0) ties++
      else if (place < limit) ties = 0
    }
    return { by, order, of, empty, ties, rows: best }
  },
})

function compare(a: unknown, b: unknown): number {
  const [left, right] = [comparable(a), comparable(b)]
  if (typeof left !== typeof right) return typeof left < typeof right ? -1 : 1
  return left < right ? -1 : left > right ? 1 : 0
}

/** Long numbers are text in a table, and are compared as numbers. */
function comparable(value: unknown): number | string {
  const number = numberOf(value)
  return typeof number === 'number' ? number : String(value)
}
