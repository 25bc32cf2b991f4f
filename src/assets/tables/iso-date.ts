const DATE =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i
const NAMED_DATE = /^([A-Za-z]{3,9})(\.?) (\d{1,2}),? (\d{4})$/
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const ZERO = 48
const NINE = 57
const MONTHS =
  'january february march april may june july august september october november december'.split(' ')

/** Returns a date or time as ISO 8601 text. Null if it is not a date, or is ambiguous. */
export function isoDate(text: string): string | null {
  const first = text.charCodeAt(0)
  if (first < ZERO || first > NINE) return namedDate(text)
  const found = DATE.exec(text)
  if (!found) return null
  const [, year = '', , month = '', day = '', time, zone = ''] = found
  const date = calendarDate(Number(year), Number(month), Number(day))
  if (date === null || time === undefined) return date
  const offset = zone
    .toUpperCase()
    .replace(/^([+-]\d{2}):?(\d{2})?$/, (_, hours, minutes = '00') => {
      return `${hours}:${minutes}`
    })
  const moment = `${date}T${time}${offset}`
  return Number.isNaN(Date.parse(moment)) ? null : moment
}

function namedDate(text: string): string | null {
  const found = NAMED_DATE.exec(text)
  if (!found) return null
  const [, name = '', point, day, year] = found
  const month = MONTHS.findIndex((month) => isNameOf(month, name.toLowerCase(), point === '.'))
  return calendarDate(Number(year), month + 1, Number(day))
}

/** Returns whether a name is that of the month, in full or in three letters (also `Sept`), with or without a point. */
function isNameOf(month: string, name: string, shortened: boolean): boolean {
  const isShort = name.length === 3 || name === 'sept'
  return isShort ? month.startsWith(name) : !shortened && month === name
}

/** Returns the day as text, if it exists in the calendar. */
function calendarDate(year: number, month: number, day: number): string | null {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0)
  if (day < 1 || day > days) return null
  return `${String(year).padStart(4, '0')}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`
}
