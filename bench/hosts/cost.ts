// The load of a step on the database, with 10, 1,000 and 100,000 conversations of a hundred events each (ten million
// events).
// node bench/hosts/cost.ts [--sizes 10,1000,100000]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { eventSum } from '../../src/log/checksums.ts'
import { startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { printMachine } from '../content/measure.ts'
import { openByref } from './contestants/byref.ts'
import { STEPS } from './contestants/contestant.ts'

const { values } = parseArgs({ options: { sizes: { type: 'string', default: '10,1000,100000' } } })
const EVENTS = 100
/** Number of conversations that are measured at each size. */
const MEASURED = 40

const server = await startPostgres()
const { connectionString } = server
const { agent, log, close } = openByref(connectionString)
const sql = new pg.Client({ connectionString })
await sql.connect()
await sql.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')

printMachine('What a step costs beside many conversations')
let child = await worker()
await run('seed', 1)
console.log(
  'conversations  statements/step  buffers/step  WAL bytes/step  ms in the database/step   list of 50  open one  search   tables  indexes',
)
let made = 1
for (const size of values.sizes.split(',').map(Number)) {
  await stop()
  if (size > made) await generate(made, size)
  made = Math.max(made, size)
  await sql.query('VACUUM ANALYZE')
  await sql.query('CHECKPOINT')
  child = await worker()
  await run(`warm${size}-`, 20)
  await sql.query('CHECKPOINT')
  await sql.query('SELECT pg_stat_statements_reset()')
  const [{ lsn }] = (await sql.query('SELECT pg_current_wal_lsn() AS lsn')).rows
  await run(`of${size}-`, MEASURED)
  const { rows } = await sql.query(
    `SELECT sum(calls)::int AS calls, sum(shared_blks_hit + shared_blks_read)::int AS buffers,
       sum(total_exec_time) AS ms, (pg_current_wal_lsn() - $1::pg_lsn)::bigint::text AS wal
     FROM pg_stat_statements WHERE query NOT ILIKE '%count(*)::int AS n%' AND query NOT ILIKE '%pg_stat%'`,
    [lsn],
  )
  const steps = MEASURED * STEPS
  const { calls, buffers, ms, wal } = rows[0]
  const sizes = await sql.query(
    `SELECT pg_size_pretty(sum(pg_table_size(c.oid))) AS tables, pg_size_pretty(sum(pg_indexes_size(c.oid))) AS indexes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'byref' AND c.relkind = 'r'`,
  )
  const cells = [
    `${made}`.padEnd(14),
    (calls / steps).toFixed(2).padStart(14),
    (buffers / steps).toFixed(0).padStart(14),
    (Number(wal) / steps).toFixed(0).padStart(15),
    (Number(ms) / steps).toFixed(2).padStart(22),
    `${(await timed(() => log.list({ limit: 50 }))).toFixed(1)} ms`.padStart(14),
    `${(await timed(() => log.read('g2', { limit: 500 }))).toFixed(1)} ms`.padStart(10),
    `${(await timed(() => log.list({ search: 'conversation of2' }))).toFixed(0)} ms`.padStart(9),
    `${sizes.rows[0].tables}`.padStart(9),
    `${sizes.rows[0].indexes}`.padStart(8),
  ]
  console.log(cells.join(' '))
}
await stop()
await close()
await sql.end()
await server.remove()

/** Lets the worker run this many conversations. */
async function run(prefix: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await agent.send(`${prefix}${i}`, {
      role: 'user',
      content: `Go on with conversation ${prefix}`,
    })
  }
  const ended = `SELECT count(*)::int AS n FROM byref.conversations
    WHERE id LIKE $1 AND due = 0 AND position > 1`
  while ((await sql.query(ended, [`${prefix}%`])).rows[0].n < count) await sleep(100)
}

/** Copies the first conversation, each with a hundred events and its own time. */
async function generate(from: number, to: number): Promise<void> {
  const key = `(SELECT key FROM byref.conversations WHERE id = 'seed0')`
  await sql.query(`CREATE TEMP TABLE IF NOT EXISTS made (key bigint, n integer)`)
  await sql.query('TRUNCATE made')
  await sql.query(
    `WITH added AS (
       INSERT INTO byref.conversations (namespace, id, created, updated, position, state, words)
       SELECT '', 'g' || n, updated - n * 1000, updated - n * 1000, ${EVENTS}, state, words || n
       FROM byref.conversations, generate_series($1::int, $2::int) AS n WHERE id = 'seed0'
       RETURNING key, id
     ) INSERT INTO made SELECT key, substr(id, 2)::int FROM added`,
    [from, to - 1],
  )
  await makeSeeds(key)
  const BATCH = 2000
  for (let n = from; n < to; n += BATCH) {
    await sql.query(
      `INSERT INTO byref.records (conversation, position, at, event, sum, message, words)
       SELECT made.key, r.position, r.at, r.event, r.sum, r.message, r.words
       FROM made, seeds r WHERE made.n >= $1 AND made.n < $2`,
      [n, n + BATCH],
    )
  }
}

/** The records of one generated conversation: those of a real one, repeated. */
async function makeSeeds(key: string): Promise<void> {
  const { rows } = await sql.query(
    `SELECT at::float8, event, message, words FROM byref.records WHERE conversation = ${key} ORDER BY position`,
  )
  const all = Array.from({ length: EVENTS }, (_, i) => ({
    ...rows[i % rows.length],
    position: i + 1,
  }))
  await sql.query(`DROP TABLE IF EXISTS seeds; CREATE TEMP TABLE seeds
    (position integer, at bigint, event text, sum bigint, message text, words text)`)
  await sql.query(
    'INSERT INTO seeds SELECT * FROM unnest($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[])',
    [
      all.map(({ position }) => position),
      all.map(({ at }) => at),
      all.map(({ event }) => event),
      all.map(({ position, event, at }) => eventSum(position, event) + at),
      all.map(({ message }, i) => (i < rows.length ? message : null)),
      all.map(({ words }) => words),
    ],
  )
}

async function worker(): Promise<ChildProcess> {
  const made = fork(join(import.meta.dirname, 'worker-child.ts'), ['byref', connectionString, '10'])
  await once(made, 'message')
  return made
}

async function stop(): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

/** The median of five runs. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)[2] as number
}
