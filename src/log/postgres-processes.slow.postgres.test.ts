import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { startPostgres } from '../postgres/fixtures/start-postgres.ts'
import { watchedPool } from '../postgres/fixtures/watched-pool.ts'
import { type ConversationLog, type LogChange, readAll } from './conversation-log.ts'
import { claimed } from './fixtures/claimed.ts'
import { createPostgresLog } from './postgres-log.ts'

const runOf = ({ event }: { event: unknown }): string => (event as { runId: string }).runId

function hear(log: ConversationLog): LogChange[] {
  const told: LogChange[] = []
  log.subscribe((change) => told.push(change))
  return told
}

/** The announced positions of a conversation, in order. */
function positions(told: readonly LogChange[], conversation = 'c'): number[] {
  return told
    .filter((change) => change.conversation === conversation)
    .flatMap(({ records }) => records.map(({ position }) => position))
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

describe('createPostgresLog, with other processes', () => {
  it('creates its tables once and loses nothing, with any number of concurrent starts', async () => {
    const { connectionString, schema } = newSchema()
    const script = fileURLToPath(new URL('./fixtures/append-to-postgres.ts', import.meta.url))
    const names = ['a', 'b', 'c', 'd']
    const ended = names.map(async (name) => {
      const options = [script, connectionString, schema, name, '20']
      const child = spawn(process.execPath, options, { stdio: ['ignore', 'ignore', 'inherit'] })
      return (await once(child, 'exit'))[0]
    })
    expect(await Promise.all(ended)).toEqual(names.map(() => 0))
    const log = createPostgresLog({ connectionString, schema })
    const records = await log.read('c')
    expect(records.map(({ position }) => position)).toEqual(upTo(84))
    for (const name of names) {
      const own = records.filter(({ event }) => 'owner' in event && event.owner === name)
      expect(own.map(runOf)).toEqual([...upTo(20).map((n) => `${n - 1}`), 'end'])
    }
    await log.close()
  })

  it('continues notifying when its connection is cut, without repeats and in order', async () => {
    const place = newSchema()
    const [log, other] = [createPostgresLog(place), createPostgresLog(place)]
    const told = hear(log)
    await log.find('c')
    const admin = new pg.Client(place)
    await admin.connect()
    let cut = 0
    for (let n = 0; n < 40; n++) {
      await other.append('c', [claimed(n)])
      if (n % 8 !== 4) continue
      const { rowCount } = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE $1`,
        [`LISTEN "byref_${place.schema}_s"%`],
      )
      cut += rowCount ?? 0
    }
    await expect.poll(() => positions(told).length).toBeGreaterThanOrEqual(40)
    await other.append('c', [claimed('last')])
    await expect.poll(() => positions(told).length).toBeGreaterThanOrEqual(41)
    expect(positions(told)).toEqual(upTo(41))
    expect(cut).toBeGreaterThan(0)
    await admin.end()
    await Promise.all([log.close(), other.close()])
  })

  it('finds changes without a notification: appends, titles, deletions, imports', async () => {
    const place = newSchema()
    const mute = watchedPool(place.connectionString)
    const log = createPostgresLog(place)
    const other = createPostgresLog({ pool: mute.pool, schema: place.schema })
    await other.append(
      'long',
      Array.from({ length: 300 }, (_, n) => claimed(n)),
    )
    await other.append('known', [claimed(0)])
    const lines = []
    for await (const line of other.export('known')) lines.push(line)
    const told = hear(log)
    await log.append('known', [claimed(1)])
    mute.lose = /pg_notify/
    await other.append('long', [claimed(300)])
    await other.append('known', [claimed(2), claimed(3)])
    await other.create('made')
    await other.import(lines, { id: 'imported' })
    await other.rename('known', 'Title')
    await other.append('gone', [claimed(0)])
    await other.delete('gone')
    const of = (id: string) => told.filter(({ conversation }) => conversation === id)
    await expect.poll(() => of('gone').at(-1)?.deleted).toBe(true)
    await expect.poll(() => of('imported').length).toBe(1)
    await expect.poll(() => of('made').length).toBe(1)
    // The long record was announced late or not at all, and old records were never announced again.
    await expect.poll(() => positions(told, 'long')).toEqual([301])
    await expect.poll(() => positions(told, 'known')).toEqual([2, 3, 4])
    expect(of('imported')[0]?.records).toEqual([])
    await other.append('imported', [claimed(9)])
    await expect.poll(() => positions(told, 'imported')).toEqual([2])
    await Promise.all([log.close(), other.close()])
    await mute.pool.end()
  })

  it('reports that an id belonged to another conversation before', async () => {
    const place = newSchema()
    const [log, other] = [createPostgresLog(place), createPostgresLog(place)]
    await other.append('c', [claimed(0)])
    const told = hear(log)
    await log.find('c')
    await other.delete('c')
    await other.append('c', [claimed(1)])
    await expect.poll(() => positions(told)).toEqual([1])
    expect(told.map(({ deleted, records }) => deleted ?? records.length)).toEqual([true, 1])
    await Promise.all([log.close(), other.close()])
  })

  it('keeps acknowledged appends when the server crashes, and continues when it is back', async () => {
    const server = await startPostgres()
    const { connectionString } = server
    const [log, reader] = [
      createPostgresLog({ connectionString }),
      createPostgresLog({ connectionString }),
    ]
    const told = hear(reader)
    await reader.find('c')
    const resolved: string[] = []
    let rejected = 0
    async function write(stops: () => boolean): Promise<void> {
      for (let n = 0; !stops(); n++) {
        const run = `${resolved.length + rejected}.${n}`
        try {
          await log.append('c', [claimed(run)])
          resolved.push(run)
        } catch (error) {
          expect(error).toMatchObject({ code: 'log_failed' })
          rejected++
          await sleep(5)
        }
      }
    }
    for (const crash of [server.kill, server.stop]) {
      const goal = resolved.length + 20
      let isBack = false
      const writing = write(() => isBack && resolved.length > goal + 20)
      await expect.poll(() => resolved.length).toBeGreaterThan(goal)
      const before = rejected
      await crash()
      await expect.poll(() => rejected).toBeGreaterThan(before)
      await server.start()
      isBack = true
      await writing
    }
    const records = []
    for await (const record of readAll(log, 'c')) records.push(record)
    expect(records.map(({ position }) => position)).toEqual(upTo(records.length))
    const runs = records.map(runOf)
    expect(new Set(runs).size).toBe(runs.length)
    expect(runs).toEqual(expect.arrayContaining(resolved))
    expect(runs.length).toBeLessThanOrEqual(resolved.length + rejected)
    // After an append without a notification, `after` announces.
    await expect(log.append('c', [claimed('x')], { after: 0 })).rejects.toMatchObject({
      code: 'log_conflict',
    })
    await expect.poll(() => positions(told).length).toBeGreaterThanOrEqual(records.length)
    expect(positions(told)).toEqual(upTo(records.length))
    await Promise.all([log.close(), reader.close()])
    await server.remove()
  })
})
