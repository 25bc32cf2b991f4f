import { z } from 'zod'
import { defineTool } from '../agent/tools/tool.ts'
import { type Row, requireColumns } from './summarize.ts'

/** Finds the rows with the highest or lowest values of a column. */
export const rankRows = defineTool({
  id: 'rank_rows',
  description:
    'Finds the rows with the highest or lowest value in a column, best first. Rows without a value are left out.',
  inputSchema: z.object({
    rows: z
      .array(z.record(z.string(), z.unknown()))
      .meta({ asset_ref_acceptable: true })
      .describe('The rows of a table or of a summary: objects by column name.'),
    by: z.string().describe('The column to rank by.'),
    order: z.enum(['highest', 'lowest']).default('highest'),
    limit: z.number().int().min(1).max(20).default(1).describe('How many rows to return.'),
  }),
  idempotent: true,
  mappable: false,
  execute({ rows, by, order, limit }) {
    requireColumns(rows as Row[], [by])
    const sign = order === 'highest' ? -1 : 1
    const ranked = (rows as Row[])
      .filter((row) => row[by] !== null && row[by] !== undefined && row[by] !== '')
      .sort((a, b) => sign * compare(a[by], b[by]))
    return { by, order, of: rows.length, rows: ranked.slice(0, limit) }
  },
})

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [String(a), String(b)]
  return left < right ? -1 : left > right ? 1 : 0
}
