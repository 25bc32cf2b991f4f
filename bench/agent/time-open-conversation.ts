// Times one more run in an open conversation: node bench/agent/time-open-conversation.ts <memory | sqlite> <messages>
// <seconds>, started by open-conversation.ts
import { join } from 'node:path'
import type { ConversationEvent } from '../../src/core/events/events.ts'
import { createAgent, createMemoryLog } from '../../src/index.ts'
import { createSqliteLog } from '../../src/log/sqlite-log.ts'
import { instantModel } from './contestants/instant-model.ts'
import { answerParent, cpuTime, ownFolder } from './in-child.ts'

const RUNS = 20
const [kind, messages = '', seconds = ''] = process.argv.slice(2)
const log = kind === 'sqlite' ? createSqliteLog(join(ownFolder(), 'log.db')) : createMemoryLog()
const agent = createAgent({ model: instantModel(0), log })
const length = Number(messages)

const start = performance.now()
const ms = Number(seconds) * 1000
const cpu: number[] = []
// The runs make a long conversation hardly longer. Short conversations are new for each batch.
let open = length > 1000 ? await openConversations(1) : []
let warm = 0
do {
  if (length <= 1000) open = await openConversations(RUNS)
  const before = cpuTime()
  for (let run = 0; run < RUNS; run++) await runIn(open[run % open.length] as string)
  cpu.push((cpuTime() - before) / RUNS)
  if (performance.now() - start < ms / 2) warm++
} while (performance.now() - start < ms)

await agent.close()
await log.close()
answerParent(cpu.length > warm ? cpu.slice(warm) : cpu)

async function openConversations(count: number): Promise<string[]> {
  const ids: string[] = []
  for (let each = 0; each < count; each++) {
    const id = await log.create()
    for (let from = 0; from < length; from += 1000) {
      await log.append(id, history(from, Math.min(from + 1000, length)))
    }
    await runIn(id)
    ids.push(id)
  }
  return ids
}

function history(from: number, to: number): ConversationEvent[] {
  return Array.from({ length: to - from }, (_, at) => {
    const role = (from + at) % 2 === 0 ? 'user' : 'assistant'
    return {
      type: 'NEW_MESSAGE',
      payload: {
        id: `m${from + at}`,
        sender: { participant_id: role, participant_role: role },
        message_type: 'chat',
        content_type: 'text/plain',
        content: `Message ${from + at}, which says about as much as people say when they ask something.`,
        timestamp: '2026-01-01T00:00:00.000Z',
        metadata: {},
      },
    }
  })
}

async function runIn(conversation: string): Promise<void> {
  const { text } = await agent.run({ conversation, messages: [{ role: 'user', content: 'go' }] })
    .result
  if (text !== 'done') throw new Error(`The run ended with ${JSON.stringify(text)}`)
}
