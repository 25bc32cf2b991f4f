import type { CostSum } from 'byref/client'
import type { ReactNode } from 'react'
import { formatCost, formatCount, formatPeriod } from '../ui/format.ts'
import type { ChartCosts } from './run-queries.ts'
import { type Period, periodKey, periodsSince, RANGES, type RunsView } from './runs-view.ts'

/** Properties of {@link CostChart}. */
export interface CostChartProps {
  view: RunsView
  data: ChartCosts
  onChange: (change: RunsView) => void
}

/** Groups with the largest sums have colours of their own; the others share the last one. */
const COLOURS = [
  'var(--byref-asset)',
  'var(--byref-variable)',
  'var(--byref-good)',
  'color-mix(in oklab, var(--byref-bad), var(--byref-asset))',
  'var(--byref-ink-3)',
]

/** Renders bars of the cost or the tokens of each period, and the same numbers as a table for screen readers. */
export function CostChart({ view, data, onChange }: CostChartProps) {
  const { range = '30d', split = 'model' } = view
  const { by } = RANGES[range]
  const hasCost = data.costs.some(({ cost }) => cost !== null)
  const metric = view.metric ?? (hasCost ? 'cost' : 'tokens')
  const format = metric === 'cost' ? formatCost : formatCount
  const periods = periodsSince(startOf(data), by, data.now)
  const bars = barsOf(data.costs, { by, metric, split })
  const names = namesOf(data.costs, metric, split)
  const most = Math.max(...[...bars.values()].map(sumOf), 0)
  const what = metric === 'cost' ? 'Cost' : 'Tokens'
  const title = `${what} per ${by}`
  return (
    <figure aria-label={title} className="space-y-2 rounded-lg border border-line p-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <figcaption className="me-auto text-sm font-semibold">{title}</figcaption>
        <Switch
          label="Show"
          value={metric}
          names={{ cost: 'Cost', tokens: 'Tokens' }}
          onChoose={(chosen) => onChange({ metric: chosen })}
        />
        <Switch
          label="By"
          value={split}
          names={{ model: 'Model', agent: 'Agent', none: 'Sum' }}
          onChoose={(chosen) => onChange({ split: chosen })}
        />
      </div>
      <div aria-hidden style={{ maxWidth: `${periods.length * 4}rem` }}>
        <p className="border-b border-dashed border-line pb-0.5 text-2xs text-ink-3 tabular-nums">
          {format(most)}
        </p>
        <div className="flex h-36 items-end gap-px border-b border-line-strong">
          {periods.map((period) => {
            const parts = bars.get(period.key) ?? new Map<string, number>()
            const said = `${formatPeriod(period.start, by)}: ${format(sumOf(parts))}`
            return (
              <div
                key={period.key}
                title={said}
                className="flex h-full min-w-0 max-w-16 flex-1 flex-col-reverse hover:bg-hover"
              >
                {names.map((name, place) => (
                  <span
                    key={name}
                    style={{
                      height: `${most === 0 ? 0 : ((parts.get(name) ?? 0) / most) * 100}%`,
                      background: colourOf(place),
                    }}
                  />
                ))}
              </div>
            )
          })}
        </div>
        <p className="flex justify-between gap-2 pt-0.5 text-2xs text-ink-3 tabular-nums">
          {ticksOf(periods).map((period) => (
            <span key={period.key}>{formatPeriod(period.start, by)}</span>
          ))}
        </p>
      </div>
      {split !== 'none' && <Legend names={names} />}
      <ChartTable
        title={title}
        by={by}
        periods={periods}
        names={names}
        bars={bars}
        format={format}
      />
    </figure>
  )
}

/** Sums by period and by name of the group. */
type Bars = Map<string, Map<string, number>>

type Split = NonNullable<RunsView['split']>
type By = 'hour' | 'day' | 'month'

function barsOf(
  costs: readonly CostSum[],
  { by, metric, split }: { by: By; metric: 'cost' | 'tokens'; split: Split },
): Bars {
  const bars: Bars = new Map()
  const names = namesOf(costs, metric, split)
  for (const sum of costs) {
    const key = periodKey(sum.period ?? '', by)
    const parts = bars.get(key) ?? new Map<string, number>()
    const own = groupOf(sum, split)
    const name = names.includes(own) ? own : OTHERS
    parts.set(name, (parts.get(name) ?? 0) + amountOf(sum, metric))
    bars.set(key, parts)
  }
  return bars
}

const OTHERS = 'Others'

/** Returns the names of the groups, the largest first. */
function namesOf(costs: readonly CostSum[], metric: 'cost' | 'tokens', split: Split): string[] {
  const sums = new Map<string, number>()
  for (const sum of costs) {
    const name = groupOf(sum, split)
    sums.set(name, (sums.get(name) ?? 0) + amountOf(sum, metric))
  }
  const names = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name)
  return names.length > COLOURS.length ? [...names.slice(0, COLOURS.length - 1), OTHERS] : names
}

function groupOf({ group }: CostSum, split: Split): string {
  return split === 'none' ? 'Sum' : (group ?? `No ${split}`)
}

function amountOf({ cost, inputTokens, outputTokens }: CostSum, metric: 'cost' | 'tokens'): number {
  return metric === 'cost' ? (cost ?? 0) : inputTokens + outputTokens
}

function sumOf(parts: ReadonlyMap<string, number>): number {
  return [...parts.values()].reduce((sum, part) => sum + part, 0)
}

/** Returns when the chart starts. For all time, with the first month that has runs. */
function startOf({ costs, start, now }: ChartCosts): Date {
  if (start) return start
  const [year = now.getFullYear(), month = now.getMonth() + 1] = (costs[0]?.period ?? '')
    .split('-')
    .filter(Boolean)
    .map(Number)
  return new Date(year, month - 1)
}

/** Returns the first, the middle and the last period. */
function ticksOf(periods: readonly Period[]): Period[] {
  const places = [0, Math.floor((periods.length - 1) / 2), periods.length - 1]
  return [...new Set(places)].flatMap((place) => periods[place] ?? [])
}

function colourOf(place: number): string {
  return COLOURS[place] ?? 'var(--byref-ink-3)'
}

function Legend({ names }: { names: readonly string[] }) {
  return (
    <ul aria-hidden className="flex flex-wrap gap-x-4 gap-y-1 text-xs">
      {names.map((name, place) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <span className="size-2.5 shrink-0 rounded-xs" style={{ background: colourOf(place) }} />
          <span className="min-w-0 truncate">{name}</span>
        </li>
      ))}
    </ul>
  )
}

/** Renders the numbers of the chart for screen readers, without periods that have no runs. */
function ChartTable({
  title,
  by,
  periods,
  names,
  bars,
  format,
}: {
  title: string
  by: By
  periods: readonly Period[]
  names: readonly string[]
  bars: Bars
  format: (value: number) => string
}) {
  return (
    <div className="sr-only">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{{ hour: 'Hour', day: 'Day', month: 'Month' }[by]}</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {periods.map((period) => {
            const parts = bars.get(period.key)
            if (!parts) return null
            return (
              <tr key={period.key}>
                <th scope="row">{formatPeriod(period.start, by)}</th>
                {names.map((name) => (
                  <td key={name}>{format(parts.get(name) ?? 0)}</td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function Switch<Key extends string>({
  label,
  value,
  names,
  onChoose,
}: {
  label: string
  value: Key
  names: Record<Key, string>
  onChoose: (key: Key) => void
}) {
  return (
    <label className="flex items-center gap-1.5 text-xs text-ink-3">
      {label}
      <select
        value={value}
        onChange={(event) => onChoose(event.target.value as Key)}
        className="h-7 rounded-md border border-line-strong bg-surface px-1.5 text-xs text-ink max-md:text-[16px] pointer-coarse:h-9"
      >
        {Object.entries<string>(names).map(
          ([key, name]): ReactNode => (
            <option key={key} value={key}>
              {name}
            </option>
          ),
        )}
      </select>
    </label>
  )
}
