import { expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { UnavailableError } from '../core/errors.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'

/** Runs a tool after which the log fails: every append, or only the next one. */
async function outage({ error, isShort }: { error: Error; isShort: boolean }) {
  const memory = createMemoryLog()
  let isDown = false
  let outages = 1
  const log: ConversationLog = {
    ...memory,
    async append(...args) {
      if (!isDown) return memory.append(...args)
      isDown = !isShort
      throw error
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
  return agent
}

it('resolves with the result of a run that continues after the log has failed', async () => {
  const agent = await outage({ error: new Error('The disk is away.'), isShort: false })
  expect(await agent.resume('c').result).toMatchObject({ text: 'Done.', reason: 'done' })
  await agent.close()
})

it('leaves a run open if the database did not answer, even for a moment', async () => {
  const error = new UnavailableError('log_failed', 'The connection was lost.')
  const agent = await outage({ error, isShort: true })
  expect(await agent.resume('c').result).toMatchObject({ text: 'Done.', reason: 'done' })
  await agent.close()
})
