// The waiting time of a single conversation of one tenant beside another tenant with ten thousand waiting ones; and
// of a conversation of a tenant whose worker took six jobs and died before it claimed them.
// node bench/hosts/fairness.ts [--waiting 10000] [--times 10]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Agent } from '../../src/agent/agent-contract.ts'
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
const { agent, queue, close } = openByref(connectionString)

printMachine('A tenant with one conversation beside one with many')
// Otherwise, the first worker would fill the queue from the log.
await queue.markWhole()
const waits: number[] = []
for (let i = 0; i < Number(values.times); i++) {
  const tenant = agent.scoped(`dropped${i}`)
  for (let n = 0; n < 6; n++) await tenant.send(`d${n}`, { role: 'user', content: 'Go on' })
  const taken = await queue.take({ agents: [null], limit: 6, without: [] })
  const child = await worker(8)
  waits.push(await waitOf(tenant, 'next'))
  child.kill('SIGKILL')
  // The next worker must not have more to do than the first.
  await queue.done(taken)
  for (const id of ['next', ...taken.map((job) => job.conversation)]) await tenant.log.delete(id)
}
print(
  'the seventh of a namespace of which six were taken and dropped, one worker of 8 places',
  waits,
)

let next = 0
const many = agent.scoped('many')
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (next < waiting) await many.send(`m${next++}`, { role: 'user', content: 'Go on' })
  }),
)
const child = await worker(50)
await sleep(3000)

const one = agent.scoped('one')
waits.length = 0
for (let i = 0; i < Number(values.times); i++) {
  waits.push(await waitOf(one, `s${i}`))
  await sleep(500)
}
const left = (await many.log.list({ due: true, limit: 1000 })).conversations.length
const backlog = left === 1000 ? '1,000 or more' : left
print(
  `the only one beside ${waiting} of another namespace, ${backlog} of them left, one worker of 50`,
  waits,
)
child.kill('SIGKILL')
await close()
await server.remove()

/** A worker whose runs of ten steps take ten seconds. */
async function worker(places: number): Promise<ChildProcess> {
  const args = ['byref', connectionString, `${places}`]
  const child = fork(join(import.meta.dirname, 'worker-child.ts'), args, {
    env: { ...process.env, BENCH_STEP_MS: '1000' },
  })
  await once(child, 'message')
  return child
}

/** The time from a message to the start of its run, in milliseconds. */
async function waitOf(tenant: Agent, id: string): Promise<number> {
  const said = performance.now()
  await tenant.send(id, { role: 'user', content: 'Go on' })
  while (!(await tenant.log.find(id))?.lease) await sleep(5)
  return performance.now() - said
}

function print(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b).map((time) => time.toFixed(0))
  const median = sorted[Math.floor(sorted.length / 2)]
  console.log(`  ${what}:\n    ${median} ms (${sorted[0]}–${sorted.at(-1)}), ${times.length} times`)
}
