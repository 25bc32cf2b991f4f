import { PgBoss } from 'pg-boss'
import { type Contestant, STEPS } from './contestant.ts'

const QUEUE = 'steps'

interface Step {
  conversation: number
  step: number
}

async function open(connectionString: string, supervise = false): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString, supervise, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue(QUEUE, { deleteAfterSeconds: 0 })
  return boss
}

/**
 * A queue alone: each step is a job that enqueues the next one when it ends. It has no log and no prompt, so this is
 * the minimum for any durable system.
 */
export const pgBoss: Contestant = {
  name: 'pg-boss, a job a step',
  async enqueue(connectionString, conversations) {
    const boss = await open(connectionString)
    const first = (conversation: number) => ({ data: { conversation, step: 0 } })
    await boss.insert(
      QUEUE,
      Array.from({ length: conversations }, (_, i) => first(i)),
    )
    await boss.stop({ graceful: false })
  },
  ended: `SELECT count(*)::int AS n FROM pgboss.job WHERE state = 'completed' AND (data->>'step')::int = ${STEPS - 1}`,
  async work(connectionString, concurrency) {
    const boss = await open(connectionString, true)
    const options = { localConcurrency: concurrency, pollingIntervalSeconds: 0.5 }
    await boss.work<Step>(QUEUE, options, async ([job]) => {
      const { conversation, step = 0 } = job?.data ?? {}
      if (step + 1 < STEPS) await boss.send(QUEUE, { conversation, step: step + 1 })
    })
  },
}
