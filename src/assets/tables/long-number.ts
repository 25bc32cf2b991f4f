/** A number with more digits than a double keeps. Its JSON is its text. */
export class LongNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    return this.text
  }
}

/** The form of a numeric text. */
export interface NumberShape {
  /** Whether a double has exactly these digits. */
  isExact: boolean
  /** Whether it has neither point nor exponent, and is not negative zero. */
  isWhole: boolean
  hasExponent: boolean
  /** Digits before the point, without leading zeros. */
  digits: number
  /** Digits after the point. */
  scale: number
}

const NUMBER = /^[+-]?(?:(\d+)(?:\.(\d*))?|\.(\d+))([eE][+-]?\d+)?$/

/** Postcodes have leading zeros, and telephone numbers a plus. */
const CODE = /^[+-]?0\d|^\+\d{7,}$/
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** Returns the form of a number. Null for other text, and for codes. */
export function numberShape(text: string): NumberShape | null {
  const found = NUMBER.exec(text)
  if (!found || isCode(text)) return null
  const [, before, behind = '', alone, exponent] = found
  const fraction = alone ?? behind
  return {
    isExact: isExact(text, exponent !== undefined),
    isWhole: alone === undefined && !text.includes('.') && !exponent && !/^-0+$/.test(text),
    hasExponent: exponent !== undefined,
    digits: before === undefined || before === '0' ? 0 : before.length,
    scale: fraction.length,
  }
}

/** Whether digits are a code, such as a postcode or a telephone number, and not a number. */
export function isCode(text: string): boolean {
  return CODE.test(text)
}

/** Returns whether a whole number fits into 64 bits. */
export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX
}

/** Parses a JSON number with all of its digits: a bigint or a {@link LongNumber} if a double would lose some. */
export function exactNumber(text: string): number | bigint | LongNumber {
  const shape = numberShape(text)
  if (!shape || shape.isExact) return Number(text)
  if (shape.isWhole && shape.digits <= 19 && isInt64(BigInt(text))) return BigInt(text)
  return new LongNumber(text)
}

/** Only such texts contain numbers that a double would round. */
const MAY_BE_LONG = /\d[\d.]{14}\d|\d[eE][+-]?\d/

/** Parses JSON. `long` returns what a number becomes that a double would round, from its exact value and its text. */
export function parseJson(
  json: string,
  long: (number: bigint | LongNumber, text: string) => unknown,
): unknown {
  if (!MAY_BE_LONG.test(json)) return JSON.parse(json)
  return JSON.parse(json, function keep(this: unknown, _: string, value: unknown, ...rest) {
    const [{ source } = { source: undefined }] = rest as [{ source?: string }?]
    if (typeof value !== 'number' || source === undefined) return value
    const exact = exactNumber(source)
    return typeof exact === 'number' ? exact : long(exact, source)
  } as (key: string, value: unknown) => unknown)
}

function isExact(text: string, hasExponent: boolean): boolean {
  // A double keeps 15 digits of any number in its range.
  if (text.length <= 15 && !hasExponent) return true
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const digits = digitsOf(text)
  if (value === 0) return digits === ''
  return digits.length <= 15 || digits === digitsOf(String(value))
}

/** Returns the significant digits, without the exponent and the zeros at both ends. */
function digitsOf(text: string): string {
  const [mantissa = ''] = text.split(/e/i)
  return mantissa.replace(/\D/g, '').replace(/^0+|0+$/g, '')
}

/** Returns a whole number as JSON: a number, or text beyond 2^53. */
export function jsonInteger(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}
