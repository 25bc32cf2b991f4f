import { createAnthropic } from '@ai-sdk/anthropic'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createAgent } from '../../agent/agent.ts'
import { say } from '../../agent/fixtures/agent.ts'
import { defineTool } from '../../boundary/tool.ts'
import { providerServer } from '../../models/fixtures/provider-server.ts'

const TOOL = z.object({
  input_schema: z.object({ properties: z.looseObject({}), required: z.array(z.string()) }),
})
const usage = { input_tokens: 1, output_tokens: 1 }
const start = {
  type: 'message_start',
  message: { id: 'm', model: 'claude', role: 'assistant', content: [], usage },
}
const end = (stop_reason: string) => [
  { type: 'message_delta', delta: { stop_reason }, usage },
  { type: 'message_stop' },
]
const block = (content_block: object, delta: object) => [
  { type: 'content_block_start', index: 0, content_block },
  { type: 'content_block_delta', index: 0, delta },
  { type: 'content_block_stop', index: 0 },
]

it('calls a tool with its own names of parameters, of which the provider gets accepted ones', async () => {
  const input = { type: 'input_json_delta', partial_json: '{"_top":3}' }
  const server = await providerServer([
    {
      events: [
        start,
        ...block({ type: 'tool_use', id: 'c', name: 'list', input: {} }, input),
        ...end('tool_use'),
      ],
    },
    {
      events: [
        start,
        ...block({ type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }),
        ...end('end_turn'),
      ],
    },
  ])
  const given: unknown[] = []
  const list = defineTool({
    id: 'list',
    description: 'Lists',
    inputSchema: { type: 'object', properties: { $top: { type: 'integer' } }, required: ['$top'] },
    execute(parameters) {
      given.push(parameters)
      return 'listed'
    },
  })
  const model = createAnthropic({ apiKey: 'k', baseURL: server.url })('claude-sonnet-4-5')
  const { text } = await createAgent({ model, tools: [list] }).run({ messages: say('Go') }).result
  await server.close()
  expect(text).toBe('Done.')
  expect(given).toEqual([{ $top: 3 }])
  const [first] = z.array(TOOL).parse(server.requests[0]?.body.tools)
  const { properties = {}, required } = first?.input_schema ?? {}
  expect(Object.keys(properties)).toEqual(['_top', '_outputPath', '_outputMethod'])
  expect(required).toEqual(['_top'])
})
