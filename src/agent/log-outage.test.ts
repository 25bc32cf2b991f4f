import { expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'

it('resolves with the result of a run that continues after the log has failed', async () => {
  const memory = createMemoryLog()
  let isDown = false
  let outages = 1
  const log: ConversationLog = {
    ...memory,
    async append(...args) {
      if (isDown) throw new Error('The database is away.')
      return memory.append(...args)
    },
  }
  const tool = defineTool({
    id: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object' },
    idempotent: true,
    execute() {
      isDown = outages-- > 0
      return 1
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'look', arguments: {} }] }, 'Done.'])
  const agent = createAgent({ model, tools: [tool], log })
  const run = agent.run({ conversation: 'c', messages: say('Look') })
  await expect(run.result).rejects.toMatchObject({ code: 'log_failed' })
  isDown = false
  expect(await agent.resume('c').result).toMatchObject({ text: 'Done.', reason: 'done' })
  await agent.close()
})
