import { isoDate } from './iso-date.ts'
import {
  type CellForm,
  hasPointedThousands,
  isCommaNumber,
  isCurrency,
  isPercentage,
  isPointNumber,
  localDate,
  plainNumber,
} from './local-cells.ts'
import { isInt64, LongNumber, numberShape } from './long-number.ts'
import { type ColumnType, jsonLine, type Storage, type TableColumn } from './table-facts.ts'

/** Finds a column's type cell by cell, and then converts its cells to their stored form. */
export interface ColumnReader {
  /** Takes one more cell into account. */
  see(cell: unknown): void
  column(): TableColumn
  /** Returns how the cells seen so far can be stored. */
  storage(): Storage
  /** Returns how the cells seen so far are written. */
  form(): CellForm
  /** Converts a cell to its stored form; an empty cell becomes null. Valid until another storage is needed. */
  storing(): (cell: unknown) => unknown
}

const BOOLEAN = /^(?:true|false)$/i
const DAY_MS = 24 * 60 * 60 * 1000

/** A time as a Parquet file returns it: with seconds, up to six digits of them, and no zone but UTC. */
const TIME = /T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{0,5}[1-9])?(Z?)$/

/** A decimal as a Parquet file returns it. */
const DECIMAL = /^(?!-[0.]+$)-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Number of distinct cells of a column that are remembered, so that each is parsed once. */
const REMEMBERED = 1_000

/** The declared type of a column, which it has as long as it has no values. */
export interface EmptyColumn {
  type: ColumnType
  storage: Storage
}

/** The declared type of a column, and what the columns of a file know of each other. */
export interface TextColumnOptions {
  empty?: EmptyColumn
  /** Whether cells may be written as people do: `1.234,56`, `01.09.2023`. Default: false. */
  local?: boolean
  /** The names of the file's columns with a decimal comma: beside them, `1.250` may be a thousand. */
  commaColumns?: Set<string>
  /** Whether `;` separates the file's cells. Such files are from places with a decimal comma: `1.250` may be a thousand. */
  hasSemicolons?: boolean
}

const AMBIGUOUS_NUMBERS =
  'stays text: its numbers can have a decimal separator or separated thousands'
const AMBIGUOUS_DATES = 'stays text: its dates can begin with the day or the month'
const PERCENTAGES = 'stays text: its numbers are percentages'
const CURRENCIES = 'stays text: its numbers have a currency'

/** For text cells, as in CSV: the text becomes numbers, booleans or dates if the whole column allows it. */
export function textColumn(
  name: string,
  { empty, local = false, commaColumns = new Set(), hasSemicolons = false }: TextColumnOptions = {},
): ColumnReader {
  let seen = 0
  let missing = 0
  const can = {
    number: true,
    comma: local,
    point: local,
    boolean: true,
    percentage: local,
    currency: local,
  }
  let hasThousands = false
  const dates = dateKind(local)
  const plain = numberKind()
  const comma = numberKind()
  const point = numberKind()
  const known = new Set<string>()

  /** Whether the numbers can be read in two ways. */
  function isAmbiguousNumber(): boolean {
    if (can.number) return hasThousands && can.comma && (hasSemicolons || commaColumns.size > 0)
    return can.comma && can.point
  }

  function form(): CellForm {
    if (seen === missing || can.number || isAmbiguousNumber()) return 'plain'
    if (can.comma) return 'comma'
    if (can.point) return 'point'
    return can.boolean ? 'plain' : (dates.form() ?? 'plain')
  }

  function numbers(): NumberKind {
    const found = form()
    return found === 'comma' ? comma : found === 'point' ? point : plain
  }

  function type(): ColumnType {
    if (seen === missing) return empty?.type ?? (seen === 0 ? 'string' : 'empty')
    if (isAmbiguousNumber()) return 'string'
    if (can.number || can.comma || can.point) return numbers().type()
    if (can.boolean) return 'boolean'
    return dates.form() === null ? 'string' : 'date'
  }

  function warning(): string | null {
    if (seen === missing) return null
    if (isAmbiguousNumber()) return AMBIGUOUS_NUMBERS
    if (type() !== 'string') return null
    if (dates.isAmbiguous()) return AMBIGUOUS_DATES
    return can.percentage ? PERCENTAGES : can.currency ? CURRENCIES : null
  }

  function lookAtNumber(text: string): void {
    if (can.number) can.number = plain.see(text)
    if (can.comma) {
      can.comma = isCommaNumber(text) && comma.see(plainNumber(text, 'comma'))
      if (can.comma && hasPointedThousands(text)) hasThousands = true
    }
    if (can.point) can.point = isPointNumber(text) && point.see(plainNumber(text, 'point'))
    if (can.comma && !can.number && !can.point) commaColumns.add(name)
    else if (commaColumns.size > 0) commaColumns.delete(name)
  }

  function look(text: string): void {
    lookAtNumber(text)
    if (can.boolean) can.boolean = BOOLEAN.test(text)
    dates.see(text)
    can.percentage &&= isPercentage(text)
    can.currency &&= isCurrency(text)
  }

  const storage = (): Storage =>
    empty && seen === missing ? empty.storage : storageOf(type(), numbers(), dates)

  return {
    see(cell) {
      seen++
      const text = trimmed(cell)
      if (text === '') missing++
      else if ((Object.values(can).includes(true) || dates.isOpen()) && !known.has(text)) {
        if (known.size < REMEMBERED) known.add(text)
        look(text)
      }
    },
    column() {
      const found = columnOf(name, type(), { missing, numbers: numbers() })
      const warns = warning()
      return warns === null ? found : { ...found, warning: warns }
    },
    storage,
    form,
    storing() {
      const found = type()
      const read = inPlainForm(form())
      const make = textStoring(found, storage())
      const store = remembering((text) => make(read(text)))
      return (cell) => {
        const text = trimmed(cell)
        if (text === '') return null
        return found === 'string' ? cell : store(text)
      }
    },
  }
}

/** Tracks how the dates of a column are written. */
function dateKind(local: boolean) {
  /** The forms that all cells so far can have. A cell in ISO 8601 has no other one. */
  let forms: readonly DateForm[] = local ? ['plain', 'day', 'month'] : ['plain']
  const storages = new Set<Storage>()

  function isDate(text: string, form: DateForm): boolean {
    const plain = form === 'plain' ? text : localDate(text, form)
    const date = plain === null ? null : isoDate(plain)
    if (date !== null) storages.add(date.length > 10 ? timeStorage(date) : 'date')
    return date !== null
  }

  return {
    see(text: string): void {
      forms = forms.filter((form) => isDate(text, form))
    },
    /** Whether the cells can still be dates. */
    isOpen: () => forms.length > 0,
    /** Whether each cell can begin with its day or its month. */
    isAmbiguous: () => forms.length === 2,
    /** Returns how the dates are written; null if the cells are not dates, or can be read in two ways. */
    form: (): DateForm | null => (forms.length === 2 ? null : (forms[0] ?? null)),
    storage(): Storage {
      const [only = 'date'] = storages
      return storages.size > 1 ? 'text' : only
    },
  }
}

function timeStorage(date: string): Storage {
  const found = TIME.exec(date)
  return found === null ? 'text' : found[1] === '' ? 'local' : 'utc'
}

type DateKind = ReturnType<typeof dateKind>
type DateForm = Extract<CellForm, 'plain' | 'day' | 'month'>

/** Returns how to turn a cell of a form into a plain one. */
function inPlainForm(form: CellForm): (text: string) => string {
  return form === 'day' || form === 'month'
    ? (text) => localDate(text, form) ?? text
    : (text) => plainNumber(text, form)
}

/** For JSON cells: values are kept, but a column of dates becomes ISO text. */
export function valueColumn(name: string, empty?: EmptyColumn): ColumnReader {
  const types = new Set<ColumnType>()
  let missing = 0
  const dates = dateKind(false)
  const numbers = numberKind()

  function type(): ColumnType {
    const [only] = types
    if (only === undefined) return empty?.type ?? 'empty'
    if (types.size > 1) return 'mixed'
    if (only === 'number') return numbers.type()
    return only === 'string' && dates.isOpen() ? 'date' : only
  }

  function look(cell: unknown): void {
    const found = jsonType(cell)
    types.add(found)
    if (found === 'number' && !numbers.see(numberIn(cell))) types.add('string')
    if (typeof cell === 'string' && dates.isOpen()) dates.see(cell.trim())
  }

  const storage = (): Storage =>
    empty && types.size === 0 ? empty.storage : storageOf(type(), numbers, dates)

  return {
    see(cell) {
      if (cell === null || cell === undefined) missing++
      else look(cell)
    },
    column: () => columnOf(name, type(), { missing, numbers }),
    storage,
    form: () => 'plain',
    storing() {
      const store = valueStoring(type(), storage())
      return (cell) => (cell === null || cell === undefined ? null : store(cell))
    },
  }
}

function columnOf(
  name: string,
  type: ColumnType,
  { missing, numbers }: { missing: number; numbers: NumberKind },
): TableColumn {
  return { name, type, missing, ...(type === 'decimal' && { scale: numbers.scale() }) }
}

function storageOf(type: ColumnType, numbers: NumberKind, dates: DateKind): Storage {
  switch (type) {
    case 'number':
    case 'integer':
    case 'decimal':
      return numbers.storage()
    case 'boolean':
      return 'boolean'
    case 'date':
      return dates.storage()
    case 'object':
    case 'array':
    case 'mixed':
      return 'json'
    default:
      return 'text'
  }
}

function textStoring(type: ColumnType, storage: Storage): (text: string) => unknown {
  if (storage === 'int64') return BigInt
  if (type === 'number') return Number
  if (type === 'boolean') return (text) => text.toLowerCase() === 'true'
  if (type === 'date') return dateStoring(storage)
  return storage === 'decimal' ? unscaled : (text) => text
}

function valueStoring(type: ColumnType, storage: Storage): (value: unknown) => unknown {
  if (storage === 'int64') return (value) => longOf(numberIn(value))
  if (storage === 'json') return jsonLine
  if (type === 'number') return (value) => Number(numberIn(value))
  if (type === 'decimal') {
    const store = storage === 'decimal' ? unscaled : String
    return (value) => store(String(numberIn(value)))
  }
  if (type !== 'date') return (value) => value
  const store = dateStoring(storage)
  return (value) => store(String(value).trim())
}

/** Returns a whole number as it was written. Above 2^53, a double has other digits than its text. */
function longOf(value: string | number | bigint): bigint {
  return BigInt(Number.isSafeInteger(value) ? value : String(value))
}

/** Returns how a text of a date is stored. */
function dateStoring(storage: Storage): (text: string) => unknown {
  if (storage === 'date') return dayOf
  return storage === 'text' ? isoDate : microsecondsOf
}

/** Returns the microseconds since 1970. */
function microsecondsOf(text: string): bigint {
  const [whole, fraction = ''] = (isoDate(text) as string).replace('Z', '').split('.')
  return BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

/** Returns the digits of a decimal as a whole number. */
function unscaled(text: string): bigint {
  return BigInt(text.replace('.', ''))
}

/** Returns the days since 1970. */
function dayOf(text: string): number {
  return Date.parse(isoDate(text) as string) / DAY_MS
}

function numberIn(cell: unknown): string | number | bigint {
  return cell instanceof LongNumber ? cell.text : (cell as number | bigint)
}

/** Converts each of the first distinct texts only once. */
function remembering(make: (text: string) => unknown): (text: string) => unknown {
  const made = new Map<string, unknown>()
  return (text) => {
    let value = made.get(text)
    if (value === undefined) {
      value = make(text)
      if (made.size < REMEMBERED) made.set(text, value)
    }
    return value
  }
}

function trimmed(cell: unknown): string {
  return typeof cell === 'string' ? cell.trim() : ''
}

function jsonType(value: unknown): ColumnType {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint' || value instanceof LongNumber) return 'number'
  const type = typeof value
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object'
}

type NumberKind = ReturnType<typeof numberKind>

const INT32 = 2 ** 31 - 1

/** Maximum number of digits of a decimal in Parquet and SQL. */
const MAX_DIGITS = 38

/** Tracks the kind of numbers: doubles if they are exact, else 64-bit integers, else decimals. */
function numberKind() {
  let isExact = true
  let isWhole = true
  let fitsInt64 = true
  let hasExponent = false
  let largest = 0
  let digits = 0
  let scale = 0
  /** The fewest digits after the point; -1 if a number has another form than a decimal has. */
  let leastScale = MAX_DIGITS

  function seeNumber(value: number): void {
    const whole = Number.isInteger(value) && !Object.is(value, -0)
    if (!whole) isWhole = false
    largest = Math.max(largest, Math.abs(value))
    if (whole && Math.abs(value) <= INT32) {
      if (digits < 10) digits = Math.max(digits, String(Math.abs(value)).length)
      leastScale = Math.min(leastScale, 0)
    } else seeText(String(value))
  }

  function seeText(text: string): boolean {
    const shape = numberShape(text)
    if (!shape) return false
    if (!shape.isExact) isExact = false
    if (!shape.isWhole) isWhole = false
    if (shape.hasExponent) hasExponent = true
    if (shape.digits > 15) fitsInt64 &&= !shape.isWhole || isInt64(BigInt(text))
    largest = Math.max(largest, Math.abs(Number(text)))
    digits = Math.max(digits, shape.digits)
    scale = Math.max(scale, shape.scale)
    leastScale = Math.min(leastScale, DECIMAL.test(text) ? shape.scale : -1)
    return true
  }

  function type(): 'number' | 'integer' | 'decimal' {
    if (isExact) return 'number'
    return isWhole && fitsInt64 ? 'integer' : 'decimal'
  }

  return {
    /**
     * Returns false if the column is not numeric: because of text, or of digits that neither a double nor a decimal
     * keeps.
     */
    see(number: string | number | bigint): boolean {
      if (typeof number === 'number') seeNumber(number)
      else if (!seeText(String(number))) return false
      return isExact || (!hasExponent && digits + scale <= MAX_DIGITS)
    },
    type,
    storage(): Storage {
      const found = type()
      if (found === 'decimal') return leastScale === scale ? 'decimal' : 'text'
      if (found === 'integer') return 'int64'
      if (!isWhole) return 'double'
      return largest <= INT32 ? 'int32' : largest <= Number.MAX_SAFE_INTEGER ? 'int64' : 'double'
    },
    /** Returns the digits after the decimal point. */
    scale: () => scale,
  }
}
