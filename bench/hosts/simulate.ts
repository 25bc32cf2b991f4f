// A simulated day with a million conversations, with measured service times (steps.ts, cost.ts).
// node bench/hosts/simulate.ts [--perDay 1000000] [--peak 3] [--modelSeconds 4] [--workerMs 1.6] [--databaseMs 0.9]
// [--cores 8]
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    perDay: { type: 'string', default: '1000000' },
    /** Arrivals of the busiest hour, relative to an average hour. */
    peak: { type: 'string', default: '3' },
    /** Median time of a step: the model's answer and its tools. */
    modelSeconds: { type: 'string', default: '4' },
    /** Time of a worker's processor for a step. */
    workerMs: { type: 'string', default: '1.6' },
    /** Time of one database core for a step, in all its statements. */
    databaseMs: { type: 'string', default: '0.9' },
    /** Number of database cores. */
    cores: { type: 'string', default: '8' },
    steps: { type: 'string', default: '10' },
    places: { type: 'string', default: '50' },
    walBytes: { type: 'string', default: '7400' },
    storedBytes: { type: 'string', default: '3000' },
    statements: { type: 'string', default: '7' },
  },
})
/** Spread of the time of a step: one in twenty takes more than five times the median. */
const SIGMA = 1
const number = (name: keyof typeof values): number => Number(values[name])
const steps = number('steps')
const arrivals = (number('perDay') / 86_400) * number('peak')
const stepRate = arrivals * steps

/** A queue of times, the smallest first. */
class Heap {
  readonly #items: number[] = []

  push(value: number): void {
    const items = this.#items
    let i = items.push(value) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if ((items[parent] as number) <= value) break
      items[i] = items[parent] as number
      i = parent
    }
    items[i] = value
  }

  pop(): number {
    const items = this.#items
    const first = items[0] ?? 0
    const last = items.pop() as number
    if (items.length === 0) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= items.length) break
      if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number))
        child++
      if ((items[child] as number) >= last) break
      items[i] = items[child] as number
      i = child
    }
    items[i] = last
    return first
  }
}

/** Numbers from 0 to 1, always the same (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

console.log(`A million conversations a day, in the busiest hour: ${arrivals.toFixed(0)} conversations and ${stepRate.toFixed(0)} steps a second
  database: ${(stepRate * number('statements')).toFixed(0)} statements/s, ${((stepRate * number('walBytes')) / 1e6).toFixed(1)} MB/s of WAL, ${((stepRate * number('databaseMs')) / 1000).toFixed(2)} cores busy of ${values.cores}
  a day: ${((number('perDay') * steps * number('storedBytes')) / 1e9).toFixed(0)} GB of records and their indexes, before anything is removed`)
console.log(
  '\nworkers of 50 places  places busy  waits for a place p50 / p99  worker cores busy  a step of the database p99',
)
const needed = Math.ceil((arrivals * meanRun()) / number('places'))
for (const share of [0.9, 1, 1.05, 1.1, 1.25, 1.5]) simulate(Math.round(needed * share))

/** The time of a step in seconds. Its logarithm is normally distributed. */
function meanRun(): number {
  return steps * number('modelSeconds') * Math.exp(SIGMA ** 2 / 2)
}

/** Simulates an hour. Conversations wait for places of workers, and steps wait for database cores. */
function simulate(workers: number): void {
  const random = seeded(7)
  const places = workers * number('places')
  const free = new Heap()
  for (let i = 0; i < places; i++) free.push(0)
  const cores = new Heap()
  for (let i = 0; i < number('cores'); i++) cores.push(0)
  const waits: number[] = []
  const writes: { at: number }[] = []
  let busy = 0
  const hour = 3600
  for (let at = 0; at < hour; at += -Math.log(1 - random()) / arrivals) {
    const begins = Math.max(at, free.pop())
    let now = begins
    for (let step = 0; step < steps; step++) {
      now += number('modelSeconds') * Math.exp(SIGMA * normal(random))
      writes.push({ at: now })
    }
    busy += now - begins
    free.push(now)
    if (at > hour / 6) waits.push(begins - at)
  }
  const latencies: number[] = []
  const service = number('databaseMs') / 1000
  for (const { at } of writes.toSorted((a, b) => a.at - b.at)) {
    const begins = Math.max(at, cores.pop())
    const ends = begins + service * -Math.log(1 - random())
    cores.push(ends)
    latencies.push(ends - at)
  }
  const cells = [
    `${workers}`.padEnd(21),
    `${((busy / (places * hour)) * 100).toFixed(0)} %`.padStart(11),
    `${seconds(quantile(waits, 0.5))} / ${seconds(quantile(waits, 0.99))}`.padStart(28),
    ((stepRate * number('workerMs')) / 1000).toFixed(2).padStart(18),
    `${(quantile(latencies, 0.99) * 1000).toFixed(1)} ms`.padStart(31),
  ]
  console.log(cells.join(' '))
}

function seconds(value: number): string {
  return value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(1)} s`
}

function quantile(list: readonly number[], share: number): number {
  const sorted = list.toSorted((a, b) => a - b)
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}
