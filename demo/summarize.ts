import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { ByrefError } from '../src/core/errors.ts'
import { requireRows, withProgress } from './read-rows.ts'
import { type Condition, columnsOf, meets } from './where.ts'

/** How the values of a group are combined. */
export type Measure = 'sum' | 'mean' | 'median' | 'max' | 'min' | 'count'

/** The intervals of dates. They are also the names of the resulting columns. */
export type Interval = 'day' | 'month' | 'year'

/** What to compute from rows. */
export interface SummaryOptions {
  /** The column by which rows are grouped: by equal values, or by equal intervals of dates. */
  groupBy: string
  /** For columns of dates (ISO 8601 text). */
  interval?: Interval
  /** The column that is measured. `count` needs none. */
  value?: string
  measure: Measure
  /** Only rows that meet these conditions. */
  where?: readonly Condition[]
  /** Called with the number of rows that were read. */
  progress?: (message: string, fraction?: number) => void
  signal?: AbortSignal
}

/** One row for each group, in order of the group: `{ [group]: …, [value]: … }`. */
export interface Summary {
  rows: TableRow[]
  /** The name of the group's column: the interval, or the grouped column. */
  groupColumn: string
  valueColumn: string
  /** The number of rows that meet the conditions. */
  of: number
  /** The number of rows without a group. */
  skipped: number
  /** The reason: `5 rows have no rain`. */
  reasons: string[]
}

/** Nobody reads more groups than this. */
const MAX_GROUPS = 1_000_000
const LENGTH: Record<Interval, number> = { day: 10, month: 7, year: 4 }

/**
 * Groups rows and measures each group. Rows without a group, and cells that are empty or not a number, are left out and
 * counted.
 *
 * @throws ByrefError `invalid_arguments` for unknown columns, a column without any number, or values that are not dates
 */
export async function summarize(rows: TableRows, options: SummaryOptions): Promise<Summary> {
  const { groupBy, interval, measure } = options
  const value = measure === 'count' ? null : options.value
  if (value === undefined) throw invalid(`The measure "${measure}" needs a "value" column`)
  const { where } = options
  const columns = [groupBy, ...(value === null ? [] : [value]), ...columnsOf(where)]
  requireRows(rows, columns)
  const groups = new Map<string | number | boolean, Tally>()
  const left = { group: 0, empty: 0, text: 0 }
  let of = 0
  let sample: unknown = null
  const { progress = () => {}, signal } = options
  const part = rows.select({ columns: [...new Set(columns)] })
  for await (const row of withProgress(part, { verb: 'Grouping', progress, signal })) {
    if (!meets(row, where)) continue
    of++
    const group = groupOf(row[groupBy], groupBy, interval)
    const number = value === null ? 1 : numberOf(row[value])
    if (group === null) left.group++
    else if (number === 'text') {
      left.text++
      sample = row[value ?? '']
    } else if (number === null) left.empty++
    else tally(groups, group, number)
  }
  if (groups.size === 0 && left.text > 0) {
    throw invalid(`The column "${value}" holds ${JSON.stringify(sample)}, which is not a number`)
  }
  const groupColumn = interval ?? groupBy
  const named = value === null || value === groupColumn ? measure : value
  const valueColumn = named === groupColumn ? `${measure} of rows` : named
  const sorted = [...groups].sort(([a], [b]) => compare(a, b))
  return {
    rows: sorted.map(([group, found]) => ({
      [groupColumn]: group,
      [valueColumn]: measured(found, measure),
    })),
    groupColumn,
    valueColumn,
    of,
    skipped: left.group + left.empty + left.text,
    reasons: [
      ...reason(left.group, `no ${groupBy}`),
      ...reason(left.empty, `no ${value}`),
      ...reason(left.text, `a ${value} that is not a number`),
    ],
  }
}

function reason(count: number, what: string): string[] {
  if (count === 0) return []
  return [`${count.toLocaleString('en')} ${count === 1 ? 'row has' : 'rows have'} ${what}`]
}

/** Returns the measure of a group. */
function measured(found: Tally, measure: Measure): number {
  if (measure === 'mean') return tidy(found.sum / found.count)
  return tidy(measure === 'median' ? medianOf(found.all) : found[measure])
}

/** Returns the middle of numbers, or the mean of the two in the middle. */
export function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The running values of a group's numbers. */
interface Tally {
  count: number
  sum: number
  max: number
  min: number
  all: number[]
}

function tally<T>(groups: Map<T, Tally>, group: T, number: number): void {
  const known = groups.get(group)
  if (!known) {
    if (groups.size >= MAX_GROUPS) throw invalid(`There are more than ${MAX_GROUPS} groups`)
    groups.set(group, { count: 1, sum: number, max: number, min: number, all: [number] })
    return
  }
  known.count++
  known.all.push(number)
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

/** Returns the number in a cell: null for an empty cell, `text` for any other. */
export function numberOf(value: unknown): number | null | 'text' {
  if (value === null || value === undefined || value === '') return null
  // Long numbers, which a table has as bigints and as text, are drawn as precisely as a double allows.
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || isDecimal(value)
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : 'text'
}

/** Removes rounding noise from sums (0.30000000000000004): keeps 12 significant digits. */
export function tidy(number: number): number {
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
