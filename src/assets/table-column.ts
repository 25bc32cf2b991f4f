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
const NAMED_DATE = /^([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})$/
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** For cells that are text, as CSV has them: text becomes numbers, booleans or dates where the whole column is. */
export function textColumn(name: string): ColumnReader {
  let seen = 0
  let missing = 0
  const can = { number: true, boolean: true, date: true }

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
      if (text === '') {
        missing++
        return
      }
      can.number &&= isNumber(text)
      can.boolean &&= BOOLEAN.test(text)
      can.date &&= isoDate(text) !== null
    },
    column: () => ({ name, type: type(), missing }),
    read(cell) {
      const text = String(cell).trim()
      if (text === '') return null
      switch (type()) {
        case 'number':
          return Number(text)
        case 'boolean':
          return text.toLowerCase() === 'true'
        case 'date':
          return isoDate(text)
        default:
          return cell
      }
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

/** Numbers that lose nothing: no leading zeros (postcodes), no whole number beyond 2^53. */
function isNumber(text: string): boolean {
  if (!NUMBER.test(text) || LEADING_ZERO.test(text)) return false
  const value = Number(text)
  return Number.isFinite(value) && (/[.eE]/.test(text) || Number.isSafeInteger(value))
}

/** The date or time as ISO 8601 text, or null for what is no unambiguous date. */
function isoDate(text: string): string | null {
  const named = NAMED_DATE.exec(text)
  if (named) {
    const month = MONTHS.indexOf((named[1] ?? '').slice(0, 3).toLowerCase()) + 1
    return month > 0 ? calendarDate(named[3], String(month), named[2]) : null
  }
  const found = DATE.exec(text)
  if (!found) return null
  const [, year, , month, day, time, zone = ''] = found
  const date = calendarDate(year, month, day)
  if (date === null || time === undefined) return date
  const moment = `${date}T${time}${zone.toUpperCase().replace(/(\d{2})(\d{2})$/, '$1:$2')}`
  return Number.isNaN(Date.parse(moment)) ? null : moment
}

function calendarDate(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
): string | null {
  const text = `${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}`
  const date = new Date(`${text}T00:00:00Z`)
  return Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text ? null : text
}

function jsonType(value: unknown): ColumnType {
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object'
}
