import { z } from 'zod'
import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { defineTool } from '../src/boundary/tool.ts'
import { requireRows, withProgress } from './read-rows.ts'
import { numberOf, tidy } from './summarize.ts'
import { tokens } from './tokens.ts'
import { columnsOf, meets, whereSchema } from './where.ts'

const rowsSchema = z
  .custom<TableRows>()
  .meta({ asset_ref_acceptable: true, asset_ref_as: 'rows' })
  .describe('The rows of a table.')

/** Lists rows that meet conditions. */
export const listRowsTool = defineTool({
  id: 'list_rows',
  description: 'Returns the first rows that meet conditions, and how many rows meet them.',
  inputSchema: z.object({
    rows: rowsSchema,
    where: whereSchema,
    limit: z.number().int().min(1).max(20).default(10),
  }),
  idempotent: true,
  mappable: false,
  async execute({ rows, where, limit }, { progress, signal }) {
    requireRows(rows, columnsOf(where))
    const found: TableRow[] = []
    let count = 0
    for await (const row of withProgress(rows, { verb: 'Reading', progress, signal })) {
      if (!meets(row, where)) continue
      count++
      if (found.length < limit) found.push(row)
    }
    return { rows: found, count, of: rows.count }
  },
})

/** Lists the distinct values of a column. */
export const listValues = defineTool({
  id: 'list_values',
  description:
    'Returns the distinct values of a column with their numbers of rows, most frequent first.',
  inputSchema: z.object({ rows: rowsSchema, column: z.string(), where: whereSchema }),
  idempotent: true,
  mappable: false,
  async execute({ rows, column, where }, { progress, signal }) {
    requireRows(rows, [column, ...columnsOf(where)])
    const counts = new Map<string, number>()
    let empty = 0
    for await (const row of withProgress(rows, { verb: 'Reading', progress, signal })) {
      if (!meets(row, where)) continue
      const cell = row[column]
      if (cell === null || cell === undefined || cell === '') empty++
      else counts.set(String(cell), (counts.get(String(cell)) ?? 0) + 1)
    }
    const sorted = [...counts].sort(([, a], [, b]) => b - a)
    const values = sorted.slice(0, 50).map(([value, count]) => ({ value, count }))
    return { column, distinct: counts.size, empty, values }
  },
})

/** Finds values of a table in a text. */
export const findValues = defineTool({
  id: 'find_values',
  description:
    'Finds the cells of text columns that a question names, so that rows can be filtered by them.',
  inputSchema: z.object({ rows: rowsSchema, question: z.string().max(2000) }),
  idempotent: true,
  mappable: false,
  async execute({ rows, question }, { progress, signal }) {
    const asked = ` ${tokens(question).join(' ')} `
    const names = rows.columns
      .filter(({ type }) => type === 'string' || type === 'mixed')
      .map(({ name }) => name)
    const found = new Map<string, { column: string; value: string }>()
    const part = rows.select({ columns: names })
    for await (const row of withProgress(part, { verb: 'Reading', progress, signal })) {
      for (const column of names) {
        const value = row[column]
        if (typeof value !== 'string' || value.length > 200) continue
        const key = JSON.stringify([column, value])
        if (found.has(key)) continue
        const words = tokens(value).join(' ')
        if (words !== '' && asked.includes(` ${words} `)) found.set(key, { column, value })
      }
    }
    const cells = [...found.values()]
    return { question, found: cells.slice(0, 50) }
  },
})

/** Describes the columns of a table. */
export const describeRows = defineTool({
  id: 'describe_rows',
  description:
    'Describes each column of a table: type, empty cells, and of numbers the smallest, largest and mean.',
  inputSchema: z.object({ rows: rowsSchema }),
  idempotent: true,
  mappable: false,
  async execute({ rows }, { progress, signal }) {
    const facts = rows.columns.map(({ name, type, missing, warning }) => ({
      name,
      type,
      missing,
      ...(warning && { warning }),
      numbers: 0,
      sum: 0,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
    }))
    for await (const row of withProgress(rows, { verb: 'Describing', progress, signal })) {
      for (const column of facts) {
        const number = numberOf(row[column.name])
        if (number === null || number === 'text') continue
        column.numbers++
        column.sum += number
        column.min = Math.min(column.min, number)
        column.max = Math.max(column.max, number)
      }
    }
    const columns = facts.map(({ numbers, sum, min, max, ...fact }) => {
      const isNumeric = ['number', 'integer', 'decimal'].includes(fact.type) && numbers > 0
      return isNumeric ? { ...fact, min, max, mean: tidy(sum / numbers) } : fact
    })
    return { rows: rows.count, columns }
  },
})
