import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createQueue } from '../hosts/queue.ts'
import { claimed } from '../log/fixtures/claimed.ts'
import { createPostgresLog } from '../log/postgres-log.ts'
import { type CuttingProxy, cuttingProxy } from './fixtures/cutting-proxy.ts'
import { newSchema } from './fixtures/schemas.ts'

/** Errors that would have ended the process. */
let uncaught: unknown[] = []
const take = (error: unknown): void => void uncaught.push(error)
let others: ((...given: never[]) => void)[] = []

beforeEach(() => {
  uncaught = []
  others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', take)
})

afterEach(() => {
  process.off('uncaughtException', take)
  for (const other of others) process.on('uncaughtException', other as never)
})

/** Uses a connection through a proxy until it was cut, and then until it works again. */
async function survive(proxy: CuttingProxy, use: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(() =>
      use().then(
        () => proxy.cuts,
        () => proxy.cuts,
      ),
    )
    .toBeGreaterThan(0)
  proxy.stopCutting()
  await expect
    .poll(() =>
      use().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  expect(uncaught).toEqual([])
}

describe('a connection that the server ends with its last answer', () => {
  for (const at of [1, 2, 3, 4]) {
    it(`ends no process: answer ${at}`, async () => {
      const proxy = await cuttingProxy(inject('postgres'), at)
      const { connectionString } = proxy
      const { schema } = newSchema()
      const log = createPostgresLog({ connectionString, schema })
      log.subscribe(() => {})
      let n = 0
      await survive(proxy, () => log.append(`c${++n}`, [claimed(n)]))
      await log.close()
      await proxy.close()
    })
  }

  it('ends no process on a pool of the caller, also one that was in use before', async () => {
    const proxy = await cuttingProxy(inject('postgres'), 3)
    const pool = new pg.Pool({ connectionString: proxy.connectionString, max: 2 })
    await pool.query('SELECT 1')
    const log = createPostgresLog({ pool, schema: newSchema().schema })
    await survive(proxy, () => log.find('c'))
    await log.close()
    await pool.end()
    await proxy.close()
  })

  it('ends no process with a queue', async () => {
    for (const at of [1, 2, 3]) {
      const proxy = await cuttingProxy(inject('postgres'), at)
      const { connectionString } = proxy
      const queue = createQueue({ connectionString, schema: newSchema().schema })
      queue.onDue(() => {})
      await survive(proxy, () => queue.add([{ conversation: 'c', namespace: null, agent: null }]))
      await queue.close()
      await proxy.close()
    }
  })
})
