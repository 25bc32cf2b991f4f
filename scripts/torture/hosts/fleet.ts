// node scripts/torture/hosts/fleet.ts restarts [restarts=100] [conversations=1000]: no process is killed, but PostgreSQL restarts,
// crashes, cuts all connections and stands still, in turn, each time in the middle of as many conversations, and the clock of one
// worker is set back and forth by hours. No process may end, and every conversation must continue within the lease and two seconds.
// node scripts/torture/hosts/fleet.ts [seconds=180] [conversations=200] [killEveryMs=1500]: three workers and two servers on one
// PostgreSQL and one S3 server are killed again and again; PostgreSQL is killed twice and S3 cut while 200 conversations of ten
// steps with effects go on.
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { emptyConversation } from '../../../src/core/events/conversation-state.ts'
import { foldAll } from '../../../src/core/events/fold.ts'
import {
  type PostgresServer,
  startPostgres,
} from '../../../src/postgres/fixtures/start-postgres.ts'
import { startSwift } from '../../../test/swift/start-swift.ts'
import { bodyOf } from '../bodies.ts'
import { allRecords } from '../runs/all-records.ts'
import type { Effect } from '../runs/effects.ts'
import { executionsOf } from '../runs/executions.ts'
import { isIdempotent } from '../runs/tools.ts'
import { type FleetWorldOptions, openFleetWorld, persistently, STEPS } from './fleet-world.ts'
import { type Gate, openGate } from './gate.ts'

/** The faults of a fleet. */
export interface FleetOptions {
  seconds: number
  conversations: number
  killEveryMs: number
  workers?: number
  servers?: number
  /** Where bodies are stored: on a real S3 server, or in a shared folder. */
  bodies?: 's3' | 'folder'
  /** Number of faults of the database only. Then no process may end. */
  restarts?: number
}

/** The results. */
export interface FleetReport {
  conversations: number
  kills: number
  databaseKills: number
  cuts: number
  /**
   * The longest time from the end of a database fault until every open conversation had another record, in
   * milliseconds.
   */
  slowestMs: number
  claims: number
  records: number
  effects: number
  assets: number
  /** Number of calls that were interrupted by a kill. */
  interrupted: number
  /** Time from the last kill until every conversation had ended, in milliseconds. */
  settledMs: number
}

/** Maximum time in which a fleet must finish everything after the last kill, in milliseconds. */
const PATIENCE = 180_000

/** Minimum number of kills, however short the time is. */
const LEAST_KILLS = 6

interface Member {
  role: 'worker' | 'server'
  child: ChildProcess
  url: string | null
}

/**
 * Runs a fleet with faults. At the end, every conversation has ended once, every accepted message exists and was
 * answered, no call had its effect again after it had a result, and every referenced asset is complete.
 */
export async function torture(options: FleetOptions): Promise<FleetReport> {
  const { conversations, workers = 3, servers = 2 } = options
  const folder = await mkdtemp(join(tmpdir(), 'byref-fleet-'))
  const database = await startPostgres()
  const swift = options.bodies === 'folder' ? null : await startSwift()
  const gate = swift ? await openGate(Number(new URL(swift.endpoint).port)) : null
  const { connectionString } = database
  const s3 = swift && gate ? { ...swift, endpoint: `http://127.0.0.1:${gate.port}` } : null
  const world: FleetWorldOptions = {
    connectionString,
    folder,
    s3: s3 && { ...s3, bucket: await bucketIn(s3) },
  }
  const members: Member[] = []
  try {
    // The first one, a worker, has a clock that is set back and forth.
    for (const [i, role] of roles(workers, servers).entries()) {
      members.push(begin(role, world, options.restarts && i === 0 ? JUMPING_CLOCK : []))
    }
    await Promise.all(members.map(({ child }) => once(child, 'message')))
    const until = Date.now() + options.seconds * 1000
    const told = { ...options, members, world, database, gate, until }
    const { accepted, ...done } = await (options.restarts ? harmDatabase(told) : harm(told))
    const begun = Date.now()
    const { log, store, effects, close } = openFleetWorld(world)
    await settled(log)
    const settledMs = Date.now() - begun
    const report = { conversations, ...done, settledMs, ...ZERO }
    for (const [conversation, messageId] of accepted) {
      const own = effects.all().filter((effect) => effect.conversation === conversation)
      await assertSound({ conversation, messageId, log, store, effects: own, report })
    }
    report.effects = effects.all().length
    await close()
    return report
  } finally {
    for (const { child } of members) child.kill('SIGKILL')
    gate?.close()
    await Promise.all([database.remove(), swift?.stop()])
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const ZERO = { claims: 0, records: 0, effects: 0, assets: 0, interrupted: 0 }

const JUMPING_CLOCK = ['--import', new URL('./jumping-clock.ts', import.meta.url).href]

function roles(workers: number, servers: number): Member['role'][] {
  return [
    ...Array.from({ length: workers }, () => 'worker' as const),
    ...Array.from({ length: servers }, () => 'server' as const),
  ]
}

function begin(role: Member['role'], world: FleetWorldOptions, execArgv: string[] = []): Member {
  const args = [role, JSON.stringify(world)]
  const child = fork(join(import.meta.dirname, 'fleet-child.ts'), args, {
    execArgv: [...process.execArgv, ...execArgv],
  })
  const member: Member = { role, child, url: null }
  child.once('message', (message) => {
    if (role === 'server') member.url = String(message)
  })
  return member
}

/** Sends a message in each conversation, to any server that responds, until it is accepted. */
async function accept(
  members: readonly Member[],
  conversations: readonly string[],
): Promise<Map<string, string>> {
  const accepted = new Map<string, string>()
  const left = [...conversations]
  const say = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const message = { id: `message-${id}`, role: 'user', content: 'do it' }
      while (!(await isAccepted(members, id, message))) await sleep(100)
      accepted.set(id, message.id)
    }
  }
  await Promise.all([say(), say(), say(), say()])
  return accepted
}

async function isAccepted(
  members: readonly Member[],
  conversation: string,
  message: { id: string },
): Promise<boolean> {
  const servers = members.filter(({ url }) => url !== null)
  const { url } = servers[Math.floor(Math.random() * servers.length)] ?? {}
  if (!url) return false
  const post = (path: string, body: unknown) =>
    fetch(`${url}/api/conversations${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    })
  try {
    await post('', { id: conversation })
    const { status } = await post(`/${conversation}/messages`, message)
    // 409: a server accepted it, but could not respond any more.
    return status === 202 || status === 409
  } catch {
    return false
  }
}

interface Harm extends FleetOptions {
  members: Member[]
  world: FleetWorldOptions
  database: PostgresServer
  gate: Gate | null
  until: number
}

/** Names of conversations. */
function ids(count: number, prefix = 'c'): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`)
}

/** Kills processes until the time is up and enough was done, and restarts them. */
async function harm({ members, world, database, gate, until, ...options }: Harm) {
  const { conversations, killEveryMs, seconds } = options
  const accepting = accept(members, ids(conversations))
  const done = { kills: 0, databaseKills: 0, cuts: 0, slowestMs: 0 }
  const began = Date.now()
  const isDue = (share: number): boolean => Date.now() - began > share * seconds * 1000
  // On a busy machine, less is done in the time.
  while (Date.now() < until || done.kills < LEAST_KILLS || done.databaseKills === 0) {
    await sleep(killEveryMs * (0.5 + Math.random()))
    const victim = Math.floor(Math.random() * members.length)
    const { role, child } = members[victim] as Member
    child.kill('SIGKILL')
    members[victim] = begin(role, world)
    done.kills++
    if (done.databaseKills < 2 && isDue((done.databaseKills + 1) / 3)) {
      await database.kill()
      await sleep(500)
      await database.start()
      done.databaseKills++
    }
    if (gate && done.cuts < 2 && isDue((done.cuts + 1) / 4)) {
      gate.cut(2000)
      done.cuts++
    }
  }
  return { ...done, accepted: await accepting }
}

/** Restarts, crashes, disconnects and freezes the database in turn, and checks that no process has ended. */
async function harmDatabase({ members, world, database, restarts = 0, conversations }: Harm) {
  const done = { kills: 0, databaseKills: 0, cuts: 0, slowestMs: 0 }
  const accepted = new Map<string, string>()
  const { log, close } = openFleetWorld(world)
  const harms = [
    async () => {
      await database.stop()
      await database.start()
    },
    async () => {
      await database.kill()
      await sleep(200)
      await database.start()
    },
    () => cutAll(database),
    async () => {
      await database.pause()
      await sleep(1000 + Math.random() * 2000)
      await database.resume()
    },
  ]
  for (let n = 0; n < restarts; n++) {
    const accepting = accept(members, ids(Math.ceil(conversations / restarts), `c${n}-`))
    // Every second fault is a restart, so that there are as many as requested.
    for (const harm of [harms[n % 2], harms[2 + (n % 2)]]) {
      await sleep(200 + Math.random() * 400)
      await harm?.()
      done.cuts++
    }
    done.databaseKills++
    done.slowestMs = Math.max(done.slowestMs, await continuedMs(log))
    for (const [id, message] of await accepting) accepted.set(id, message)
    for (const { role, child } of members) {
      assert.equal(child.exitCode ?? child.signalCode, null, `a ${role} has ended`)
    }
  }
  await close()
  return { ...done, accepted }
}

/** Returns the time until every conversation that is open now has another record, in milliseconds. */
async function continuedMs(log: World['log']): Promise<number> {
  const began = performance.now()
  const positions = await positionsOfDue(log)
  for (let still = positions; still.size > 0; ) {
    assert.ok(performance.now() - began < PATIENCE, `stands still: ${[...still.keys()]}`)
    await sleep(50)
    const now = await positionsOfDue(log)
    still = new Map([...still].filter(([id, position]) => now.get(id) === position))
  }
  return Math.round(performance.now() - began)
}

async function positionsOfDue(log: World['log']): Promise<Map<string, number>> {
  const { conversations } = await persistently(() => log.list({ due: true, limit: 1000 }))
  return new Map(conversations.map(({ id, position }) => [id, position]))
}

/** Ends all connections to the database, including its own. */
async function cutAll({ connectionString }: PostgresServer): Promise<void> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  )
  await client.end().catch(() => {})
}

type World = ReturnType<typeof openFleetWorld>

async function settled(log: World['log']): Promise<void> {
  const until = Date.now() + PATIENCE
  for (;;) {
    const { conversations } = await log.list({ due: true, limit: 1000 })
    if (conversations.length === 0) return
    assert.ok(Date.now() < until, `not settled: ${JSON.stringify(conversations.slice(0, 3))}`)
    await sleep(250)
  }
}

interface Found extends Pick<World, 'log' | 'store'> {
  conversation: string
  messageId: string
  effects: readonly Effect[]
  report: FleetReport
}

async function assertSound(found: Found): Promise<void> {
  const { conversation, messageId, log, store, effects, report } = found
  const records = await allRecords(log, conversation)
  const state = foldAll(emptyConversation, records)
  const ends = records.flatMap(({ event }) => {
    if (event.type === 'RUN_ERROR') return `${event.code}: ${event.message}`
    return event.type === 'RUN_FINISHED' ? event.result.reason : []
  })
  assert.deepEqual(ends, ['done'], `${conversation} ends once`)
  assert.equal(state.messages.filter(({ id }) => id === messageId).length, 1, messageId)
  const { calls, executions } = executionsOf(records, effects)
  assert.equal(calls.length, STEPS, `${conversation} made each call once`)
  for (const { id, tool, begun, ended } of executions) {
    assert.ok(ended, `${id} has a result`)
    if (!isIdempotent(tool)) assert.ok(begun.length <= 1, `${id} (${tool}) was begun again`)
    if (ended.error === 'interrupted') report.interrupted++
  }
  for (const { assetId } of state.assets) {
    const { bytes } = await store.get(assetId)
    assert.deepEqual(bytes, bodyOf(7, 500), `${assetId} is whole`)
    report.assets++
  }
  report.records += records.length
  report.claims += records.filter(({ event }) => event.type === 'RUN_CLAIMED').length
}

async function bucketIn(s3: {
  endpoint: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}) {
  const { CreateBucketCommand, S3Client } = await import('@aws-sdk/client-s3')
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  })
  await client.send(new CreateBucketCommand({ Bucket: 'fleet' }))
  client.destroy()
  return 'fleet'
}

if (import.meta.main) {
  if (process.argv[2] === 'restarts') {
    const [restarts = 100, conversations = 1000] = process.argv.slice(3).map(Number)
    const calm = { seconds: 0, killEveryMs: 0, bodies: 'folder' } as const
    console.log(await torture({ ...calm, restarts, conversations }))
  } else {
    const [seconds = 180, conversations = 200, killEveryMs = 1500] = process.argv
      .slice(2)
      .map(Number)
    console.log(await torture({ seconds, conversations, killEveryMs }))
  }
}
