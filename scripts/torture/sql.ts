// node --conditions=byref-source scripts/torture/sql.ts [at once=4] [timeout in s=5]: runs 100 SQL statements that
// try to take memory, time, disk, files, settings and the network, on its own server. Prints the result of each, the
// additional memory of the whole process tree, and the longest delay of the server. Linux only.
import { setTimeout as sleep } from 'node:timers/promises'
import { treeMemory } from '../../src/assets/fixtures/tree-memory.ts'
import { REACH_OUT, TAKE_MEMORY, TAKE_TIME } from '../../src/assets/tables/fixtures/hostile-sql.ts'
import { serve, temporaryFolder } from '../../test/e2e/byref-process.ts'

const [atOnce = 4, seconds = 5] = process.argv.slice(2).map(Number)
const MB = 1_000_000

const data = temporaryFolder()
const server = await serve(data.path)
const pid = server.process.pid as number
const left = [...TAKE_MEMORY, ...TAKE_TIME, ...REACH_OUT].reverse()
const count = left.length
const csv = 'a,b\n1,x\n2,y\n'
await fetch(`${server.url}/api/assets?name=x.csv`, { method: 'POST', body: csv })
await ask('select 1')
await sleep(500)

const idle = treeMemory(pid)
const waits: number[] = []
let [most, isOver] = [0, false]
const watch = setInterval(() => {
  most = Math.max(most, treeMemory(pid) - idle)
}, 20)
const others = (async () => {
  while (!isOver) {
    const start = performance.now()
    await (await fetch(`${server.url}/api/conversations`)).arrayBuffer()
    waits.push(performance.now() - start)
    await sleep(20)
  }
})()

async function ask(sql: string): Promise<string> {
  const answer = await fetch(`${server.url}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
    signal: AbortSignal.timeout(seconds * 1_000),
  })
  const { error } = (await answer.json()) as { error?: { code: string; message: string } }
  return error ? `${error.code}: ${error.message.split('\n', 1)[0]?.slice(0, 120)}` : 'done'
}

const results = new Map<string, number>()
async function take(): Promise<void> {
  for (let sql = left.pop(); sql !== undefined; sql = left.pop()) {
    const start = performance.now()
    const result = await ask(sql).catch((error: Error) => error.name)
    const [kind = ''] = result.split(':', 1)
    results.set(kind, (results.get(kind) ?? 0) + 1)
    const ms = (performance.now() - start).toFixed(0)
    console.log(`${ms.padStart(6)} ms  ${sql.slice(0, 70).padEnd(70)}  ${result}`)
  }
}
await Promise.all(Array.from({ length: atOnce }, take))
isOver = true
await others
clearInterval(watch)
waits.sort((a, b) => a - b)
const at = (part: number): string => (waits[Math.floor((waits.length - 1) * part)] ?? 0).toFixed(0)
console.log(`\n${count} statements, ${atOnce} at once:`, Object.fromEntries(results))
console.log(
  `memory of the tree: ${(idle / MB).toFixed(0)} MB idle, at most ${(most / MB).toFixed(0)} MB more`,
)
console.log(
  `others waited ${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ${at(1)} ms (most) in ${waits.length} requests`,
)
await server.stop()
data.remove()
