// The cost of a step, byref beside peers: an instant model that calls one tool per answer, then says "done".
// node bench/agent/steps.ts [--quick] [--only byref,ai] [--steps 10,1000] [--seconds 240]
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printMachine } from '../content/measure.ts'
import { contestants, type Entry } from './contestants/contestants.ts'
import type { DurableFacts } from './durable-facts.ts'
import { inChild } from './in-child.ts'
import type { Timing } from './time-contestant.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    steps: { type: 'string' },
    seconds: { type: 'string' },
  },
})
const steps = (options.steps ?? (options.quick ? '10,1000' : '10,100,1000')).split(',').map(Number)
const seconds = Number(options.seconds ?? (options.quick ? 60 : 240))
/** Seconds for a turn, tripled from 1,000 steps on, and maximum seconds for a run. */
const [turnSeconds, mostSeconds] = options.quick ? [0.8, 4] : [1.5, 6]

const chosen = Object.entries(contestants).filter(([name]) =>
  options.only.split(',').some((start) => name.startsWith(start)),
)
const most = Math.max(...steps)

printMachine('What a step costs')
console.log(versions(chosen.map(([, entry]) => entry)))

const began = performance.now()
const facts = await allFacts()
const { timings, rounds } = await interleaved()
console.log(
  `
µs of CPU per answer of the model (one more than steps): minimum (median, maximum) of ${rounds} turns, one in each round, in a
process of its own, without its first half, which warms up. × is beside byref, growth from ${steps[0]} to ${most} steps. What takes
seconds has one turn; > is what each answer took in the first ${mostSeconds} s of a run that did not end in them.`,
)
printTable('In memory', false)
printTable('On SQLite', true)
printFacts()

/** What durable contestants write. Peers are measured only with few steps, because only the count matters. */
async function allFacts() {
  const all = new Map<string, { count: number; facts: DurableFacts | null }>()
  for (const [name, { durable }] of chosen) {
    if (!durable) continue
    const count = name.startsWith('byref') ? most : Math.min(most, 100)
    const args = [name, `${count}`]
    all.set(name, { count, facts: await inChild(program('durable-facts.ts'), args, 60) })
  }
  return all
}

/** Runs rounds until the time is up, at least one. */
async function interleaved() {
  const all = new Map<string, Timing>()
  const slow = new Set<string>()
  let done = 0
  for (let last = 0; done === 0 || elapsed() + last < seconds; done++) {
    last = 0
    for (const count of steps) {
      for (const [name] of chosen) {
        const key = `${name} ${count}`
        if (slow.has(key)) continue
        const start = elapsed()
        const length = count < 1000 ? turnSeconds : 3 * turnSeconds
        const timing = await turn(name, count, length)
        const took = elapsed() - start
        if (took > length + 2) slow.add(key)
        else last += took
        const { cpu, wall } = all.get(key) ?? { cpu: [], wall: [] }
        all.set(key, {
          ...timing,
          cpu: [...cpu, ...timing.cpu],
          wall: [...wall, ...timing.wall],
        })
      }
    }
    if (last === 0) break
  }
  return { timings: all, rounds: done }
}

async function turn(name: string, count: number, length: number): Promise<Timing> {
  const args = [name, `${count}`, `${length}`, `${mostSeconds}`]
  const timing = await inChild<Timing>(program('time-contestant.ts'), args, 120)
  if (!timing) throw new Error(`${name} answered nothing for two minutes`)
  return timing
}

function printTable(title: string, durable: boolean): void {
  const rows = chosen.filter(([, entry]) => (entry.durable ?? false) === durable)
  if (rows.length === 0) return
  const heads = steps.map((count) => `${count} steps`.padStart(39)).join('')
  console.log(`\n${title.padEnd(27)}${heads}    growth`)
  for (const [name, entry] of rows) {
    const cells = steps.map((count) => cell(name, count, durable ? 'byref-sqlite' : 'byref'))
    const [first, last] = [least(name, steps[0]), least(name, most)]
    const growth = first && last ? `${mark(name, most)}${(last / first).toFixed(2)}×` : ''
    console.log(`  ${entry.title.padEnd(25)}${cells.join('')}${growth.padStart(10)}`)
  }
}

function cell(name: string, count: number, base: string): string {
  const sorted = (timings.get(`${name} ${count}`)?.cpu ?? []).toSorted((a, b) => a - b)
  const [min = 0, median, max] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
  const spread = sorted.length > 1 ? ` (${format(median)}, ${format(max)})` : ''
  const own = least(base, count)
  const ratio = own ? `× ${(min / own).toFixed(2)}` : ''
  return `${mark(name, count)}${format(min)}${spread}`.padStart(28) + ratio.padStart(11)
}

function printFacts(): void {
  if (facts.size > 0) console.log('\nOne run on SQLite, per answer of the model')
  for (const [name, { count, facts: known }] of facts) {
    const title = `  ${contestants[name]?.title.padEnd(25)} ${`${count}`.padStart(5)} steps`
    if (!known) {
      console.log(`${title}   took over a minute`)
      continue
    }
    const per = (value: number | null) =>
      value === null ? 'unknown' : (value / (count + 1)).toFixed(2)
    const appends = known.appends === null ? '' : `${per(known.appends)} appends, `
    const kilobytes = `${(known.bytes / (count + 1) / 1e3).toFixed(2)} kB`
    const size = `file of ${(known.bytes / 1e6).toFixed(2)} MB`
    const wall = timings.get(`${name} ${count}`)?.wall
    const time = wall ? `, ${format(Math.min(...wall))} µs of time` : ''
    console.log(
      `${title}   ${appends}${per(known.commits)} transactions, ${kilobytes}${time}; ${size}`,
    )
  }
}

function mark(name: string, count: number): string {
  return timings.get(`${name} ${count}`)?.partial ? '> ' : ''
}

function least(name: string, count: number | undefined): number | null {
  const cpu = timings.get(`${name} ${count}`)?.cpu
  return cpu ? Math.min(...cpu) : null
}

function elapsed(): number {
  return (performance.now() - began) / 1000
}

function program(file: string): string {
  return new URL(file, import.meta.url).pathname
}

function versions(entries: readonly Entry[]): string {
  const names = [...new Set(entries.flatMap(({ packages }) => packages))]
  return names.map((name) => `${name} ${versionOf(name)}`).join(', ')
}

function versionOf(name: string): string {
  const path = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')).version
}

function format(value = 0): string {
  return value < 100 ? value.toFixed(1) : value.toFixed(0)
}
