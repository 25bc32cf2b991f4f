// The cost of an agent's step in the log: three appends, six events of about 1.5 kB. CPU time, commits, size of the
// file.
// node bench/log/append.ts
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConversationEvent } from '../../src/core/events/events.ts'
import type { ConversationLog } from '../../src/log/conversation-log.ts'
import { createMemoryLog } from '../../src/log/memory-log.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { printMachine } from '../assets/measure.ts'

const STEPS = 1000
const folder = mkdtempSync(join(tmpdir(), 'byref-bench-'))

function message(id: string, type: 'chat' | 'log', text: string): ConversationEvent {
  const call = { id, name: 'query', arguments: { sql: 'SELECT 1', rows: [1, 2, 3] } }
  return {
    type: 'NEW_MESSAGE',
    payload: {
      id,
      sender: { participant_id: 'agent', participant_role: 'assistant' },
      message_type: type,
      content_type: 'text/plain',
      content: text.repeat(6),
      timestamp: '2026-01-01T00:00:00.000Z',
      metadata: type === 'chat' ? { tool_calls: [call] } : { tool_result: { tool_call_id: id } },
    },
  }
}

function step(i: number): ConversationEvent[][] {
  const ids = { runId: 'r', messageId: `message-${i}` }
  const call = { toolCallId: `call-${i}`, runId: 'r' }
  const usage = { inputTokens: 1200, outputTokens: 80 }
  return [
    [{ type: 'STEP_STARTED', stepName: `step ${i}`, ...ids }],
    [
      message(ids.messageId, 'chat', `What the model says of ${i}, at some length. `),
      {
        type: 'TOOL_CALL_END',
        ...call,
        parentMessageId: ids.messageId,
        call: { id: call.toolCallId, name: 'query', arguments: { sql: 'SELECT 1', limit: 10 } },
      },
      { type: 'TOOL_STARTED', ...call, attempt: 1 },
    ],
    [
      message(`result-${i}`, 'log', `A row of the result of ${i}, and another one. `),
      { type: 'STEP_FINISHED', stepName: `step ${i}`, ...ids, usage, finishReason: 'tool-calls' },
    ],
  ]
}

async function run(log: ConversationLog, id: string): Promise<void> {
  const begin = {
    type: 'RUN_STARTED',
    threadId: id,
    runId: 'r',
    messageIds: [],
    owner: 'o',
  } as const
  let after = (await log.append(id, [begin])).length
  for (let i = 0; i < STEPS; i++) {
    for (const events of step(i)) {
      const lease = { owner: 'bench', ms: 30_000 }
      const records = await log.append(id, events, { after, lease })
      after = records.at(-1)?.position ?? after
    }
  }
}

async function report(name: string, work: () => Promise<void>, steps = STEPS): Promise<void> {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  const each = (microseconds: number): string => `${(microseconds / steps).toFixed(0)} µs`
  const wall = each((performance.now() - start) * 1000)
  console.log(`  ${name.padEnd(34)} CPU ${each(user + system)} (user ${each(user)})   wall ${wall}`)
}

printMachine()
console.log(`${STEPS} steps of 3 appends, 6 events; for each step:`)
const memory = createMemoryLog()
await run(memory, 'warm')
await report('memory', () => run(memory, 'c'))
await report('making the events', async () => {
  for (let i = 0; i < STEPS; i++) step(i)
})

const path = join(folder, 'log.sqlite')
const warm = createSqliteLog(join(folder, 'warm.sqlite'))
await run(warm, 'c')
await warm.close()
const sqlite = createSqliteLog(path)
await report('sqlite', () => run(sqlite, 'c'))
await sqlite.close()
const json = JSON.stringify(Array.from({ length: STEPS }, (_, i) => step(i))).length
const size = statSync(path).size
console.log(`  file ${(size / 1e6).toFixed(2)} MB for ${(json / 1e6).toFixed(2)} MB of JSON`)
const again = createSqliteLog(path)
await report('the first search, indexing', async () => {
  await again.list({ search: 'at some length' })
})
await again.close()
console.log(`  file ${(statSync(path).size / 1e6).toFixed(2)} MB with the search index`)

const many = createSqliteLog(join(folder, 'many.sqlite'))
const told = many.subscribe(() => {})
await report(
  '200 agents at once, a subscriber',
  async () => {
    const agents = Array.from({ length: 200 }, async (_, n) => {
      await many.append(`${n}`, [
        { type: 'RUN_STARTED', threadId: `${n}`, runId: 'r', messageIds: [], owner: 'o' },
      ])
      for (let i = 0; i < 10; i++) for (const events of step(i)) await many.append(`${n}`, events)
    })
    await Promise.all(agents)
  },
  2000,
)
told()
await many.close()
rmSync(folder, { recursive: true })
