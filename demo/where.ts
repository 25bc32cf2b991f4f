import { z } from 'zod'
import type { TableRow } from '../src/assets/tables/table-rows.ts'

/** Conditions on rows. All of them must hold. */
export const whereSchema = z
  .array(
    z.object({
      column: z.string(),
      is: z.enum([
        ...['equal', 'not_equal', 'above', 'at_least', 'below', 'at_most', 'begins_with'],
      ] as [Comparison, ...Comparison[]]),
      to: z.union([z.string(), z.number(), z.boolean()]),
    }),
  )
  .optional()
  .describe('Only rows for which all of these hold. Dates are compared as ISO 8601 text.')

type Comparison = 'equal' | 'not_equal' | 'above' | 'at_least' | 'below' | 'at_most' | 'begins_with'

/** One condition on rows. */
export interface Condition {
  column: string
  is: Comparison
  to: string | number | boolean
}

/** Whether a row meets all conditions. An empty cell meets none of them. */
export function meets(row: TableRow, where: readonly Condition[] = []): boolean {
  return where.every(({ column, is, to }) => {
    const cell = row[column]
    if (cell === null || cell === undefined || cell === '') return false
    if (is === 'begins_with') return String(cell).startsWith(String(to))
    const order = typeof to === 'number' ? compareNumbers(cell, to) : compareTexts(cell, to)
    if (order === null) return false
    switch (is) {
      case 'equal':
        return order === 0
      case 'not_equal':
        return order !== 0
      case 'above':
        return order > 0
      case 'at_least':
        return order >= 0
      case 'below':
        return order < 0
      default:
        return order <= 0
    }
  })
}

/** Returns the columns that conditions read. */
export function columnsOf(where: readonly Condition[] = []): string[] {
  return where.map(({ column }) => column)
}

const WORDS: Record<Comparison, string> = {
  equal: 'is',
  not_equal: 'is not',
  above: 'is above',
  at_least: 'is at least',
  below: 'is below',
  at_most: 'is at most',
  begins_with: 'is in',
}

/** Returns conditions as words: ` where City is Oslo and Amount is above 5`; empty without conditions. */
export function whereText(where: readonly Condition[] = []): string {
  if (where.length === 0) return ''
  return ` where ${where.map(({ column, is, to }) => `${column} ${WORDS[is]} ${to}`).join(' and ')}`
}

function compareNumbers(cell: unknown, to: number): number | null {
  const number = typeof cell === 'string' && cell.trim() === '' ? Number.NaN : Number(cell)
  return Number.isNaN(number) || typeof cell === 'boolean' ? null : number - to
}

function compareTexts(cell: unknown, to: string | boolean): number {
  if (typeof to === 'boolean') return cell === to ? 0 : 1
  const isDate = /^\d{4}-\d\d/.test(to)
  const [left, right] = isDate
    ? // A time belongs to its day.
      [String(cell).slice(0, to.length), to]
    : [String(cell).trim().toLowerCase(), to.trim().toLowerCase()]
  return left < right ? -1 : left > right ? 1 : 0
}
