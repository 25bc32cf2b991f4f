import { isoDate } from './iso-date.ts'
import { jsonLine } from './json-line.ts'
import { LongNumber } from './long-number.ts'
import { type NumberKind, numberKind } from './number-kind.ts'
import type { ColumnType, Storage, TableColumn } from './table-column.ts'

/** Finds a column's type, cell by cell, and then makes of its cells what is stored. */
export interface ColumnReader {
  /** Looks at one more cell. */
  see(cell: unknown): void
  column(): TableColumn
  /** How the cells that were seen so far can be stored. */
  storage(): Storage
  /** Makes what is stored of a cell that was seen; null of an empty one. Good until another storage is needed. */
  storing(): (cell: unknown) => unknown
}

const BOOLEAN = /^(?:true|false)$/i
const DAY_MS = 24 * 60 * 60 * 1000
/** Distinct cells of a column that are remembered, so that each is looked at once. */
const REMEMBERED = 1_000

/** For cells that are text, as CSV has them: text becomes numbers, booleans or dates where the whole column is. */
export function textColumn(name: string): ColumnReader {
  let seen = 0
  let missing = 0
  const can = { number: true, boolean: true, date: true }
  let hasTimes = false
  const numbers = numberKind()
  const known = new Set<string>()

  function type(): ColumnType {
    if (seen === missing) return seen === 0 ? 'string' : 'empty'
    if (can.number) return numbers.type()
    if (can.boolean) return 'boolean'
    return can.date ? 'date' : 'string'
  }

  function look(text: string): void {
    if (can.number) can.number = numbers.see(text)
    if (can.boolean) can.boolean = BOOLEAN.test(text)
    if (!can.date) return
    const date = isoDate(text)
    can.date = date !== null
    if (date !== null && date.length > 10) hasTimes = true
  }

  const storage = (): Storage => storageOf(type(), numbers, hasTimes)

  return {
    see(cell) {
      seen++
      const text = trimmed(cell)
      if (text === '') missing++
      else if ((can.number || can.boolean || can.date) && !known.has(text)) {
        if (known.size < REMEMBERED) known.add(text)
        look(text)
      }
    },
    column: () => columnOf(name, type(), { missing, numbers }),
    storage,
    storing() {
      const found = type()
      const store = remembering(textStoring(found, storage()))
      return (cell) => {
        const text = trimmed(cell)
        if (text === '') return null
        return found === 'string' ? cell : store(text)
      }
    },
  }
}

/** For cells that are JSON: values stay, but dates become ISO text where the whole column is dates. */
export function valueColumn(name: string): ColumnReader {
  const types = new Set<ColumnType>()
  let missing = 0
  let dates = true
  let hasTimes = false
  const numbers = numberKind()

  function type(): ColumnType {
    const [only] = types
    if (only === undefined) return 'empty'
    if (types.size > 1) return 'mixed'
    if (only === 'number') return numbers.type()
    return only === 'string' && dates ? 'date' : only
  }

  function look(cell: unknown): void {
    const found = jsonType(cell)
    types.add(found)
    if (found === 'number' && !numbers.see(numberIn(cell))) types.add('string')
    if (!dates || typeof cell !== 'string') return
    const date = isoDate(cell.trim())
    dates = date !== null
    if (date !== null && date.length > 10) hasTimes = true
  }

  const storage = (): Storage => storageOf(type(), numbers, hasTimes)

  return {
    see(cell) {
      if (cell === null || cell === undefined) missing++
      else look(cell)
    },
    column: () => columnOf(name, type(), { missing, numbers }),
    storage,
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

function storageOf(type: ColumnType, numbers: NumberKind, hasTimes: boolean): Storage {
  switch (type) {
    case 'number':
    case 'integer':
      return numbers.storage()
    case 'boolean':
      return 'boolean'
    case 'date':
      return hasTimes ? 'text' : 'date'
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
  if (type === 'date') return storage === 'date' ? dayOf : isoDate
  return (text) => text
}

function valueStoring(type: ColumnType, storage: Storage): (value: unknown) => unknown {
  if (storage === 'int64') return (value) => BigInt(value as number | bigint)
  if (storage === 'json') return jsonLine
  if (type === 'decimal') return (value) => String(numberIn(value))
  if (type !== 'date') return (value) => value
  const store = storage === 'date' ? dayOf : isoDate
  return (value) => store(String(value).trim())
}

/** Days since 1970. */
function dayOf(text: string): number {
  return Date.parse(isoDate(text) as string) / DAY_MS
}

function numberIn(cell: unknown): string | number | bigint {
  return cell instanceof LongNumber ? cell.text : (cell as number | bigint)
}

/** Few distinct texts are made into values once. */
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
