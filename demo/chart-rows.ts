import { z } from 'zod'
import type { TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { ByrefError } from '../src/core/errors.ts'
import { drawBarChart } from './bar-chart.ts'
import { summarize } from './summarize.ts'

/** More bars than this cannot be told apart in the picture. */
const MAX_BARS = 400

/** Groups the rows of any table, measures each group and draws it. */
export const chartRows = defineTool({
  id: 'chart_rows',
  description:
    'Groups the rows of a table by a column, measures another column in each group and draws a bar chart. ' +
    'Returns the picture and the summary rows, one for each group.',
  inputSchema: z.object({
    rows: z
      .custom<TableRows>()
      .meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' })
      .describe('The rows of the table.'),
    group_by: z.string().describe('The column to group by.'),
    interval: z
      .enum(['day', 'month', 'year'])
      .optional()
      .describe('For a column of dates: the length of a group.'),
    value: z.string().optional().describe('The column to measure; only "count" needs none.'),
    measure: z.enum(['sum', 'mean', 'max', 'min', 'count']),
    title: z.string().max(200).optional(),
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, group_by, interval, value, measure, title }, { progress, signal }) {
    const options = { groupBy: group_by, interval, value, measure }
    const summary = await summarize(rows, { ...options, progress, signal })
    if (summary.rows.length === 0) {
      throw new ByrefError('invalid_arguments', `No row has both "${group_by}" and "${value}"`)
    }
    if (summary.rows.length > MAX_BARS) {
      throw new ByrefError(
        'invalid_arguments',
        `${summary.rows.length} groups are too many for one chart (at most ${MAX_BARS}): choose a longer interval or another column`,
      )
    }
    signal.throwIfAborted()
    progress(`Drawing ${summary.rows.length} bars`, 1)
    const { groupColumn, valueColumn } = summary
    const label = measure === 'count' ? 'count' : `${measure} of ${value}`
    const heading = title ?? `${label} by ${groupColumn}`
    const picture = await drawBarChart({
      title: heading,
      valueLabel: label,
      bars: summary.rows.map((row) => ({
        label: String(row[groupColumn]),
        value: row[valueColumn] as number,
      })),
    })
    // A file has a name: what the picture shows.
    const chart = new File([picture as Uint8Array<ArrayBuffer>], heading)
    return { title: heading, measure, chart, rows: summary.rows, skipped: summary.skipped }
  },
})
