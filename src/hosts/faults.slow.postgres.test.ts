import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { createPostgresLog } from '../log/postgres-log.ts'
import { failingPool, WAYS } from '../postgres/fixtures/failing-pool.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createQueue } from './queue.ts'
import { createWorker } from './worker.ts'

/** Errors that would have ended the process. */
let uncaught: unknown[] = []
const take = (error: unknown): void => void uncaught.push(error)
const EVENTS = ['uncaughtException', 'unhandledRejection'] as const

beforeEach(() => {
  uncaught = []
  for (const event of EVENTS) process.on(event, take)
})
afterEach(() => {
  for (const event of EVENTS) process.off(event, take)
})

it.each(WAYS)(
  'servers and workers continue when each of their statements fails once: %s',
  async (way) => {
    const { schema } = newSchema()
    const failing = failingPool(inject('postgres'), [way])
    const { pool } = failing
    const queue = createQueue({ pool, schema: `${schema}_queue` })
    const log = createPostgresLog({ pool, schema, queue })
    const executions: string[] = []
    const work = defineTool({
      id: 'work',
      description: 'Works',
      inputSchema: { type: 'object' },
      idempotent: true,
      execute: (_, { conversation }) => void executions.push(conversation),
    })
    const scripted = scriptedModel([])
    const model: typeof scripted = {
      ...scripted,
      doStream(options) {
        const isDone = options.prompt.some(({ role }) => role === 'tool')
        const turn = isDone ? 'done' : { calls: [{ name: 'work', arguments: {} }] }
        return scriptedModel([turn]).doStream(options)
      },
    }
    const agent = createAgent({ model, tools: [work], log, leaseMs: 1000 })
    const errors: unknown[] = []
    const worker = createWorker({
      agent,
      queue,
      concurrency: 4,
      onError: (error) => errors.push(error),
    })
    const persistently = async (run: () => Promise<unknown>): Promise<void> => {
      for (;;) {
        try {
          await run()
          return
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^(log_failed|message_exists)$/),
          })
          if (Object(error).code === 'message_exists') return
        }
      }
    }
    await persistently(() => worker.start())
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`)
    for (const id of ids) {
      const message = { id: `m-${id}`, role: 'user', content: 'Go on' }
      await persistently(() => agent.send(id, message))
    }
    for (const id of ids) {
      await expect
        .poll(() => log.find(id).catch(() => null), { timeout: 150_000 })
        .toMatchObject({ status: 'idle', queued: 0, openRun: null })
    }
    failing.heal()
    for (const id of ids) {
      const events = (await log.read(id)).map(({ event }) => event)
      expect(events.filter(({ type }) => type === 'RUN_FINISHED')).toHaveLength(1)
      const said = events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? event.payload.id : []))
      expect(said.filter((one) => one === `m-${id}`)).toHaveLength(1)
    }
    expect(failing.failures).toBeGreaterThan(20)
    expect(uncaught).toEqual([])
    await worker.stop()
    await agent.close()
    await log.close()
    await queue.close()
    await pool.end()
  },
)
