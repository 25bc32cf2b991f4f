import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openGate } from '../../scripts/torture/hosts/gate.ts'
import { createAgent } from '../agent/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { type PostgresServer, startPostgres } from '../postgres/fixtures/start-postgres.ts'
import { chat } from '../testing/conversation-log/events.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createPostgresLog } from './postgres-log.ts'

async function admin(server: PostgresServer, ...statements: string[]): Promise<void> {
  const client = new pg.Client(server.connectionString)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

function portOf({ connectionString }: PostgresServer): number {
  return Number(new URL(connectionString).port)
}

it('nothing is lost when a synchronous standby takes over from a PostgreSQL that was killed', async () => {
  const primary = await startPostgres()
  const standby = await startPostgres(primary)
  const names = `ALTER SYSTEM SET synchronous_standby_names = '*'`
  await admin(primary, names, 'SELECT pg_reload_conf()')
  const gate = await openGate(portOf(primary))
  const address = new URL(primary.connectionString)
  address.port = `${gate.port}`
  const log = createPostgresLog({ connectionString: address.href, schema: 'failover' })
  const done: number[] = []
  const work = defineTool({
    id: 'work',
    description: 'Works',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
    idempotent: true,
    execute: ({ n }) => void done.push(Number(n)),
  })
  const steps = Array.from({ length: 20 }, (_, n) => n)
  const turn: ScriptedTurn = ({ prompt }) => {
    const n = prompt.filter(({ role }) => role === 'tool').length
    return n < steps.length ? { calls: [{ name: 'work', arguments: { n } }] } : 'done'
  }
  const model = scriptedModel(Array.from({ length: 100 }, () => turn))
  const agent = createAgent({ model, tools: [work], log, leaseMs: 1000 })
  const acknowledged: string[] = []
  let isOver = false
  const writing = (async () => {
    for (let n = 0; !isOver; n++) {
      await log.append('beside', [chat(`message ${n}`)]).then(
        () => acknowledged.push(`message ${n}`),
        () => sleep(20),
      )
    }
  })()
  const run = agent.run({ conversation: 'c', messages: [{ role: 'user', content: 'Go' }] })
  run.result.catch(() => {})
  await expect.poll(() => done.length, { interval: 5 }).toBeGreaterThan(5)

  gate.cut(500)
  await primary.kill()
  await admin(standby, 'SELECT pg_promote()')
  gate.leadTo(portOf(standby))
  const before = acknowledged.length
  const finished = async (): Promise<boolean> => {
    await agent.resumeAll().catch(() => {})
    return (await log.find('c').catch(() => null))?.openRun === null
  }
  await expect.poll(finished, { interval: 200, timeout: 60_000 }).toBe(true)
  await expect.poll(() => acknowledged.length).toBeGreaterThan(before)
  isOver = true
  await writing

  const texts = (await log.read('beside', { limit: 100_000 })).map(
    ({ event }) => event.type === 'NEW_MESSAGE' && event.payload.content,
  )
  expect(texts).toEqual(expect.arrayContaining(acknowledged))
  expect(new Set(texts).size).toBe(texts.length)
  const events = (await log.read('c', { limit: 1000 })).map(({ event }) => event)
  expect(events.filter(({ type }) => type === 'RUN_FINISHED')).toHaveLength(1)
  expect(events.filter(({ type }) => type === 'RUN_ERROR')).toHaveLength(0)
  expect([...new Set(done)]).toEqual(steps)
  await agent.close()
  await log.close()
  gate.close()
  await primary.remove()
  await standby.remove()
})
