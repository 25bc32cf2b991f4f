// A page of runs and the sums of a month, with 100,000 runs in SQLite and in PostgreSQL: median and maximum of 20
// queries.
// node bench/log/runs.ts [runs=100000], with BYREF_DATABASE for PostgreSQL
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConversationEvent } from '../../src/core/events/events.ts'
import type { ConversationLog } from '../../src/log/conversation-log.ts'
import { createPostgresLog } from '../../src/log/postgres-log.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { printMachine } from '../assets/measure.ts'

const RUNS = Number(process.argv[2] ?? 100_000)
/** Runs of one conversation. */
const EACH = 100
const MONTH_MS = 30 * 24 * 3_600_000
const START = Date.UTC(2026, 0, 1)
const MODELS = ['small', 'middle', 'large']

/** The events of one run: two steps, a call, and an error in every twentieth. */
function eventsOf(i: number): ConversationEvent[] {
  const [runId, threadId, model] = [`run-${i}`, 'c', MODELS[i % 3]]
  const usage = { inputTokens: 1000 + (i % 900), outputTokens: 50, cost: ((i * 7919) % 1000) / 1e4 }
  const step = { stepName: 's', runId, messageId: `m-${i}` }
  const call = { id: `k-${i}`, name: i % 50 === 0 ? 'pay' : `tool_${i % 7}`, arguments: {} }
  const end: ConversationEvent =
    i % 20 === 0
      ? { type: 'RUN_ERROR', threadId, runId, code: 'model_failed', message: 'no answer' }
      : { type: 'RUN_FINISHED', threadId, runId, result: { reason: 'done', usage } }
  return [
    {
      type: 'RUN_STARTED',
      threadId,
      runId,
      messageIds: [],
      agent: `agent_${i % 4}`,
      model,
      owner: 'o',
    },
    { type: 'STEP_STARTED', ...step },
    { type: 'TOOL_CALL_END', toolCallId: call.id, runId, parentMessageId: step.messageId, call },
    { type: 'STEP_FINISHED', ...step, usage, finishReason: 'stop' },
    end,
  ]
}

function* lines(conversation: number): Generator<string> {
  const at = (i: number) => new Date(START + (i / RUNS) * MONTH_MS).toISOString()
  const first = conversation * EACH
  const head = { byref: 'conversation', version: 1, id: `c${conversation}` }
  yield `${JSON.stringify({ ...head, createdAt: at(first), updatedAt: at(first) })}\n`
  let position = 0
  for (let i = first; i < first + EACH; i++) {
    for (const event of eventsOf(i)) {
      yield `${JSON.stringify({ v: 1, position: ++position, timestamp: at(i), event })}\n`
    }
  }
  yield '{"byref":"end"}\n'
}

async function time(name: string, query: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const start = performance.now()
    await query()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  console.log(`  ${name.padEnd(42)} ${times[10]?.toFixed(1)} ms (${times.at(-1)?.toFixed(1)})`)
}

async function report(name: string, log: ConversationLog): Promise<void> {
  const start = performance.now()
  for (let i = 0; i < RUNS / EACH; i++) await log.import(lines(i))
  const seconds = ((performance.now() - start) / 1000).toFixed(0)
  console.log(`${name}: ${RUNS} runs in ${RUNS / EACH} conversations, imported in ${seconds} s`)
  const until = new Date(START + MONTH_MS / 2).toISOString()
  await time('the newest page', () => log.runs())
  await time('a page that failed', () => log.runs({ error: true }))
  await time('a page with a tool, before the middle', () => log.runs({ tool: 'pay', until }))
  await time('a page of the most expensive', () => log.runs({ minCost: 0.0995 }))
  await time('a page that nothing matches', () => log.runs({ tool: 'none' }))
  await time('the month by day', () => log.costs({ by: 'day', timeZone: 'Europe/Berlin' }))
  await time('the month by day and model', () => {
    return log.costs({ by: 'day', timeZone: 'Europe/Berlin', group: 'model' })
  })
  await time('the month by day, with a tool', () => log.costs({ by: 'day', tool: 'pay' }))
}

printMachine()
const folder = mkdtempSync(join(tmpdir(), 'byref-bench-'))
const sqlite = createSqliteLog(join(folder, 'log.sqlite'))
await report('SQLite', sqlite)
await sqlite.close()
rmSync(folder, { recursive: true })
const connectionString = process.env.BYREF_DATABASE
if (connectionString) {
  const postgres = createPostgresLog({ connectionString, schema: 'byref_bench_runs' })
  await report('PostgreSQL', postgres)
  await postgres.close()
}
