import { z } from 'zod'
import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { ByrefError } from '../src/core/errors.ts'
import { drawBarChart } from './bar-chart.ts'
import {
  type Interval,
  type Measure,
  type Summary,
  type SummaryOptions,
  summarize,
} from './summarize.ts'
import { whereSchema, whereText } from './where.ts'

/** Maximum number of bars that can be distinguished in the picture. */
const MAX_BARS = 400
/** The number of groups that are drawn if there are more. */
const MAX_CATEGORIES = 40

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
    measure: z.enum(['sum', 'mean', 'median', 'max', 'min', 'count']),
    where: whereSchema,
    title: z.string().max(200).optional(),
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, group_by, interval, value, measure, where, title }, { progress, signal }) {
    const options = { groupBy: group_by, value, measure, where, progress, signal }
    const summary = await inFewGroups(rows, { ...options, interval })
    if (summary.rows.length === 0) {
      throw new ByrefError('invalid_arguments', `No row has both "${group_by}" and "${value}"`)
    }
    signal.throwIfAborted()
    const { groupColumn, valueColumn } = summary
    const { rows: bars, note } = fitting(summary, measure)
    progress(`Drawing ${bars.length} bars`, 1)
    const label = measure === 'count' ? 'Count' : `${NAMES[measure]} of ${value}`
    const heading = title ?? `${label} by ${groupColumn}${whereText(where)}`
    const left = leftOut(summary, note)
    const picture = await drawBarChart({
      title: heading,
      valueLabel: label,
      ...(left === null ? {} : { note: left }),
      bars: bars.map((row) => ({
        label: String(row[groupColumn]),
        value: row[valueColumn] as number,
      })),
    })
    // The picture shows the name of the file.
    const chart = new File([picture as Uint8Array<ArrayBuffer>], heading)
    return {
      title: heading,
      measure,
      chart,
      rows: summary.rows,
      skipped: summary.skipped,
      value_column: valueColumn,
      ...(left === null ? {} : { left_out: left }),
    }
  },
})

/** The measures, as the first words of a title. */
const NAMES: Record<Exclude<Measure, 'count'>, string> = {
  sum: 'Sum',
  mean: 'Mean',
  median: 'Median',
  max: 'Maximum',
  min: 'Minimum',
}

/** Groups rows. Dates that make too many groups are grouped by a longer interval. */
async function inFewGroups(rows: TableRows, options: SummaryOptions): Promise<Summary> {
  const summary = await summarize(rows, options)
  const type = rows.columns.find(({ name }) => name === options.groupBy)?.type
  if (summary.rows.length <= MAX_BARS || type !== 'date') return summary
  const longer = INTERVALS[INTERVALS.indexOf(options.interval ?? null) + 1]
  return longer ? inFewGroups(rows, { ...options, interval: longer }) : summary
}

const INTERVALS: readonly (Interval | null)[] = [null, 'day', 'month', 'year']

/** Returns the bars that fit: those with the largest values, and one for the rest if values can be added. */
function fitting(
  { rows, groupColumn, valueColumn }: Summary,
  measure: Measure,
): { rows: readonly TableRow[]; note: string | null } {
  if (rows.length <= MAX_BARS) return { rows, note: null }
  const size = (row: TableRow): number => Math.abs(Number(row[valueColumn]))
  const sorted = rows.toSorted((a, b) => size(b) - size(a))
  const kept = sorted.slice(0, MAX_CATEGORIES)
  const others = sorted.slice(MAX_CATEGORIES)
  const count = others.length.toLocaleString('en')
  if (measure !== 'sum' && measure !== 'count') {
    return { rows: kept, note: `${count} smaller groups do not fit and are not drawn` }
  }
  const sum = others.reduce((total, row) => total + Number(row[valueColumn]), 0)
  const rest = { [groupColumn]: `${count} others`, [valueColumn]: sum }
  return { rows: [...kept, rest], note: `${count} smaller groups are drawn as one bar` }
}

/** Returns a note about the rows and groups that the picture omits; null if it shows all of them. */
function leftOut({ skipped, of, reasons }: Summary, note: string | null): string | null {
  const rows =
    skipped > 0
      ? `${skipped.toLocaleString('en')} of ${of.toLocaleString('en')} rows are left out: ${reasons.join(', ')}`
      : null
  const notes = [rows, note].filter((one) => one !== null)
  return notes.length > 0 ? `${notes.join('. ')}.` : null
}
