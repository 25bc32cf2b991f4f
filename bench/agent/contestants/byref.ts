import { join } from 'node:path'
import { z } from 'zod'
import { createAgent, createMemoryLog, defineTool } from '../../../src/index.ts'
import type { ConversationLog } from '../../../src/log/conversation-log.ts'
import { createSqliteLog } from '../../../src/log/sqlite-log.ts'
import { add, type Contestant, checkAnswer } from './contestant.ts'
import { instantModel } from './instant-model.ts'

const tools = [
  defineTool({
    id: 'add',
    description: 'add',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: add,
  }),
]

/** A new log and a new agent for each run. */
export function byref(): Contestant {
  return { run: (steps) => runIn(createMemoryLog(), steps) }
}

/** One log for all runs. Its appends are counted. */
export function byrefSqlite(folder: string): Contestant {
  const file = join(folder, 'byref.db')
  const log = createSqliteLog(file)
  let appends = 0
  const counted = counting(log, () => appends++)
  return {
    file,
    appends: () => appends,
    run: (steps) => runIn(counted, steps),
    close: () => log.close(),
  }
}

async function runIn(log: ConversationLog, steps: number): Promise<void> {
  const model = instantModel(steps)
  const agent = createAgent({ model, tools, log, limits: { steps: steps + 1 } })
  const { text } = await agent.run({ messages: [{ role: 'user', content: 'go' }] }).result
  await agent.close()
  checkAnswer(text)
}

/** The same log, also in other namespaces, with `count` called on each append. */
function counting(log: ConversationLog, count: () => void): ConversationLog {
  return {
    ...log,
    scoped: (namespace) => counting(log.scoped(namespace), count),
    append(...append) {
      count()
      return log.append(...append)
    },
  }
}
