import { setTimeout as sleep } from 'node:timers/promises'
import { createQueue } from '../../../src/hosts/queue.ts'
import { createWorker } from '../../../src/hosts/worker.ts'
import { createAgent, defineTool } from '../../../src/index.ts'
import { createPostgresLog } from '../../../src/log/postgres-log.ts'
import { answerStream } from '../../../src/models/answer-stream.ts'
import type { LanguageModel } from '../../../src/models/language-model.ts'
import { type Contestant, STEPS } from './contestant.ts'

/** The time of each answer in milliseconds. 0 if steps are counted. */
const STEP_MS = Number(process.env.BENCH_STEP_MS ?? 0)

/** Calls a tool in each step except the last. It reads from its prompt which step it is. */
const model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'instant',
  supportedUrls: {},
  async doGenerate() {
    throw new Error('It only streams')
  },
  async doStream({ prompt }: { prompt: readonly { role: string }[] }) {
    if (STEP_MS > 0) await sleep(STEP_MS)
    const results = prompt.filter(({ role }) => role === 'tool').length
    const calls = results < STEPS - 1 ? [{ name: 'nothing', arguments: { n: results } }] : []
    return { stream: answerStream({ text: calls.length > 0 ? '' : 'done', calls }, {}) }
  },
} as unknown as LanguageModel

const nothing = defineTool({
  id: 'nothing',
  description: 'Does nothing',
  idempotent: true,
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  execute: () => 'ok',
})

/** An agent on the log, its queue, and the messages for it. */
export function openByref(connectionString: string) {
  const queue = createQueue({ connectionString })
  const log = createPostgresLog({ connectionString, queue })
  const agent = createAgent({ log, model, tools: [nothing] })
  return {
    queue,
    log,
    agent,
    async close() {
      await agent.close()
      await log.close()
      await queue.close()
    },
  }
}

/** Conversations on the log: messages, prompts, calls and results. Every step is durable before the next one. */
export const byref: Contestant = {
  name: 'byref',
  async enqueue(connectionString, conversations) {
    const { agent, close } = openByref(connectionString)
    for (let i = 0; i < conversations; i++) {
      await agent.send(`c${i}`, { role: 'user', content: 'Go on' })
    }
    await close()
  },
  ended: `SELECT count(*)::int AS n FROM byref.conversations
    WHERE due = 0 AND position > 1`,
  async work(connectionString, concurrency) {
    const { agent, queue } = openByref(connectionString)
    await createWorker({ agent, queue, concurrency }).start()
  },
}
