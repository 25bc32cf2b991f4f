import type { SchemaElement, SchemaTree } from 'hyparquet'
import { putKey } from '../../core/json/json.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { bufferOf } from '../bodies/buffer-of.ts'
import { jsonInteger, numberShape, parseJson } from './long-number.ts'
import type { ColumnType } from './table-facts.ts'

const { isUtf8 } = nodeBuiltin('node:buffer')

const DAY_MS = 24 * 60 * 60 * 1000
const MAX_DAYS = 8.64e15 / DAY_MS

/** A cache of days as text, because columns repeat few days many times. */
const days = new Map<number, string>()
const REMEMBERED = 10_000

/** Number of digits that a double keeps of any decimal. */
const EXACT_DIGITS = 15

/** A column as the file declares it. */
export interface ParquetColumn {
  name: string
  element: SchemaElement
  /** The types of the values in its lists and objects. Null if its cells are neither. */
  tree: SchemaTree | null
  /** Its elements in the schema, and its parts in each row group, as ranges with exclusive ends. */
  elements: readonly [number, number]
  leaves: readonly [number, number]
}

/** Returns days since 1970 as an ISO 8601 date. */
export function dayText(day: number): string | null {
  if (day === null || day === undefined) return null
  const known = days.get(day)
  if (known !== undefined) return known
  if (Math.abs(day) > MAX_DAYS) return `${day} days`
  const text = new Date(day * DAY_MS).toISOString().split('T', 1)[0] as string
  if (days.size < REMEMBERED) days.set(day, text)
  return text
}

/** Returns a time since 1970 as ISO 8601 without a zone. `perSecond` is the number of units in a second. */
export function timeText(time: bigint, perSecond: bigint): string | null {
  if (time === null || time === undefined) return null
  const value = BigInt(time)
  const rest = ((value % perSecond) + perSecond) % perSecond
  const seconds = Number((value - rest) / perSecond)
  if (Math.abs(seconds) > 8.64e12) return `${seconds} seconds`
  const whole = new Date(seconds * 1000).toISOString().slice(0, -5)
  const places = String(perSecond).length - 1
  return rest === 0n ? whole : `${whole}.${String(rest).padStart(places, '0').replace(/0+$/, '')}`
}

/** Returns how many units of a time of day make a second. Null if it is not a time of day. */
function unitsOfDay({ converted_type, logical_type }: SchemaElement): bigint | null {
  const unit = logical_type?.type === 'TIME' ? logical_type.unit : converted_type
  if (unit === 'MILLIS' || unit === 'TIME_MILLIS') return 1_000n
  if (unit === 'MICROS' || unit === 'TIME_MICROS') return 1_000_000n
  return unit === 'NANOS' ? 1_000_000_000n : null
}

/** Returns whether values are scaled whole numbers. */
export function isDecimal({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'DECIMAL' || logical_type?.type === 'DECIMAL'
}

/** Returns the declared type of a column. The values of an `integer` column may still all be small. */
export function declaredType(column: Pick<ParquetColumn, 'element' | 'tree'>): ColumnType {
  const { element, tree } = column
  const { type, converted_type, logical_type, num_children, precision = 0 } = element
  const isList = converted_type === 'LIST' || logical_type?.type === 'LIST'
  if (tree) return isList || !num_children ? 'array' : 'object'
  if (isDecimal(element)) return precision <= EXACT_DIGITS ? 'number' : 'decimal'
  if (converted_type === 'JSON' || logical_type?.type === 'JSON') return 'mixed'
  if (converted_type === 'DATE' || converted_type?.startsWith('TIMESTAMP')) return 'date'
  if (logical_type?.type === 'TIMESTAMP' || type === 'INT96') return 'date'
  if (type === 'BOOLEAN') return 'boolean'
  if (unitsOfDay(element) !== null) return 'string'
  if (logical_type?.type === 'FLOAT16') return 'number'
  if (type === 'INT64') return 'integer'
  return type === 'BYTE_ARRAY' || type === 'FIXED_LEN_BYTE_ARRAY' ? 'string' : 'number'
}

/** Converts a cell, or a value in it. */
export type CellReader = (cell: unknown) => unknown

/** Creates a function that converts a Parquet cell to a value of the column's type. An empty cell becomes null. */
export function cellReader({ element, tree }: ParquetColumn, type: ColumnType): CellReader {
  const read = tree ? nestedReader(tree) : valueReader(element, type)
  return (cell) => (cell === null || cell === undefined ? null : read(cell))
}

/** Creates a function that converts lists, objects, and the values inside of them, to JSON. */
function nestedReader(tree: SchemaTree): CellReader {
  const read = itemReader(tree)
  return function convert(value): unknown {
    if (value === null || value === undefined) return null
    return Array.isArray(value) ? value.map(convert) : read(value)
  }
}

/** Creates the same function for values that are not lists. */
function itemReader({ element, children }: SchemaTree): CellReader {
  const [child, ...others] = children
  if (element.logical_type?.type === 'VARIANT') return (value) => plainValue(value, textOrBase64)
  if (!child) return leafReader(element)
  // Lists and maps have a group around their items.
  const [first, second] = child.children
  if (element.converted_type === 'LIST' && others.length === 0)
    return nestedReader(first && !second ? first : child)
  const isMap = element.converted_type === 'MAP' && second !== undefined
  const ofValues = isMap ? nestedReader(second) : null
  const readers = new Map(children.map((one) => [one.element.name, nestedReader(one)]))
  return (value) => {
    const plain: Record<string, unknown> = {}
    for (const [key, item] of Object.entries(Object(value)))
      putKey(plain, key, (ofValues ?? readers.get(key) ?? plainValue)(item))
    return plain
  }
}

function leafReader(element: SchemaElement): CellReader {
  const type = declaredType({ element, tree: null })
  // JSON in a list or an object stays text.
  if (type === 'mixed') return (value) => value
  const read = valueReader(element, type)
  if (type !== 'decimal') return (value) => plainValue(read(value))
  return (value) => {
    const text = String(read(value))
    return numberShape(text)?.isExact ? Number(text) : text
  }
}

function valueReader(element: SchemaElement, type: ColumnType): CellReader {
  const { scale = 0, logical_type } = element
  switch (type) {
    case 'number':
      return isDecimal(element) ? (cell) => Number(decimalText(cell, scale)) : Number
    case 'integer':
      return (cell) => BigInt(cell as number | bigint)
    case 'decimal':
      return isDecimal(element) ? (cell) => decimalText(cell, scale) : String
    case 'date': {
      const isUtc = logical_type?.type === 'TIMESTAMP' && logical_type.isAdjustedToUTC
      return isUtc ? (cell) => `${cell}Z` : String
    }
    case 'object':
    case 'array':
    case 'mixed':
      return (cell) => parseJson(String(plainValue(cell, textOrBase64)), (_, digits) => digits)
    case 'boolean':
      return (cell) => cell
    default: {
      const perSecond = unitsOfDay(element)
      return (cell) => {
        if (typeof cell === 'string') return cell
        // A time on the first day of 1970, without the day.
        if (perSecond !== null)
          return timeText(BigInt(cell as number | bigint), perSecond)?.slice(11)
        const ofBytes = element.type === 'BYTE_ARRAY' ? textOrBase64 : base64
        return String(plainValue(cell, ofBytes))
      }
    }
  }
}

/** Returns digits with a point before the last `scale` of them. */
export function decimalText(cell: unknown, scale: number): string {
  const value = cell instanceof Uint8Array ? signed(cell) : BigInt(cell as number | bigint)
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  const sign = value < 0n ? '-' : ''
  if (scale === 0) return sign + digits
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** Returns the two's complement of bytes, most significant first. */
function signed(bytes: Uint8Array): bigint {
  if (bytes.byteLength === 0) return 0n
  return BigInt.asIntN(bytes.byteLength * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
}

/** Returns bytes without a declared type as text if they are UTF-8, or else as base64. */
export function textOrBase64(bytes: ArrayBufferView): string {
  const found = bufferOf(bytes)
  return isUtf8(found) ? found.toString() : found.toString('base64')
}

function base64(bytes: ArrayBufferView): string {
  return bufferOf(bytes).toString('base64')
}

/** Returns a nested value as JSON: whole numbers beyond 2^53 as text, bytes as base64 or as `ofBytes` says. */
export function plainValue(value: unknown, ofBytes = base64): unknown {
  if (typeof value === 'bigint') return jsonInteger(value)
  if (value === undefined || typeof value !== 'object' || value === null) return value ?? null
  if (Array.isArray(value)) return value.map((item) => plainValue(item, ofBytes))
  if (value instanceof Date) return value.toISOString()
  if (ArrayBuffer.isView(value)) return ofBytes(value)
  const plain: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) putKey(plain, key, plainValue(item, ofBytes))
  return plain
}
