import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import { defineTool } from '../../../boundary/tool.ts'
import { scriptedModel } from '../../../testing/scripted-model.ts'
import { askAgent } from './ask-agent.ts'
import { ServedLabels } from './served-labels.ts'

it('cancels a run whose request ends while its answer is being accepted', async () => {
  const stop = new AbortController()
  const pay = defineTool({
    id: 'pay',
    description: '',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => new Promise<never>(() => {}),
  })
  const model = scriptedModel([{ calls: [{ id: 'p', name: 'pay', arguments: {} }] }])
  const agent = createAgent({ model, tools: [pay] })
  const run = await agent.start({
    conversation: 'c',
    messages: [{ role: 'user', content: 'Pay' }],
  })
  await expect.poll(() => agent.log.find('c')).toMatchObject({ status: 'waiting' })

  const mcpReq = {
    signal: stop.signal,
    requestState: () => ({ conversation: 'c', answered: [], call: 'p', isEarlier: false }),
    inputResponses: { approve: { action: 'accept', content: { approve: true } } },
  }
  const asked = askAgent(
    {
      ...agent,
      async approve(...args) {
        await agent.approve(...args)
        stop.abort()
      },
    },
    { message: '' },
    {
      context: { mcpReq } as unknown as ServerContext,
      canAsk: true,
      mint: async () => '',
      served: new ServedLabels([agent]),
      sender: { reader: null, callers: 'trusted' },
    },
  )
  expect((await run.result).reason).toBe('cancelled')
  await asked
})
