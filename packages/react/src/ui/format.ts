// Numbers, times and dates are written as in the locale of the browser, with its digits and separators. Words and units
// are English, like the rest of the interface.

const count = inLocale((locale) => new Intl.NumberFormat(locale))
const tenths = inLocale((locale) => new Intl.NumberFormat(locale, fractionDigits(1)))
const share = inLocale((locale) => new Intl.NumberFormat(locale, { style: 'percent' }))
const dollars = inLocale((locale) => new Intl.NumberFormat(locale, dollarsWith(2)))
const smallSum = inLocale((locale) => new Intl.NumberFormat(locale, dollarsWith(4)))
const clock = inLocale(
  (locale) => new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' }),
)
const day = inLocale(
  (locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' }),
)
const hour = inLocale(
  (locale) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'short',
      hour: 'numeric',
      minute: '2-digit',
    }),
)
const month = inLocale(
  (locale) => new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric' }),
)
const full = inLocale(
  (locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
)

/** Formats a count with thousands separators: `1,461`. */
export function formatCount(value: number): string {
  return count().format(value)
}

/** Formats a number with one digit after the point: `1.5`. */
export function formatTenths(value: number): string {
  return tenths().format(value)
}

/** Formats a share of 1 as a percentage: `35%`. */
export function formatShare(value: number): string {
  return share().format(value)
}

/** Formats an amount of US dollars: `$1.20`, and a small one with four digits: `$0.0123`. */
export function formatCost(usd: number): string {
  return (usd > 0 && usd < 0.1 ? smallSum() : dollars()).format(usd)
}

/** Formats a size in bytes: `48 B`, `12.3 KB`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${formatCount(bytes)} B`
  const units = ['KB', 'MB', 'GB', 'TB']
  // A value that rounds up to 1,000 of a unit is 1.0 of the next.
  const power = Math.min(units.length, Math.floor(Math.log10(bytes * 1.0005) / 3))
  const value = bytes / 1_000 ** power
  return `${value < 100 ? formatTenths(value) : formatCount(Math.round(value))} ${units[power - 1]}`
}

/** Formats a duration: `42 ms`, `1.3 s`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  // Round first, so that minutes are never followed by 60 seconds.
  const rounded = Math.round(milliseconds)
  if (rounded < 1_000) return `${formatCount(rounded)} ms`
  if (milliseconds < 59_950) return `${formatTenths(milliseconds / 1_000)} s`
  const seconds = Math.round(milliseconds / 1_000)
  return `${formatCount(Math.floor(seconds / 60))} min ${formatCount(seconds % 60)} s`
}

const PERIODS = { hour, day, month }

/** Formats the beginning of an hour, a day or a month: `Mar 4`. */
export function formatPeriod(start: Date, by: keyof typeof PERIODS): string {
  return PERIODS[by]().format(start)
}

/** Formats the time of day, with the date if it is not today. Empty for an invalid time. */
export function formatTime(iso: string, now: Date = new Date()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  const time = clock().format(date)
  return date.toDateString() === now.toDateString() ? time : `${day().format(date)}, ${time}`
}

/** Formats the full date and time, for tooltips. Returns an invalid time unchanged. */
export function formatFullTime(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : full().format(date)
}

/** Formats how long ago a time was: `now`, `5m`, `3h`, then the date. */
export function formatAgo(iso: string, now: Date = new Date()): string {
  const date = new Date(iso)
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000)
  if (Number.isNaN(minutes)) return ''
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${formatCount(minutes)}m`
  if (minutes < 24 * 60) return `${formatCount(Math.floor(minutes / 60))}h`
  return day().format(date)
}

function fractionDigits(digits: number): Intl.NumberFormatOptions {
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

function dollarsWith(digits: number): Intl.NumberFormatOptions {
  return { style: 'currency', currency: 'USD', ...fractionDigits(digits) }
}

/** Returns a formatter of the browser's locale. It is made at the first use, because that is slow. */
function inLocale<T>(make: (locale: string | undefined) => T): () => T {
  let made: { locale: string | undefined; formatter: T } | null = null
  return () => {
    const locale = browserLocale()
    if (made?.locale !== locale || made === null) made = { locale, formatter: make(locale) }
    return made.formatter
  }
}

/** Returns the locale of the browser. Undefined is the one of the JavaScript engine. */
function browserLocale(): string | undefined {
  const { language } = navigator
  // Chromium on Linux may name one that Intl rejects, such as `en-US@posix`.
  return language && /^[a-z0-9-]+$/i.test(language) ? language : undefined
}
