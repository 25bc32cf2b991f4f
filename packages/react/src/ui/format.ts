const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const NUMBER = new Intl.NumberFormat('en')

/** Formats a count with thousands separators: `1,461`. */
export function formatCount(value: number): string {
  return NUMBER.format(value)
}

const DOLLARS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' })
const CENTS = new Intl.NumberFormat('en', {
  ...{ style: 'currency', currency: 'USD' },
  minimumFractionDigits: 4,
})

/** Formats US dollars: `$1,204.30`; small amounts with four decimals: `$0.0042`. */
export function formatCost(dollars: number): string {
  return (dollars > 0 && dollars < 0.1 ? CENTS : DOLLARS).format(dollars)
}

/** Formats a size in bytes: `48 B`, `12.3 KB`, `1.4 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ['KB', 'MB', 'GB', 'TB']
  // A value that rounds up to 1,000 of a unit is 1.0 of the next.
  const power = Math.min(units.length, Math.floor(Math.log10(bytes * 1.0005) / 3))
  const value = bytes / 1_000 ** power
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`
}

/** Formats a duration: `42 ms`, `1.3 s`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  // Round first, so that minutes are never followed by 60 seconds.
  if (Math.round(milliseconds) < 1_000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1_000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Formats the time of day, with the date if it is not today. Empty for an invalid time. */
export function formatTime(iso: string, now: Date = new Date()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  const clock = CLOCK.format(date)
  return date.toDateString() === now.toDateString() ? clock : `${DAY.format(date)}, ${clock}`
}

/** Formats the full date and time, for tooltips. Returns an invalid time unchanged. */
export function formatFullTime(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : FULL.format(date)
}

/** Formats how long ago a time was: `now`, `5m`, `3h`, then the date. */
export function formatAgo(iso: string, now: Date = new Date()): string {
  const date = new Date(iso)
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000)
  if (Number.isNaN(minutes)) return ''
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes}m`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h`
  return DAY.format(date)
}
