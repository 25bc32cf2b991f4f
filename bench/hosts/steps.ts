// Steps per second of 1, 2 and 4 worker processes on this machine, beside DBOS and a plain queue; and the load of a
// step on the database.
// node bench/hosts/steps.ts [--conversations 300] [--rounds 3] [--workers 1,2,4] [--only byref,dbos]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { printMachine } from '../content/measure.ts'
import { contestants } from './contestants/all.ts'
import { type Contestant, STEPS } from './contestants/contestant.ts'

const { values: options } = parseArgs({
  options: {
    conversations: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '3' },
    workers: { type: 'string', default: '1,2,4' },
    only: { type: 'string', default: Object.keys(contestants).join(',') },
  },
})
const conversations = Number(options.conversations)
const workers = options.workers.split(',').map(Number)
const names = options.only.split(',')
/** Concurrent conversations of one process. */
const CONCURRENCY = 25

interface Turn {
  stepsPerSecond: number
  statements: number
  walBytes: number
}

printMachine('Steps per second over PostgreSQL')
const turns = new Map<string, Turn[]>()
for (let round = 0; round < Number(options.rounds); round++) {
  for (const count of workers) {
    for (const name of names) {
      const key = `${name} ${count}`
      turns.set(key, [...(turns.get(key) ?? []), await turn(name, count)])
    }
  }
}

console.log(
  `${conversations} conversations of ${STEPS} steps, accepted before; instant models; ${CONCURRENCY} at once in each process; fsync on, fresh tables in each turn`,
)
console.log(
  '\nprocesses  contestant              steps/s (spread)      ×      statements/step  WAL bytes/step',
)
for (const count of workers) {
  const base = median((turns.get(`byref ${count}`) ?? []).map((one) => one.stepsPerSecond))
  for (const name of names) {
    const its = turns.get(`${name} ${count}`) ?? []
    const rates = its.map(({ stepsPerSecond }) => stepsPerSecond)
    const rate = median(rates)
    const spread = `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`
    const cells = [
      `${count}`.padEnd(10),
      (contestants[name] as Contestant).name.padEnd(22),
      `${rate.toFixed(0)} (${spread})`.padEnd(20),
      base ? (rate / base).toFixed(2).padStart(5) : '     ',
      median(its.map((one) => one.statements))
        .toFixed(2)
        .padStart(16),
      median(its.map((one) => one.walBytes))
        .toFixed(0)
        .padStart(15),
    ]
    console.log(cells.join(' '))
  }
}

async function turn(name: string, count: number): Promise<Turn> {
  const contestant = contestants[name] as Contestant
  const server = await startPostgres()
  const { connectionString } = server
  const sql = new pg.Client({ connectionString })
  await sql.connect()
  await sql.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  await contestant.enqueue(connectionString, 0)
  const children = Array.from({ length: count }, () => begin(name, connectionString))
  try {
    await Promise.all(children.map((child) => once(child, 'message')))
    await sleep(500)
    for (const child of children) child.kill('SIGSTOP')
    await contestant.enqueue(connectionString, conversations)
    await sql.query('SELECT pg_stat_statements_reset()')
    const [{ lsn }] = (await sql.query('SELECT pg_current_wal_lsn() AS lsn')).rows
    const began = performance.now()
    for (const child of children) child.kill('SIGCONT')
    while ((await sql.query(contestant.ended)).rows[0].n < conversations) await sleep(50)
    const seconds = (performance.now() - began) / 1000
    const steps = conversations * STEPS
    const { rows } = await sql.query(
      `SELECT sum(calls)::int AS calls, (pg_current_wal_lsn() - $1::pg_lsn)::bigint::text AS wal
       FROM pg_stat_statements WHERE query NOT ILIKE '%count(*)::int AS n%'`,
      [lsn],
    )
    return {
      stepsPerSecond: steps / seconds,
      statements: rows[0].calls / steps,
      walBytes: Number(rows[0].wal) / steps,
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await sql.end()
    await server.remove()
  }
}

function begin(name: string, connectionString: string): ChildProcess {
  const args = [name, connectionString, `${CONCURRENCY}`]
  return fork(join(import.meta.dirname, 'worker-child.ts'), args)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
