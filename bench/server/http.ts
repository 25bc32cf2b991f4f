// Downloads and JSON beside Hono's own static files and a plain route with the same bytes, by CPU time of the server.
// Run: node bench/server/http.ts
import { get } from 'node:http'
import { printMachine } from '../assets/measure.ts'
import { type Child, startServer } from './child.ts'

const ROUNDS = 7

/** Warm-up rounds, because compilation is not part of the cost of a request. */
const WARM_UP = 3

printMachine()
const bare = await startServer('bare')
for (const conversations of [10, 10_000]) {
  const byref = await startServer('byref', conversations)
  const text = await (await fetch(byref.json)).text()
  await fetch(bare.json, { method: 'POST', body: text })
  console.log(
    `\n${conversations} conversations; medians of ${ROUNDS} rounds by turns, CPU time of the server`,
  )
  await compare('100 MB download', 'large', { count: 5, byref, bare })
  await compare('10 kB download', 'small', { count: 1000, byref, bare })
  await compare(`JSON, ${text.length} bytes`, 'json', { count: 2000, byref, bare })
  byref.stop()
}
bare.stop()

interface Pair {
  count: number
  byref: Child
  bare: Child
}

async function compare(
  title: string,
  what: 'large' | 'small' | 'json',
  { count, ...servers }: Pair,
) {
  const times: Record<'bare' | 'byref', number[]> = { bare: [], byref: [] }
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const name of ['bare', 'byref'] as const) {
      const before = await servers[name].usage()
      for (let n = 0; n < count; n += 10) {
        await Promise.all(
          Array.from({ length: Math.min(10, count - n) }, () => drain(servers[name][what])),
        )
      }
      const after = await servers[name].usage()
      if (round >= 0) times[name].push((after.cpuMs - before.cpuMs) / count)
    }
  }
  const [base, ours] = [median(times.bare), median(times.byref)]
  const spread = (all: number[]) => `${Math.min(...all).toFixed(3)}–${Math.max(...all).toFixed(3)}`
  console.log(
    `  ${title.padEnd(24)} bare ${base.toFixed(3)} ms (${spread(times.bare)})   byref ${ours.toFixed(3)} ms (${spread(times.byref)})   ${(ours / base).toFixed(2)}×`,
  )
}

function drain(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, (answer) => {
      answer.on('end', resolve).on('error', reject)
      answer.resume()
    }).on('error', reject)
  })
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
