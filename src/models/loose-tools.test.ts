import { createOpenResponses } from '@ai-sdk/open-responses'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createAgent } from '../agent/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { providerServer } from './fixtures/provider-server.ts'

it('tells a server of Open Responses that tools are not strict, so that parameters stay optional', async () => {
  const item = { type: 'message', id: 'm', role: 'assistant' }
  const content = [{ type: 'output_text', text: 'Dry.', annotations: [] }]
  const server = await providerServer([
    {
      events: [
        { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
        { type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta: 'Dry.' },
        { type: 'response.output_item.done', output_index: 0, item: { ...item, content } },
        { type: 'response.completed', response: { id: 'r', output: [], usage: null } },
      ],
    },
  ])
  const model = createOpenResponses({ name: 'local', url: server.url })('some-model')
  const inputSchema = z.object({ city: z.string(), day: z.number().optional() })
  const rain = defineTool({ id: 'rain', description: 'Measures', inputSchema, execute: () => 7 })
  const { text } = await createAgent({ model, tools: [rain] }).run({ messages: 'Rain?' }).result
  await server.close()
  expect(text).toBe('Dry.')
  expect(server.requests[0]?.body.tools).toMatchObject([{ name: 'rain', strict: false }])
})
