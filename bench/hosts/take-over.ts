// How long a run pauses when its worker is killed, with a lease of ten seconds; and how long a message waits for its
// first step.
// node bench/hosts/take-over.ts [--kills 8]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { printMachine } from '../content/measure.ts'
import { openByref } from './contestants/byref.ts'

const { values } = parseArgs({ options: { kills: { type: 'string', default: '8' } } })
const server = await startPostgres()
const { connectionString } = server
const { agent, log, close } = openByref(connectionString)

function worker(): ChildProcess {
  const args = ['byref', connectionString, '25']
  return fork(join(import.meta.dirname, 'worker-child.ts'), args, {
    env: { ...process.env, BENCH_STEP_MS: '200' },
  })
}

const workers = new Map<number, ChildProcess>()
async function add(): Promise<void> {
  const child = worker()
  await once(child, 'message')
  workers.set(child.pid as number, child)
}
await Promise.all([add(), add()])

printMachine('Taking over')
const firstSteps: number[] = []
const takeOvers: number[] = []
for (let i = 0; i < Number(values.kills); i++) {
  const id = `c${i}`
  const said = performance.now()
  await agent.send(id, { role: 'user', content: 'Go on' })
  const owner = await ownerOf(id)
  firstSteps.push(performance.now() - said)
  await sleep(300 + Math.random() * 700)
  // host:pid:id
  const pid = Number(owner.split(':')[1])
  workers.get(pid)?.kill('SIGKILL')
  workers.delete(pid)
  const killed = performance.now()
  while ((await ownerOf(id)) === owner) await sleep(20)
  takeOvers.push(performance.now() - killed)
  await add()
}
print('from a message to who runs it', firstSteps, 'ms', 1)
print('from a kill to who goes on', takeOvers, 's', 1000)
for (const child of workers.values()) child.kill('SIGKILL')
await close()
await server.remove()

async function ownerOf(id: string): Promise<string> {
  for (;;) {
    const summary = await log.find(id)
    if (summary?.lease) return summary.lease.owner
    await sleep(2)
  }
}

function print(what: string, times: readonly number[], unit: string, divisor: number): void {
  const sorted = times.toSorted((a, b) => a - b).map((time) => (time / divisor).toFixed(1))
  const median = sorted[Math.floor(sorted.length / 2)]
  console.log(
    `  ${what.padEnd(32)} ${median} ${unit} (${sorted[0]}–${sorted.at(-1)}), ${times.length} times`,
  )
}
