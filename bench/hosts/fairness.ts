// How long the only conversation of one tenant waits beside one with ten thousand waiting ones.
// node bench/hosts/fairness.ts [--waiting 10000] [--times 10]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { printMachine } from '../content/measure.ts'
import { openByref } from './contestants/byref.ts'

const { values } = parseArgs({
  options: {
    waiting: { type: 'string', default: '10000' },
    times: { type: 'string', default: '10' },
  },
})
const waiting = Number(values.waiting)
const server = await startPostgres()
const { connectionString } = server
const { agent, close } = openByref(connectionString)

printMachine('A tenant with one conversation beside one with many')
let next = 0
const many = agent.scoped('many')
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (next < waiting) await many.send(`m${next++}`, { role: 'user', content: 'Go on' })
  }),
)
const child: ChildProcess = fork(
  join(import.meta.dirname, 'worker-child.ts'),
  ['byref', connectionString, '50'],
  // A run of ten steps takes ten seconds.
  { env: { ...process.env, BENCH_STEP_MS: '1000' } },
)
await once(child, 'message')
await sleep(3000)

const one = agent.scoped('one')
const waits: number[] = []
for (let i = 0; i < Number(values.times); i++) {
  const said = performance.now()
  await one.send(`s${i}`, { role: 'user', content: 'Go on' })
  while (!(await one.log.find(`s${i}`))?.lease) await sleep(5)
  waits.push(performance.now() - said)
  await sleep(500)
}
const left = (await many.log.list({ due: true, limit: 1000 })).conversations.length
const sorted = waits.toSorted((a, b) => a - b).map((wait) => wait.toFixed(0))
console.log(
  `  ${waiting} waiting in one namespace, ${left === 1000 ? '1,000 or more' : left} still at the end; one worker of 50 places
  from its message until its run begins, the single one: ${sorted[Math.floor(sorted.length / 2)]} ms (${sorted[0]}–${sorted.at(-1)}), ${waits.length} times`,
)
child.kill('SIGKILL')
await close()
await server.remove()
