import { ByrefError } from '../core/errors.ts'
import type { TokenUsage } from '../core/events/events.ts'
import { type CostSum, type CostsOptions, type StoredRun, usageOf } from './runs.ts'

/**
 * Length of a slot in milliseconds: a quarter of an hour. Runs are grouped by slots, because in every time zone hours
 * and days begin at one. So databases do not need time zones.
 */
export const SLOT_MS = 900_000

/** The sum of the runs of one slot and one group. */
export interface CostPart {
  /** The number of the slot since 1970. Null if all runs are added up. */
  slot: number | null
  name: string | null
  runs: number
  failed: number
  input: number | null
  cached: number | null
  output: number | null
  cost: number | null
  unpriced: number
}

/** Returns the parts of one run: one for each model if costs are grouped by model. */
export function partsOf(
  run: Pick<StoredRun, 'started' | 'status' | 'agent' | 'models' | 'usages'>,
  { by, group }: CostsOptions,
): CostPart[] {
  const { started, status, agent, models, usages } = run
  const slot = by === undefined ? null : Math.trunc(started / SLOT_MS)
  const counts = { slot, runs: 1, failed: status === 'failed' ? 1 : 0 }
  if (group !== 'model') {
    const unpriced = usages.some(isUnpriced) ? 1 : 0
    const name = group === 'agent' ? agent : null
    return [{ ...counts, name, unpriced, ...amountsOf(usageOf(run)) }]
  }
  return usages.map((usage, i) => {
    const unpriced = isUnpriced(usage) ? 1 : 0
    return { ...counts, name: models[i] || null, unpriced, ...amountsOf(usage) }
  })
}

/** Returns whether the usage has tokens without a known price. */
export function isUnpriced({ inputTokens, outputTokens, cost }: TokenUsage): boolean {
  return cost === undefined && (inputTokens !== null || outputTokens !== null)
}

/** Adds up parts. @throws ByrefError `bad_request` for an unknown time zone */
export function sumCosts(
  parts: readonly CostPart[],
  { by, timeZone = 'UTC' }: CostsOptions,
): CostSum[] {
  const format = formatIn(timeZone)
  const periodOf = by && periods(by, format)
  const sums = new Map<string | null, Map<string | null, CostPart>>()
  for (const part of parts.toSorted((a, b) => Number(a.slot) - Number(b.slot))) {
    const period = periodOf ? periodOf(Number(part.slot)) : null
    const groups = sums.get(period) ?? new Map<string | null, CostPart>()
    const before = groups.get(part.name)
    groups.set(part.name, before ? added(before, part) : part)
    sums.set(period, groups)
  }
  return [...sums].flatMap(([period, groups]) =>
    [...groups.values()].toSorted(byName).map((sum) => costSum(period, sum)),
  )
}

function costSum(period: string | null, sum: CostPart): CostSum {
  return {
    period,
    group: sum.name,
    runs: sum.runs,
    failedRuns: sum.failed,
    inputTokens: sum.input ?? 0,
    cachedInputTokens: sum.cached ?? 0,
    outputTokens: sum.output ?? 0,
    cost: sum.cost,
    unpricedRuns: sum.unpriced,
  }
}

/** The columns of a usage. */
export type Amounts = Pick<CostPart, 'input' | 'cached' | 'output' | 'cost'>

/** Returns a usage as columns. */
export function amountsOf({ inputTokens, cachedInputTokens, ...rest }: TokenUsage): Amounts {
  const { outputTokens, cost = null } = rest
  return { input: inputTokens, cached: cachedInputTokens ?? null, output: outputTokens, cost }
}

function added(a: CostPart, b: CostPart): CostPart {
  const add = (key: keyof Amounts): number | null =>
    a[key] === null ? b[key] : a[key] + (b[key] ?? 0)
  return {
    ...a,
    runs: a.runs + b.runs,
    failed: a.failed + b.failed,
    unpriced: a.unpriced + b.unpriced,
    input: add('input'),
    cached: add('cached'),
    output: add('output'),
    cost: add('cost'),
  }
}

function byName({ name: a }: CostPart, { name: b }: CostPart): number {
  return (a ?? '') < (b ?? '') ? -1 : 1
}

/** Returns the function that names the period of a slot. */
function periods(
  by: 'hour' | 'day' | 'month',
  format: Intl.DateTimeFormat,
): (slot: number) => string {
  const known = new Map<number, string>()
  return (slot) => {
    let name = known.get(slot)
    if (name === undefined) {
      // A pattern reads the parts of the text, because `formatToParts` takes four times as long.
      const text = format.format(slot * SLOT_MS)
      const [, month, day, year = '', hour, offset] = TEXT.exec(text) ?? []
      const date = `${year.padStart(4, '0')}-${month}-${day}`
      name = {
        hour: `${date}T${hour}:00:00${offset || '+00:00'}`,
        day: date,
        month: date.slice(0, -3),
      }[by]
      known.set(slot, name)
    }
    return name
  }
}

/** Matches `01/31/2026, 14 GMT+01:00`. */
const TEXT = /^(\d+)\/(\d+)\/(\d+)\D+(\d+)\D*GMT(.*)$/

function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      hourCycle: 'h23',
      timeZoneName: 'longOffset',
    })
  } catch (error) {
    throw new ByrefError(
      'bad_request',
      `Unknown time zone ${JSON.stringify(timeZone)}: use an IANA name such as Europe/Berlin`,
      { cause: error },
    )
  }
}
