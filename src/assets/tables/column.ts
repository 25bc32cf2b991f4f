/** What all values of a column are; `empty` when there is none, `mixed` when they differ. */
export type ColumnType =
  | 'number'
  | 'boolean'
  | 'date'
  | 'string'
  | 'object'
  | 'array'
  | 'mixed'
  | 'empty'

/** A column as a table's content has it. `missing` counts its empty cells. */
export interface TableColumn {
  name: string
  type: ColumnType
  missing: number
}

/** Finds a column's type, cell by cell, and then reads its cells by it. */
export interface ColumnReader {
  /** Looks at one more cell. */
  see(cell: unknown): void
  column(): TableColumn
  /** The cell as a value of the column's type; null for an empty one. */
  read(cell: unknown): unknown
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const LEADING_ZERO = /^[+-]?0\d/
const BOOLEAN = /^(?:true|false)$/i
const DATE =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?(Z|[+-]\d{2}:?\d{2})?)?$/i
const NAMED_DATE = /^([A-Za-z]{3,9})(\.?) (\d{1,2}),? (\d{4})$/
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const ZERO = 48
const NINE = 57
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

/** For cells that are text, as CSV has them: text becomes numbers, booleans or dates where the whole column is. */
export function textColumn(name: string): ColumnReader {
  let seen = 0
  let missing = 0
  const can = { number: true, boolean: true, date: true }
  let known: ColumnType | null = null

  function type(): ColumnType {
    if (seen === missing) return seen === 0 ? 'string' : 'empty'
    if (can.number) return 'number'
    if (can.boolean) return 'boolean'
    return can.date ? 'date' : 'string'
  }

  return {
    see(cell) {
      seen++
      const text = String(cell).trim()
      if (text === '') missing++
      else {
        if (can.number) can.number = isNumber(text)
        if (can.boolean) can.boolean = BOOLEAN.test(text)
        if (can.date) can.date = isoDate(text) !== null
      }
    },
    column: () => ({ name, type: type(), missing }),
    read(cell) {
      known ??= type()
      const text = String(cell).trim()
      if (text === '') return null
      if (known === 'number') return Number(text)
      if (known === 'date') return isoDate(text)
      return known === 'boolean' ? text.toLowerCase() === 'true' : cell
    },
  }
}

/** For cells that are JSON: values stay, but dates become ISO text where the whole column is dates. */
export function valueColumn(name: string): ColumnReader {
  const types = new Set<ColumnType>()
  let missing = 0
  let dates = true

  function type(): ColumnType {
    const [only] = types
    if (only === undefined) return 'empty'
    if (types.size > 1) return 'mixed'
    return only === 'string' && dates ? 'date' : only
  }

  return {
    see(cell) {
      if (cell === null || cell === undefined) {
        missing++
        return
      }
      types.add(jsonType(cell))
      if (dates && typeof cell === 'string') dates = isoDate(cell.trim()) !== null
    },
    column: () => ({ name, type: type(), missing }),
    read(cell) {
      if (cell === null || cell === undefined) return null
      return type() === 'date' ? isoDate(String(cell).trim()) : cell
    },
  }
}

/** Numbers that lose nothing: no leading zeros (postcodes), no digits that a double cannot keep. */
function isNumber(text: string): boolean {
  if (!NUMBER.test(text) || LEADING_ZERO.test(text)) return false
  // A double keeps 15 digits of any number in its range.
  if (text.length <= 15 && !/e/i.test(text)) return true
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const digits = digitsOf(text)
  if (value === 0) return digits === ''
  return digits.length <= 15 || digits === digitsOf(String(value))
}

/** The digits that count: none of the exponent, no zeros at either end. */
function digitsOf(text: string): string {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replace(/\D/g, '').replace(/^0+|0+$/g, '')
}

/** The date or time as ISO 8601 text, or null for what is no unambiguous date. */
function isoDate(text: string): string | null {
  const first = text.charCodeAt(0)
  if (first < ZERO || first > NINE) return namedDate(text)
  const found = DATE.exec(text)
  if (!found) return null
  const [, year = '', , month = '', day = '', time, zone = ''] = found
  const date = calendarDate(Number(year), Number(month), Number(day))
  if (date === null || time === undefined) return date
  const moment = `${date}T${time}${zone.toUpperCase().replace(/(\d{2})(\d{2})$/, '$1:$2')}`
  return Number.isNaN(Date.parse(moment)) ? null : moment
}

function namedDate(text: string): string | null {
  const found = NAMED_DATE.exec(text)
  if (!found) return null
  const [, name = '', point, day, year] = found
  const month = MONTHS.findIndex((month) => isNameOf(month, name.toLowerCase(), point === '.'))
  return calendarDate(Number(year), month + 1, Number(day))
}

/** The whole name of the month, or three letters of it (`Sept` too), with a point or without. */
function isNameOf(month: string, name: string, shortened: boolean): boolean {
  const isShort = name.length === 3 || name === 'sept'
  return isShort ? month.startsWith(name) : !shortened && month === name
}

/** The day as text, if the calendar has it. */
function calendarDate(year: number, month: number, day: number): string | null {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0)
  if (day < 1 || day > days) return null
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`
}

function jsonType(value: unknown): ColumnType {
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object'
}
