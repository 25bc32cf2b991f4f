import { cpus } from 'node:os'

/** The time of one measurement, in milliseconds. */
export interface Figures {
  median: number
  min: number
  max: number
}

/** Prints the machine and the versions. */
export function printMachine(): void {
  const [cpu] = cpus()
  console.log(
    `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model}`,
  )
}

/**
 * Runs the candidates in turn, so that noise affects all of them equally. Each has one warm-up run. `prepare` makes
 * the input of every run, and is not measured.
 */
export async function measure<T>(
  rounds: number,
  things: Record<string, (input: T) => Promise<unknown> | unknown>,
  prepare: (name: string) => Promise<T> | T,
): Promise<Record<string, Figures>> {
  const times = new Map<string, number[]>(Object.keys(things).map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(things)) {
      const input = await prepare(name)
      globalThis.gc?.()
      const start = performance.now()
      await run(input)
      const time = performance.now() - start
      if (round >= 0) times.get(name)?.push(time)
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, figuresOf(all)]))
}

/** Prints figures, and the ratio of each to the first. */
export function printFigures(title: string, figures: Record<string, Figures>): void {
  console.log(`\n${title}`)
  const [base] = Object.values(figures)
  for (const [name, { median, min, max }] of Object.entries(figures)) {
    const ratio = base ? (median / base.median).toFixed(2) : '1.00'
    const spread = `${min.toFixed(2)}–${max.toFixed(2)}`
    console.log(`  ${name.padEnd(44)} ${median.toFixed(2).padStart(9)} ms  (${spread})  ${ratio}×`)
  }
}

function figuresOf(times: number[]): Figures {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0
  return { median: at(0.5), min: at(0), max: at(1) }
}
