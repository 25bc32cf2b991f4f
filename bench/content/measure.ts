import { cpus } from 'node:os'

/** The time of one candidate in microseconds per call, over all rounds. */
export interface Measured {
  name: string
  median: number
  low: number
  high: number
}

/** Options of {@link measure}. */
export interface MeasureOptions {
  /**
   * Number of rounds. Each candidate has one turn in each round, so that noise affects all of them equally. Default:
   * 40.
   */
  rounds?: number
  /** Calls of a candidate in one turn. Default: 1. */
  calls?: number
}

/** Prints the machine and the versions, once at the beginning. */
export function printMachine(title: string): void {
  const cpu = cpus()
  console.log(`\n# ${title}`)
  console.log(
    `${cpu.length} × ${cpu[0]?.model.trim()}, Node ${process.version}, V8 ${process.versions.v8}`,
  )
}

/** Times candidates side by side. Prints the median, the 10th and 90th percentile, and the ratio to the first one. */
export function measure(
  title: string,
  candidates: Record<string, () => unknown>,
  { rounds = 40, calls = 1 }: MeasureOptions = {},
): Record<string, Measured> {
  const names = Object.keys(candidates)
  const times = new Map<string, number[]>(names.map((name) => [name, []]))
  for (let round = -5; round < rounds; round++) {
    for (const name of names) {
      const run = candidates[name] as () => unknown
      const start = performance.now()
      for (let call = 0; call < calls; call++) run()
      const took = ((performance.now() - start) * 1000) / calls
      if (round >= 0) times.get(name)?.push(took)
    }
  }
  const measured = names.map((name) => summarise(name, times.get(name) as number[]))
  const base = measured[0]?.median ?? 1
  console.log(`\n${title}`)
  for (const { name, median, low, high } of measured) {
    const ratio = (median / base).toFixed(2)
    console.log(
      `  ${name.padEnd(34)} ${format(median)} µs  (${format(low)} – ${format(high)})  × ${ratio}`,
    )
  }
  return Object.fromEntries(measured.map((one) => [one.name, one]))
}

function summarise(name: string, times: number[]): Measured {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] as number
  return { name, median: at(0.5), low: at(0.1), high: at(0.9) }
}

function format(value: number): string {
  return (value < 10 ? value.toFixed(2) : value.toFixed(1)).padStart(9)
}
