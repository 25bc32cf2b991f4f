import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { PNG } from '../assets/fixtures/stores.ts'
import { emptyConversation } from '../content/conversation-state.ts'
import type { ConversationEvent } from '../content/events.ts'
import { foldAll } from '../content/fold.ts'
import type { Message } from '../content/message.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory.ts'
import { createSqliteLog } from '../log/sqlite.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'
import { defineTool } from './tools/tool.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-agent-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const work = defineTool({
  ...{ id: 'work', description: '', inputSchema: { type: 'object' }, idempotent: true },
  execute: ({ n }) => (n === 2 ? { photo: new Uint8Array(PNG) } : `did ${n}`),
})
const call = (n: unknown, more: Record<string, unknown> = {}) => ({
  ...{ id: `c${JSON.stringify(n)}`, name: 'work' },
  arguments: { n, ...more },
})

/** A conversation with everything in it that a script can bring about. */
async function play(log: ConversationLog): Promise<{ events: string[]; messages: string }> {
  const model = scriptedModel([
    { text: 'Well', calls: [call(1, { _outputPath: '†state.one' }), call(2), call('†state.one')] },
    { calls: [call('†item', { _each: [4, 5] }), { id: 'x', name: 'gone', arguments: {} }] },
    'Done.',
    new Error('no route'),
  ])
  const agent = createAgent({ model, tools: [work], log })
  await agent.run({ conversation: 'c', messages: say('go') }).result
  await agent.run({ conversation: 'c', messages: say('again') }).result.catch(() => {})
  const records = await log.read('c', { limit: 1000 })
  // Calls run while the model still writes: which of two comes first is chance, the messages' order is not.
  return {
    events: records.map(({ event }) => withoutChance(event)).sort(),
    messages: foldAll(emptyConversation, records).messages.map(withoutChance).join(),
  }
}

/** As JSON, without what differs from run to run: ids, times, and who ran it. */
function withoutChance(value: ConversationEvent | Message): string {
  return JSON.stringify(value)
    .replace(/"owner":"[^"]+"/g, '')
    .replace(/\b1[0-9a-z]{26}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
}

describe('a scripted conversation', () => {
  it('has the same events on every log', async () => {
    const sqlite = createSqliteLog(join(folder, 'one.sqlite'))
    const logs = [createMemoryLog(), createMemoryLog(), sqlite]
    const played = []
    for (const log of logs) played.push(await play(log))
    const [first, second, third] = played
    expect(first?.events.join()).toContain('TOOL_ITEM_FINISHED')
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    await sqlite.close()
  })
})

describe('200 agents at once', () => {
  it('each come to their end, on one SQLite log', async () => {
    const log = createSqliteLog(join(folder, 'many.sqlite'))
    const texts = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const model = scriptedModel([
          { calls: [call(7)] },
          { calls: [{ ...call(8), id: 'd' }] },
          `${i}`,
        ])
        const agent = createAgent({ model, tools: [work], log })
        const { text } = await agent.run({ conversation: `c${i}`, messages: say('go') }).result
        await agent.close()
        return text
      }),
    )
    expect(texts).toEqual(texts.map((_, i) => `${i}`))
    const { conversations } = await log.list({ limit: 1000 })
    expect(new Set(conversations.map(({ status, lease }) => `${status} ${lease}`))).toEqual(
      new Set(['idle null']),
    )
    await log.close()
  })
})
