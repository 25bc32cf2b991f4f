import { ByrefError } from '../errors.ts'

/** One row of a table: values by column name. */
export type Row = Readonly<Record<string, unknown>>

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
}

/** One row for each group, in order of the group: `{ [group]: …, [value]: … }`. */
export interface Summary {
  rows: Row[]
  /** The name of the group's column: the interval, or the column it was made of. */
  groupColumn: string
  valueColumn: string
  /** Rows left out because their group or value was empty. */
  skipped: number
}

const LENGTH: Record<Interval, number> = { day: 10, month: 7, year: 4 }

/**
 * Groups rows and measures each group. Rows without a value in one of the columns are left out and counted.
 *
 * @throws ByrefError `invalid_arguments` for unknown columns, values that are no numbers or no dates.
 */
export function summarize(rows: readonly Row[], options: SummaryOptions): Summary {
  const { groupBy, interval, measure } = options
  const value = measure === 'count' ? null : options.value
  if (value === undefined) throw invalid(`The measure "${measure}" needs a "value" column`)
  requireColumns(rows, value === null ? [groupBy] : [groupBy, value])
  const groups = new Map<string | number | boolean, number[]>()
  let skipped = 0
  for (const row of rows) {
    const group = groupOf(row[groupBy], groupBy, interval)
    const number = value === null ? 1 : numberOf(row[value], value)
    if (group === null || number === null) {
      skipped++
      continue
    }
    const numbers = groups.get(group)
    if (numbers) numbers.push(number)
    else groups.set(group, [number])
  }
  const groupColumn = interval ?? groupBy
  const named = value === null || value === groupColumn ? measure : value
  const valueColumn = named === groupColumn ? `${measure} of rows` : named
  const sorted = [...groups].sort(([a], [b]) => compare(a, b))
  return {
    rows: sorted.map(([group, numbers]) => ({
      [groupColumn]: group,
      [valueColumn]: tidy(measureOf(numbers, measure)),
    })),
    groupColumn,
    valueColumn,
    skipped,
  }
}

/** Throws for columns that no row has, with the names of those that there are. */
export function requireColumns(rows: readonly Row[], columns: readonly string[]): void {
  if (rows.length === 0) throw invalid('There are no rows')
  const known = new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))
  const unknown = columns.find((column) => !known.has(column))
  if (unknown === undefined) return
  throw invalid(
    `There is no column ${JSON.stringify(unknown)}; the columns are ${[...known].join(', ')}`,
  )
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
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw invalid(`The column "${column}" holds ${JSON.stringify(value)}, which is no number`)
}

function measureOf(numbers: number[], measure: Measure): number {
  switch (measure) {
    case 'sum':
      return numbers.reduce((a, b) => a + b, 0)
    case 'mean':
      return numbers.reduce((a, b) => a + b, 0) / numbers.length
    case 'max':
      return numbers.reduce((a, b) => Math.max(a, b))
    case 'min':
      return numbers.reduce((a, b) => Math.min(a, b))
    case 'count':
      return numbers.length
  }
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
