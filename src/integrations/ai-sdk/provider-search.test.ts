import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, type LanguageModel, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ProviderAnswer, providerServer } from '../../models/fixtures/provider-server.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { type ByReferenceOptions, byReference } from './by-reference.ts'

const stopWhen = isStepCount(5)
const called: unknown[] = []
const tools = Object.fromEntries(
  ['crm_create_invoice', 'crm_list_people', 'shop_delete_photo'].map((name) => {
    const execute = ({ id }: { id: string }) => {
      called.push([name, id])
      return { done: name }
    }
    return [name, tool({ description: name, inputSchema: z.object({ id: z.string() }), execute })]
  }),
)

/** Two calls after a search: one whose arguments are wrong, and one with a reference into the first search's call. */
const CALLS = [
  { id: 'c1', name: 'crm_create_invoice', input: { id: 7 } },
  { id: 'c2', name: 'crm_list_people', input: { id: 'p' } },
  { id: 'c3', name: 'crm_create_invoices', input: { id: 'p' } },
]

const about = { id: 'r', model: 'm', created_at: 1, usage: { input_tokens: 1, output_tokens: 1 } }

const ANTHROPIC = {
  model: (baseURL: string) => createAnthropic({ apiKey: 'k', baseURL })('claude-sonnet-4-5'),
  found: [
    { type: 'server_tool_use', id: 's1', name: 'tool_search_tool_bm25', input: { query: 'crm' } },
    {
      type: 'tool_search_tool_result',
      tool_use_id: 's1',
      content: {
        type: 'tool_search_tool_search_result',
        tool_references: [{ type: 'tool_reference', tool_name: 'crm_create_invoice' }],
      },
    },
  ],
  answers(): object[] {
    const message = { ...about, type: 'message', role: 'assistant' }
    const uses = CALLS.map((call) => ({ type: 'tool_use', ...call }))
    return [
      { ...message, content: [...this.found, ...uses], stop_reason: 'tool_use' },
      { ...message, content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' },
    ]
  },
}

/** The answer of OpenAI contains the schemas of the tools that it found. These are long. */
const FOUND = Array.from({ length: 100 }, (_, i) => ({
  type: 'function',
  name: `tool_${i}`,
  description: 'x'.repeat(500),
  parameters: {},
  defer_loading: true,
}))
const OPENAI = {
  model: (baseURL: string) => createOpenAI({ apiKey: 'k', baseURL }).responses('gpt-5.4'),
  found: [
    { type: 'tool_search_call', id: 's1', arguments: { paths: ['crm'] } },
    { type: 'tool_search_output', id: 's2', tools: FOUND },
  ].map((item) => ({ ...item, execution: 'server', call_id: null, status: 'completed' })),
  answers(): object[] {
    const calls = CALLS.map(({ id, name, input }) => ({
      type: 'function_call',
      id: `f${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(input),
    }))
    const content = [{ type: 'output_text', text: 'Done.', annotations: [] }]
    const said = { type: 'message', id: 'm', role: 'assistant', content }
    return [
      { ...about, object: 'response', output: [...this.found, ...calls] },
      { ...about, object: 'response', output: [said] },
    ]
  },
}

async function run(
  { model, answers }: { model(url: string): unknown; answers: object[] },
  toolSearch: ByReferenceOptions['toolSearch'],
  trust: ByReferenceOptions['trust'] = 'off',
) {
  called.length = 0
  const server = await providerServer(
    answers.map((body): ProviderAnswer => ({ status: 200, body })),
  )
  const refs = byReference({ toolSearch, trust })
  const { text, steps } = await generateText({
    model: refs.model(model(server.url) as Exclude<LanguageModel, string>),
    tools: refs.tools(tools),
    prompt: 'Go',
    stopWhen,
    maxRetries: 0,
    providerOptions: { openai: { store: false } },
  })
  await server.close()
  return { text, steps, sent: server.requests.map(({ body }) => body) }
}

/** Tests for both providers. */
function expectShared({ text, steps, sent }: Awaited<ReturnType<typeof run>>): void {
  expect(text).toBe('Done.')
  expect(called).toEqual([['crm_list_people', 'p']])
  expect(steps[0]?.toolCalls.map(({ toolName }) => toolName)).toEqual([
    'search_tools',
    ...CALLS.map(({ name }) => name),
  ])
  expect(sent[1]?.tools).toEqual(sent[0]?.tools)
  const second = JSON.stringify(sent[1])
  expect(second).toContain('The parameters of crm_create_invoice are: {')
  expect(second).toMatch(
    /There is no tool .+crm_create_invoices.+\. The nearest names are: crm_create_invoice\b/,
  )
  expect(second).not.toContain('Available tools')
  expect(second).not.toContain('call_tool')
}

describe('byReference({ toolSearch: { provider: true } })', () => {
  it('defers tools with Anthropic, which searches, and repeats what it found', async () => {
    const answers = ANTHROPIC.answers()
    const result = await run(
      { ...ANTHROPIC, answers },
      { provider: true, above: 0, pinned: ['crm_list_people'] },
    )
    expectShared(result)
    const [first, second] = result.sent
    expect(first?.tools).toMatchObject([
      { name: 'crm_create_invoice', defer_loading: true, input_schema: { properties: { id: {} } } },
      { name: 'crm_list_people' },
      { name: 'shop_delete_photo', defer_loading: true },
      { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    ])
    expect(JSON.stringify(first?.tools).split('defer_loading')).toHaveLength(3)
    expect(second?.messages).toMatchObject([{}, { content: [...ANTHROPIC.found, {}, {}, {}] }, {}])
  })

  it('defers tools with OpenAI, which searches, and repeats what it found, of any length', async () => {
    const answers = OPENAI.answers()
    const result = await run({ ...OPENAI, answers }, { provider: true, above: 0 })
    expectShared(result)
    const [first, second] = result.sent
    expect(first?.tools).toMatchObject([
      ...Object.keys(tools).map((name) => ({ name, defer_loading: true })),
      { type: 'tool_search' },
    ])
    expect(second?.input).toEqual(expect.arrayContaining(OPENAI.found))
  })

  it('streams calls of the real tools', async () => {
    const use = { type: 'tool_use', ...CALLS[1] }
    const written = [...ANTHROPIC.found, use]
    const blocks = written.map((block, index) => {
      const start = { type: 'content_block_start', index, content_block: block }
      const stop = { type: 'content_block_stop', index }
      if (!('input' in block)) return [start, stop]
      const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      return [
        { ...start, content_block: { ...block, input: {} } },
        { type: 'content_block_delta', index, delta },
        stop,
      ]
    })
    const { usage } = about
    const end = (stop_reason: string) => [
      { type: 'message_delta', delta: { stop_reason }, usage },
      { type: 'message_stop' },
    ]
    const start = { type: 'message_start', message: { ...about, role: 'assistant', content: [] } }
    const said = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } },
      { type: 'content_block_stop', index: 0 },
    ]
    const server = await providerServer([
      { events: [start, ...blocks.flat(), ...end('tool_use')] },
      { events: [start, ...said, ...end('end_turn')] },
    ])
    called.length = 0
    const refs = byReference({ toolSearch: { provider: true, above: 0 } })
    const model = refs.model(ANTHROPIC.model(server.url))
    const { text } = streamText({ model, tools: refs.tools(tools), prompt: 'Go', stopWhen })
    expect(await text).toBe('Done.')
    await server.close()
    expect(called).toEqual([['crm_list_people', 'p']])
    expect(server.requests[1]?.body.messages).toMatchObject([{}, { content: written }, {}])
  })

  it('takes a result of a search that follows in a later answer', async () => {
    const [search, found] = ANTHROPIC.found
    const message = { ...about, type: 'message', role: 'assistant' }
    const use = { type: 'tool_use', ...CALLS[1] }
    const said = { type: 'text', text: 'Done.' }
    const answers = [
      { ...message, content: [search, use], stop_reason: 'tool_use' },
      { ...message, content: [found, said], stop_reason: 'end_turn' },
    ]
    const { text, steps } = await run({ ...ANTHROPIC, answers }, { provider: true, above: 0 })
    expect(text).toBe('Done.')
    expect(steps[1]?.content.map(({ type }) => type)).toEqual(['tool-result', 'text'])
  })

  it('does not make the context untrusted, because it finds tools of the application', async () => {
    const message = { ...about, type: 'message', role: 'assistant', stop_reason: 'tool_use' }
    const [, list] = CALLS
    const act = { id: 'c4', name: 'shop_delete_photo', input: { id: 'x' } }
    const said = { type: 'text', text: 'Done.' }
    const answers = [
      { ...message, content: [...ANTHROPIC.found, { type: 'tool_use', ...list }] },
      { ...message, content: [{ type: 'tool_use', ...act }] },
      { ...message, content: [said], stop_reason: 'end_turn' },
    ]
    const toolSearch = { provider: true, above: 0 }
    const tools = { crm_list_people: { readOnly: true, openWorld: false } }
    const { text } = await run({ ...ANTHROPIC, answers }, toolSearch, { mode: 'track', tools })
    expect(text).toBe('Done.')
    expect(called.at(-1)).toEqual(['shop_delete_photo', 'x'])
  })

  it('changes nothing below its limit, and adds no search tool there', async () => {
    const answers = ANTHROPIC.answers().slice(1)
    const { sent, steps } = await run({ ...ANTHROPIC, answers }, { provider: true })
    expect(sent[0]?.tools).toMatchObject(Object.keys(tools).map((name) => ({ name })))
    expect(JSON.stringify(sent)).not.toContain('defer_loading')
    // A tool that the provider does not know would be an example.
    expect(steps[0]?.warnings ?? []).toEqual([])
  })

  it('rejects a model whose provider does not search, and a ranking', async () => {
    const refs = byReference({ toolSearch: { provider: true, above: 0 } })
    const model = refs.model(scriptedModel(['Fine.']))
    await expect(generateText({ model, tools: refs.tools(tools), prompt: 'Go' })).rejects.toThrow(
      'toolSearch.provider needs a model of anthropic.messages or openai.responses',
    )
    expect(() => byReference({ toolSearch: { provider: true, rank: () => [] } })).toThrow('"rank"')
  })
})
