import { createAnthropic } from '@ai-sdk/anthropic'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from '../models/fixtures/provider-server.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const servers: ProviderServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

type Block = Readonly<Record<string, unknown>>

/** An answer of Anthropic, whose blocks arrive whole. */
function answer(stop_reason: string, blocks: readonly Block[]): ProviderAnswer {
  const usage = { input_tokens: 10, output_tokens: 5 }
  const about = { id: 'm', role: 'assistant', model: 'claude', content: [], usage }
  const events = blocks.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: startOf(block) },
    ...(block.type === 'text'
      ? [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: block.text } }]
      : []),
    { type: 'content_block_stop', index },
  ])
  return {
    events: [
      { type: 'message_start', message: { ...about, type: 'message' } },
      ...events,
      { type: 'message_delta', delta: { stop_reason }, usage },
      { type: 'message_stop' },
    ],
  }
}

const startOf = (block: Block) => (block.type === 'text' ? { type: 'text', text: '' } : block)

const text = (words: string) => ({ type: 'text', text: words })
const use = (id: string) => ({
  type: 'mcp_tool_use',
  id,
  name: 'rain',
  server_name: 'gauge',
  input: { day: 1 },
})
const result = (id: string, is_error = false) => ({
  type: 'mcp_tool_result',
  tool_use_id: id,
  is_error,
  content: [text('7 mm')],
})

async function agentFor(answers: readonly ProviderAnswer[], limits = {}) {
  const server = await providerServer(answers)
  servers.push(server)
  const model = createAnthropic({ apiKey: 'k', baseURL: server.url })('claude-sonnet-4-5')
  const mcpServers = [{ type: 'url', name: 'gauge', url: 'https://gauge.example' }]
  const settings = { providerOptions: { anthropic: { mcpServers } } }
  /** The messages of a request, without cache marks. */
  const sent = (n: number) =>
    JSON.parse(JSON.stringify(server.requests[n]?.body.messages), (key, value) =>
      key === 'cache_control' ? undefined : value,
    )
  return { agent: createAgent({ model, settings, limits }), server, sent }
}

const user = (words: string) => ({ role: 'user', content: [text(words)] })

describe('a paused answer', () => {
  it('continues with everything that the model has written', async () => {
    const first = [text('I look.'), use('mcptoolu_1'), result('mcptoolu_1'), use('mcptoolu_2')]
    const { agent, server, sent } = await agentFor([
      answer('pause_turn', first),
      answer('end_turn', [text('7 mm.')]),
    ])
    const run = agent.run({ messages: 'Rain?', conversation: 'c' })
    let streamed = ''
    for await (const delta of run.textStream) streamed += delta
    const { text: said, reason } = await run.result
    expect([said, streamed, reason]).toEqual(['I look.\n\n7 mm.', said, 'done'])
    expect(server.requests).toHaveLength(2)
    expect(sent(1)).toEqual([user('Rain?'), { role: 'assistant', content: first }])
  })

  it('is asked for again as often as the step limit allows', async () => {
    const first = [text('I look.'), use('mcptoolu_1')]
    const { agent, server, sent } = await agentFor([answer('pause_turn', first)], { steps: 3 })
    const { text: said, reason } = await agent.run({ messages: 'Rain?', conversation: 'c' }).result
    expect([said, reason]).toEqual(['I look.\n\nI look.\n\nI look.', 'step_limit'])
    expect(server.requests).toHaveLength(3)
    await agent.run({ messages: 'Well?', conversation: 'c' }).result
    // Anthropic rejects a call without a result before a message of the user.
    const three = Array(3).fill(text('I look.'))
    expect(sent(3)).toEqual([user('Rain?'), { role: 'assistant', content: three }, user('Well?')])
  })

  it('is left out once a user writes, if it has only a call without a result', async () => {
    const answers = [answer('pause_turn', [use('mcptoolu_1')]), answer('end_turn', [text('Yes.')])]
    const { agent, sent } = await agentFor(answers, { steps: 1 })
    await agent.run({ messages: 'Rain?', conversation: 'c' }).result
    await agent.run({ messages: 'Well?', conversation: 'c' }).result
    expect(sent(1)).toEqual([{ role: 'user', content: [text('Rain?'), text('Well?')] }])
  })
})

describe('calls that Anthropic executes', () => {
  const blocks = [
    ...[use('mcptoolu_1'), result('mcptoolu_1', true), text('Again.')],
    ...[use('mcptoolu_2'), result('mcptoolu_2'), text('7 mm.')],
  ]

  it('are in later prompts, with their results', async () => {
    const answers = [answer('end_turn', blocks), answer('end_turn', [text('Yes.')])]
    const { agent, sent } = await agentFor(answers)
    await agent.run({ messages: 'Rain?', conversation: 'c' }).result
    await agent.run({ messages: 'Sure?', conversation: 'c' }).result
    expect(sent(1)).toEqual([user('Rain?'), { role: 'assistant', content: blocks }, user('Sure?')])
  })

  it('are not shown to other models', async () => {
    const { agent, server } = await agentFor([answer('end_turn', blocks)])
    await agent.run({ messages: 'Rain?', conversation: 'c' }).result
    const model = scriptedModel(['Yes.'])
    const other = createAgent({ model, log: agent.log })
    await other.run({ messages: 'Sure?', conversation: 'c' }).result
    expect(server.requests).toHaveLength(1)
    const content = ['Again.', '7 mm.'].map((words) => text(words))
    expect(model.requests[0]?.prompt).toContainEqual({ role: 'assistant', content })
  })
})
