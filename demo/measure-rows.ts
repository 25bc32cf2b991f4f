import { z } from 'zod'
import type { TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { ByrefError } from '../src/core/errors.ts'
import { requireRows, withProgress } from './read-rows.ts'
import { medianOf, numberOf, tidy } from './summarize.ts'
import { columnsOf, meets, whereSchema } from './where.ts'

/** Measures the rows of a table, or a column of them, as one number. */
export const measureRows = defineTool({
  id: 'measure_rows',
  description:
    'Measures rows as one number: how many there are, or the sum, mean, median, maximum or minimum of a column, its distinct ' +
    'values or its empty cells. Returns the same of all rows as "total", so that a share can be computed.',
  inputSchema: z.object({
    rows: z
      .custom<TableRows>()
      .meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' })
      .describe('The rows of a table or of a summary.'),
    measure: z.enum(['count', 'sum', 'mean', 'median', 'max', 'min', 'distinct', 'missing']),
    value: z.string().optional().describe('The column to measure; only "count" needs none.'),
    where: whereSchema,
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, measure, value, where }, { progress, signal }) {
    if (measure !== 'count' && value === undefined) {
      throw new ByrefError('invalid_arguments', `The measure "${measure}" needs a "value" column`)
    }
    const columns = [...(value === undefined ? [] : [value]), ...columnsOf(where)]
    requireRows(rows, columns)
    const [some, all] = [createTally(), createTally()]
    for await (const row of withProgress(rows, { verb: 'Measuring', progress, signal })) {
      const cell = value === undefined ? true : row[value]
      all.add(cell)
      if (meets(row, where)) some.add(cell)
    }
    return {
      measure,
      ...(value === undefined ? {} : { column: value }),
      result: some.result(measure),
      rows: some.rows(),
      empty: some.empty(),
      total: all.result(measure),
      of: all.rows(),
    }
  },
})

function createTally() {
  let rows = 0
  let empty = 0
  const numbers: number[] = []
  const texts = new Set<unknown>()
  return {
    add(cell: unknown): void {
      rows++
      const number = numberOf(cell)
      if (number === null) empty++
      else {
        texts.add(cell)
        if (number !== 'text') numbers.push(number)
      }
    },
    rows: () => rows,
    empty: () => empty,
    result(measure: string): number | null {
      if (measure === 'count') return rows
      if (measure === 'missing') return empty
      if (measure === 'distinct') return texts.size
      if (numbers.length === 0) return null
      const sum = (): number => numbers.reduce((a, b) => a + b, 0)
      switch (measure) {
        case 'sum':
          return tidy(sum())
        case 'mean':
          return tidy(sum() / numbers.length)
        case 'median':
          return tidy(medianOf(numbers))
        case 'max':
          return numbers.reduce((a, b) => Math.max(a, b))
        default:
          return numbers.reduce((a, b) => Math.min(a, b))
      }
    },
  }
}
