import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { ByrefError } from '../src/core/errors.ts'
import { requireRows, withProgress } from './read-rows.ts'

/** How the values of a group become one. */
export type Measure = 'sum' | 'mean' | 'max' | 'min' | 'count'

/** How dates are put together; the names are those of the columns that come out. */
export type Interval = 'day' | 'month' | 'year'

/** What to make of rows. */
export interface SummaryOptions {
  /** The column whose equal values, or equal intervals of dates, make a group. */
  groupBy: string
  /** For columns of dates (ISO 8601 text). */
  interval?: Interval
  /** The column that is measured; `count` needs none. */
  value?: string
  measure: Measure
  /** Told how many rows were read. */
  progress?: (message: string, fraction?: number) => void
  signal?: AbortSignal
}

/** One row for each group, in order of the group: `{ [group]: …, [value]: … }`. */
export interface Summary {
  rows: TableRow[]
  /** The name of the group's column: the interval, or the column it was made of. */
  groupColumn: string
  valueColumn: string
  /** Rows left out because their group or value was empty. */
  skipped: number
}

/** More cannot be what somebody wants to see. */
const MAX_GROUPS = 1_000_000
const LENGTH: Record<Interval, number> = { day: 10, month: 7, year: 4 }

/**
 * Groups rows and measures each group. Rows without a value in one of the columns are left out and counted.
 *
 * @throws ByrefError `invalid_arguments` for unknown columns, values that are no numbers or no dates.
 */
export async function summarize(rows: TableRows, options: SummaryOptions): Promise<Summary> {
  const { groupBy, interval, measure } = options
  const value = measure === 'count' ? null : options.value
  if (value === undefined) throw invalid(`The measure "${measure}" needs a "value" column`)
  const columns = value === null ? [groupBy] : [...new Set([groupBy, value])]
  requireRows(rows, columns)
  const groups = new Map<string | number | boolean, Tally>()
  let skipped = 0
  const { progress = () => {}, signal } = options
  const part = rows.select({ columns })
  for await (const row of withProgress(part, { verb: 'Grouping', progress, signal })) {
    const group = groupOf(row[groupBy], groupBy, interval)
    const number = value === null ? 1 : numberOf(row[value], value)
    if (group === null || number === null) skipped++
    else tally(groups, group, number)
  }
  const groupColumn = interval ?? groupBy
  const named = value === null || value === groupColumn ? measure : value
  const valueColumn = named === groupColumn ? `${measure} of rows` : named
  const sorted = [...groups].sort(([a], [b]) => compare(a, b))
  return {
    rows: sorted.map(([group, found]) => ({
      [groupColumn]: group,
      [valueColumn]: tidy(measure === 'mean' ? found.sum / found.count : found[measure]),
    })),
    groupColumn,
    valueColumn,
    skipped,
  }
}

/** What is kept of a group's numbers. */
interface Tally {
  count: number
  sum: number
  max: number
  min: number
}

function tally<T>(groups: Map<T, Tally>, group: T, number: number): void {
  const known = groups.get(group)
  if (!known) {
    if (groups.size >= MAX_GROUPS) throw invalid(`There are more than ${MAX_GROUPS} groups`)
    groups.set(group, { count: 1, sum: number, max: number, min: number })
    return
  }
  known.count++
  known.sum += number
  known.max = Math.max(known.max, number)
  known.min = Math.min(known.min, number)
}

function isDecimal(value: unknown): boolean {
  return typeof value === 'string' && /^[+-]?\d+(?:\.\d+)?$/.test(value)
}

function groupOf(
  value: unknown,
  column: string,
  interval: Interval | undefined,
): string | number | boolean | null {
  if (value === null || value === undefined || value === '') return null
  if (!interval) {
    return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
  }
  const text = String(value)
  if (!/^\d{4}-\d\d-\d\d/.test(text)) {
    throw invalid(`The column "${column}" holds ${JSON.stringify(value)}, which is no date`)
  }
  return text.slice(0, LENGTH[interval])
}

function numberOf(value: unknown, column: string): number | null {
  if (value === null || value === undefined || value === '') return null
  // Long numbers, which a table has as bigints and as text, are drawn as near as a double comes.
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || isDecimal(value)
  if (isNumber && Number.isFinite(Number(value))) return Number(value)
  throw invalid(`The column "${column}" holds ${JSON.stringify(value)}, which is no number`)
}

/** Takes the noise of binary fractions out of sums (0.30000000000000004), keeping 12 significant digits. */
function tidy(number: number): number {
  return Number(number.toPrecision(12))
}

function compare(a: string | number | boolean, b: string | number | boolean): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [String(a), String(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function invalid(message: string): ByrefError {
  return new ByrefError('invalid_arguments', message)
}
