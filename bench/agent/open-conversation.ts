// The cost of one more run with one answer in an open conversation, short and long: node
// bench/agent/open-conversation.ts
import { printMachine } from '../content/measure.ts'
import { inChild } from './in-child.ts'

const ROUNDS = 3
const SECONDS = 4
const LENGTHS = [10, 10_000]
const program = new URL('time-open-conversation.ts', import.meta.url).pathname

printMachine('One more run in an open conversation (goal: 10,000 messages within 2× of 10)')
console.log(`µs of CPU per run: minimum (median, maximum) over ${ROUNDS} rounds\n`)

const all = new Map<string, number[]>()
for (let round = 0; round < ROUNDS; round++) {
  for (const log of ['memory', 'sqlite']) {
    for (const length of LENGTHS) {
      const key = `${log} ${length}`
      const cpu = await inChild<number[]>(program, [log, `${length}`, `${SECONDS}`], 120)
      all.set(key, [...(all.get(key) ?? []), ...(cpu ?? [])])
    }
  }
}

for (const log of ['memory', 'sqlite']) {
  const base = Math.min(...(all.get(`${log} ${LENGTHS[0]}`) ?? []))
  for (const length of LENGTHS) {
    const sorted = (all.get(`${log} ${length}`) ?? []).toSorted((a, b) => a - b)
    const [min = 0, median = 0, max = 0] = [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
    const times = `${min.toFixed(0)} (${median.toFixed(0)}, ${max.toFixed(0)})`
    const name = `${log}, ${length} messages`
    console.log(`  ${name.padEnd(26)}${times.padStart(28)}   × ${(min / base).toFixed(2)}`)
  }
}
