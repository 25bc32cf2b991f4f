import { isInt64, numberShape } from './long-number.ts'
import type { ColumnType, Storage } from './table-column.ts'

/** What kind of numbers those are that were seen. */
export interface NumberKind {
  /** False for what no column of numbers has: text, and digits that neither a double nor a decimal keeps. */
  see(number: string | number | bigint): boolean
  type(): Extract<ColumnType, 'number' | 'integer' | 'decimal'>
  storage(): Storage
  /** Digits behind the point, of decimals. */
  scale(): number
}

const INT32 = 2 ** 31 - 1
/** Digits that a decimal of Parquet and of SQL may have. */
const MAX_DIGITS = 38

/** Numbers that doubles hold, else whole ones of 64 bits, else decimals. */
export function numberKind(): NumberKind {
  let isExact = true
  let isWhole = true
  let fitsInt64 = true
  let hasExponent = false
  let largest = 0
  let digits = 0
  let scale = 0

  function seeNumber(value: number): void {
    const whole = Number.isInteger(value) && !Object.is(value, -0)
    if (!whole) isWhole = false
    largest = Math.max(largest, Math.abs(value))
    if (whole && Math.abs(value) <= INT32) {
      if (digits < 10) digits = Math.max(digits, String(Math.abs(value)).length)
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
    return true
  }

  function type(): 'number' | 'integer' | 'decimal' {
    if (isExact) return 'number'
    return isWhole && fitsInt64 ? 'integer' : 'decimal'
  }

  return {
    see(number) {
      if (typeof number === 'number') seeNumber(number)
      else if (!seeText(String(number))) return false
      return isExact || (!hasExponent && digits + scale <= MAX_DIGITS)
    },
    type,
    storage() {
      const found = type()
      if (found === 'decimal') return 'text'
      if (found === 'integer') return 'int64'
      if (!isWhole) return 'double'
      return largest <= INT32 ? 'int32' : largest <= Number.MAX_SAFE_INTEGER ? 'int64' : 'double'
    },
    scale: () => scale,
  }
}
