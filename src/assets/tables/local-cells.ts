import { isCode } from './long-number.ts'

/**
 * How the cells of a text column are written: `plain` as in JSON and ISO 8601; with a decimal `comma` (1.234,56) or a
 * decimal `point` and separated thousands (1,234.56); dates with the `day` or the `month` first.
 */
export type CellForm = 'plain' | 'comma' | 'point' | 'day' | 'month'

// Separated thousands do not begin with a zero: 0.125 is less than one.
const COMMA_NUMBER =
  /^[+-]?(?:[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:[ \u00a0\u202f]\d{3})+)|\d+)(?:,\d+)?$/
const POINT_NUMBER = /^[+-]?(?:[1-9]\d{0,2}(?:(?:,\d{3})+|(?:['’]\d{3})+)|\d+)(?:\.\d+)?$/
const NUMBER = String.raw`[+-]?\d[\d.,'’ \u00a0\u202f]*`
const PERCENTAGE = new RegExp(String.raw`^${NUMBER}\s*%$`)
const SIGN = String.raw`(?:\p{Sc}|[A-Z]{3}|kr|zł|Kč|Fr\.)`
const CURRENCY = new RegExp(String.raw`^(?:-?${SIGN}\s*${NUMBER}|${NUMBER}\s*${SIGN})$`, 'u')
const LOCAL_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T ](\d{1,2}:\d{2}(?::\d{2})?))?$/

/** Whether a text is a number with a decimal comma, such as `1.234,56`. */
export function isCommaNumber(text: string): boolean {
  return COMMA_NUMBER.test(text) && !isCode(text)
}

/** Whether a text is a number with a decimal point and separated thousands, such as `1,234.56`. */
export function isPointNumber(text: string): boolean {
  return POINT_NUMBER.test(text) && !isCode(text)
}

/** Whether a plain number could also be whole, with a point between its thousands: `1.250`. */
export function hasPointedThousands(text: string): boolean {
  return text.includes('.') && isCommaNumber(text)
}

/** Returns a number as JSON writes it. */
export function plainNumber(text: string, form: CellForm): string {
  if (form === 'comma') return text.replace(/[. \u00a0\u202f]/g, '').replace(',', '.')
  return form === 'point' ? text.replace(/[,'’]/g, '') : text
}

/** Whether a text is a percentage, such as `5 %`. */
export function isPercentage(text: string): boolean {
  return PERCENTAGE.test(text)
}

/** Whether a text is a number with the sign or the code of a currency, such as `€1200`. */
export function isCurrency(text: string): boolean {
  return CURRENCY.test(text)
}

/**
 * Returns a date such as `01.09.2023` in ISO order, read with its day or its month first. It is not checked with the
 * calendar. Null for other text, and for a date with points that would begin with the month.
 */
export function localDate(text: string, form: 'day' | 'month'): string | null {
  const [, first, separator, second, year, time] = LOCAL_DATE.exec(text) ?? []
  if (year === undefined || (form === 'month' && separator === '.')) return null
  const day = form === 'day' ? `${second}-${first}` : `${first}-${second}`
  if (!time) return `${year}-${day}`
  return `${year}-${day} ${/^\d:/.test(time) ? `0${time}` : time}`
}
