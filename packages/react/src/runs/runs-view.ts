import type { CostsQuery } from 'byref/client'

/** The time ranges of the page, and the periods that the chart shows. */
export const RANGES = {
  today: { label: 'Today', by: 'hour' },
  '24h': { label: 'Last 24 hours', by: 'hour' },
  '7d': { label: 'Last 7 days', by: 'day' },
  '30d': { label: 'Last 30 days', by: 'day' },
  '12m': { label: 'Last 12 months', by: 'month' },
  all: { label: 'All time', by: 'month' },
} as const

/** A time range of the page. */
export type Range = keyof typeof RANGES

/** The statuses of a run, and their names. */
export const STATUSES = {
  running: 'Running',
  waiting: 'Needs approval',
  finished: 'Finished',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const

/** The search of the page's address: time range, filters, and what the chart shows. */
export interface RunsView {
  /** Default: 30 days. */
  range?: Range
  status?: keyof typeof STATUSES
  agent?: string
  model?: string
  tool?: string
  /** An error code. */
  error?: string
  /** US dollars. */
  minCost?: number
  minTokens?: number
  /** Seconds. */
  minDuration?: number
  conversation?: string
  /** Default: cost, or tokens if no price is known. */
  metric?: 'cost' | 'tokens'
  /** Default: model. */
  split?: 'model' | 'agent' | 'none'
}

/** The filters, without the time range. */
const FILTERS = [
  'status',
  'agent',
  'model',
  'tool',
  'error',
  'minCost',
  'minTokens',
  'minDuration',
  'conversation',
] as const

/** Reads the view from the search of an address. Invalid parts are ignored. */
export function readRunsView(search: Record<string, unknown>): RunsView {
  const text = (key: string): string | undefined => {
    const value = search[key]
    const isText = typeof value === 'string' || typeof value === 'number'
    return isText && value !== '' ? String(value) : undefined
  }
  const amount = (key: string): number | undefined => {
    const value = Number(text(key) ?? Number.NaN)
    return value >= 0 && value < Infinity ? value : undefined
  }
  const one = <Key extends string>(key: string, names: readonly Key[]): Key | undefined =>
    names.find((name) => name === search[key])
  return {
    range: one('range', Object.keys(RANGES) as Range[]),
    status: one('status', Object.keys(STATUSES) as (keyof typeof STATUSES)[]),
    agent: text('agent'),
    model: text('model'),
    tool: text('tool'),
    error: text('error'),
    minCost: amount('minCost'),
    minTokens: amount('minTokens'),
    minDuration: amount('minDuration'),
    conversation: text('conversation'),
    metric: one('metric', ['cost', 'tokens']),
    split: one('split', ['model', 'agent', 'none']),
  }
}

/** Returns how many filters are set, without the time range. */
export function countFilters(view: RunsView): number {
  return FILTERS.filter((key) => view[key] !== undefined).length
}

/** The change that removes all filters. */
export const NO_FILTERS: RunsView = Object.fromEntries(FILTERS.map((key) => [key, undefined]))

/** Returns the filter that the server is asked with, for a range that ends now. */
export function filterOf({ range = '30d', ...view }: RunsView, now: Date): CostsQuery {
  const { status, agent, model, tool, error, minCost, minTokens, minDuration, conversation } = view
  return {
    status,
    agent,
    model,
    tool,
    error,
    minCost,
    minTokens,
    conversation,
    minDurationMs: minDuration === undefined ? undefined : minDuration * 1000,
    since: startOf(range, now)?.toISOString(),
  }
}

/** Returns when a range starts, at the beginning of its first hour, day or month. Null for all time. */
export function startOf(range: Range, now: Date): Date | null {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  switch (range) {
    case 'today':
      return new Date(year, month, day)
    case '24h':
      return new Date(new Date(now).setMinutes(0, 0, 0) - 23 * HOUR)
    case '7d':
      return new Date(year, month, day - 6)
    case '30d':
      return new Date(year, month, day - 29)
    case '12m':
      return new Date(year, month - 11)
    case 'all':
      return null
  }
}

const HOUR = 3_600_000

/** An hour, a day or a month of the chart. */
export interface Period {
  /** The server's name of the period; for an hour the time in milliseconds, because its name has an offset. */
  key: string
  start: Date
}

/** Returns all periods from a time until now, also those without runs. */
export function periodsSince(start: Date, by: 'hour' | 'day' | 'month', now: Date): Period[] {
  const periods: Period[] = []
  for (let at = start; at <= now; at = next(at, by)) {
    const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(twoDigits)
    const key = { hour: `${at.getTime()}`, day: date.join('-'), month: date.slice(0, 2).join('-') }
    periods.push({ key: key[by], start: at })
  }
  return periods
}

/** Returns the key of a period that the server names. */
export function periodKey(name: string, by: 'hour' | 'day' | 'month'): string {
  return by === 'hour' ? `${Date.parse(name)}` : name
}

function next(at: Date, by: 'hour' | 'day' | 'month'): Date {
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()]
  if (by === 'hour') return new Date(at.getTime() + HOUR)
  return by === 'day' ? new Date(year, month, day + 1) : new Date(year, month + 1)
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0')
}
