import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { torture } from '../../scripts/torture/hosts/fleet.ts'
import {
  type FleetWorldOptions,
  openFleetWorld,
  STEPS,
} from '../../scripts/torture/hosts/fleet-world.ts'
import { createClient } from '../../src/client/create-client.ts'
import { type PostgresServer, startPostgres } from '../../src/postgres/fixtures/start-postgres.ts'
import { byref, serve, start, temporaryFolder } from './byref-process.ts'

// Short; the long run is `node scripts/torture/hosts/fleet.ts`.

const folder = temporaryFolder()
let database: PostgresServer

beforeAll(async () => {
  database = await startPostgres()
})
afterAll(async () => {
  await database.remove()
  folder.remove()
})

let databases = 0

/** A new schema that nobody else uses, not even an earlier attempt. */
async function newDatabase(): Promise<string> {
  const name = `own_${databases++}`
  const client = new pg.Client(database)
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return Object.assign(new URL(database.connectionString), { pathname: `/${name}` }).href
}

const newFolder = (): string => mkdtempSync(join(folder.path, 'own-'))

/** Kills what a failed test has left running. */
function killedInTheEnd<T extends { process: ChildProcess }>(one: T): T {
  onTestFinished(() => void one.process.kill('SIGKILL'))
  return one
}

/** The messages of a process. */
function messages(child: ChildProcess): string[] {
  const said: string[] = []
  child.on('message', (message) => said.push(String(message)))
  return said
}

function fleetWorker(world: FleetWorldOptions): ChildProcess {
  const file = fileURLToPath(new URL('../../scripts/torture/hosts/fleet-child.ts', import.meta.url))
  return killedInTheEnd({ process: fork(file, ['worker', JSON.stringify(world)]) }).process
}

describe('byref serve and byref work on one database', () => {
  it('run what any server accepts, and continue when a worker is killed', async () => {
    const data = newFolder()
    const env = {
      BYREF_DATABASE: await newDatabase(),
      BYREF_SECRET: 'a secret of all of them',
    }
    const args = ['--concurrency', '0']
    const servers = await Promise.all(
      [1, 2].map(async () => killedInTheEnd(await serve(data, env, { args }))),
    )
    const workers = [1, 2].map(() => killedInTheEnd(start(['work', '--data', data], env)))
    expect(servers[0]?.greeting).toMatch(/^work +left to byref work$/m)
    expect(servers[0]?.greeting).not.toMatch(/^model/m)
    const [one, other] = servers.map(({ url }) => createClient({ baseUrl: url }))
    if (!one || !other) throw new Error('Two servers were started')

    const { id } = await one.createConversation()
    await one.send(id, { content: 'Hello' })
    await expect
      .poll(() => other.conversationSummary(id), { timeout: 60_000 })
      .toMatchObject({ status: 'idle', messages: 2 })

    workers[0]?.process.kill('SIGKILL')
    await other.send(id, { content: 'And now?' })
    await expect
      .poll(async () => (await one.conversationSummary(id))?.messages, { timeout: 60_000 })
      .toBe(4)

    workers[1]?.process.kill('SIGTERM')
    expect(await workers[1]?.ended).toMatchObject({ code: 0, stderr: '' })
    for (const server of servers) expect(await server.stop()).toBe(0)
  })
})

describe('byref run on a database', () => {
  it('answers without a worker', async () => {
    const env = { BYREF_DATABASE: await newDatabase() }
    const { code, stdout, stderr } = await byref(['run', 'Hello', '--data', newFolder()], env)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout.length).toBeGreaterThan(10)
  })
})

describe('a fleet that is killed again and again', () => {
  it('ends every conversation once, and repeats nothing', async () => {
    const report = await torture({
      seconds: 12,
      conversations: 40,
      killEveryMs: 900,
      workers: 2,
      servers: 1,
      bodies: 'folder',
    })
    expect(report.kills).toBeGreaterThan(5)
    expect(report.databaseKills).toBeGreaterThan(0)
    expect(report.effects).toBeGreaterThanOrEqual(40 * STEPS - report.interrupted)
  })
})

describe('a fleet whose database restarts, crashes, cuts connections and freezes', () => {
  it('loses no process, ends every conversation once, and repeats nothing', async () => {
    const report = await torture({
      restarts: 4,
      seconds: 0,
      conversations: 20,
      killEveryMs: 0,
      workers: 2,
      servers: 1,
      bodies: 'folder',
    })
    expect(report).toMatchObject({ databaseKills: 4, kills: 0, cuts: 8 })
    expect(report.effects).toBeGreaterThanOrEqual(20 * STEPS - report.interrupted)
  })
})

describe('a worker that is frozen for longer than its lease', () => {
  it('stops when it is resumed, and its calls abort', async () => {
    const world: FleetWorldOptions = {
      connectionString: await newDatabase(),
      folder: newFolder(),
      s3: null,
      // Long enough that the live worker does not lose it on a busy machine.
      callMs: 500,
      leaseMs: 3000,
    }
    const { agent, log, effects, close } = openFleetWorld(world)
    const first = fleetWorker(world)
    const said = messages(first)
    await once(first, 'message')
    await agent.send('frozen', { role: 'user', content: 'do it' })
    await expect.poll(() => effects.all().length).toBeGreaterThan(0)
    first.kill('SIGSTOP')

    const second = fleetWorker(world)
    const claims = async () =>
      (await log.read('frozen')).filter(({ event }) => event.type === 'RUN_CLAIMED').length
    await expect.poll(claims).toBe(1)
    first.kill('SIGCONT')
    await expect.poll(() => said).toContain('aborted')

    const { result } = agent.resume('frozen')
    expect(await result).toMatchObject({ reason: 'done' })
    const results = (await log.read('frozen')).flatMap(({ event }) =>
      event.type === 'NEW_MESSAGE' ? (event.payload.metadata.tool_result?.tool_call_id ?? []) : [],
    )
    expect(new Set(results).size).toBe(results.length)
    expect(results).toHaveLength(STEPS)
    expect(await claims()).toBe(1)
    for (const child of [first, second]) child.kill('SIGKILL')
    await close()
  })
})
