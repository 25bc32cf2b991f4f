import { afterEach, describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { RunResult } from '../engine/output/run-output.ts'
import {
  type ProviderAnswer,
  type ProviderServer,
  providerServer,
} from './fixtures/provider-server.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
  modelNamed,
} from './model-from-environment.ts'

const open: ProviderServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

async function provider(answers: ProviderAnswer[]): Promise<ProviderServer> {
  const server = await providerServer(answers)
  open.push(server)
  return server
}

const add = defineTool({
  id: 'add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => ({ total: Number(a) + Number(b) }),
})

/** Asks a question. The fixture answers with a call of `add` and then with text. */
async function ask(
  env: Record<string, string>,
): Promise<{ result: RunResult; events: ConversationEvent[] }> {
  const model = await modelFromEnvironment(env)
  if (!model) throw new Error('The environment names no model')
  const agent = createAgent({ model, tools: [add], retry: { retryDelayMs: 1 } })
  const run = agent.run({ messages: [{ role: 'user', content: 'What is 2 + 3?' }] })
  const events: ConversationEvent[] = []
  for await (const event of run) events.push(event)
  return { result: await run.result, events }
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'local',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const call = (part: object): object => chunk({ tool_calls: [{ index: 0, ...part }] })

const compatibleCall: ProviderAnswer = {
  events: [
    call({ id: 'call_0', type: 'function', function: { name: 'add', arguments: '' } }),
    call({ function: { arguments: '{"a"' } }),
    call({ function: { arguments: ': 2, "b' } }),
    call({ function: { arguments: '": 3}' } }),
    chunk({}, 'tool_calls'),
    {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 },
    },
    '[DONE]',
  ],
}
const compatibleText: ProviderAnswer = {
  events: [
    chunk({ role: 'assistant', content: 'It ' }),
    chunk({ content: 'is 5.' }),
    chunk({}, 'stop'),
    '[DONE]',
  ],
}

const responsesCall: ProviderAnswer = {
  events: [
    { type: 'response.created', response: { id: 'r1', created_at: 1, model: 'gpt-5-mini' } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: {
        type: 'function_call',
        id: 'fc1',
        call_id: 'call_1',
        name: 'add',
        arguments: '',
        status: 'in_progress',
      },
    },
    {
      type: 'response.function_call_arguments.delta',
      item_id: 'fc1',
      output_index: 0,
      delta: '{"a": 2,',
    },
    {
      type: 'response.function_call_arguments.delta',
      item_id: 'fc1',
      output_index: 0,
      delta: ' "b": 3}',
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: {
        type: 'function_call',
        id: 'fc1',
        call_id: 'call_1',
        name: 'add',
        arguments: '{"a": 2, "b": 3}',
        status: 'completed',
      },
    },
    { type: 'response.completed', response: { usage: { input_tokens: 30, output_tokens: 5 } } },
  ],
}
const responsesText: ProviderAnswer = {
  events: [
    { type: 'response.created', response: { id: 'r2', created_at: 1, model: 'gpt-5-mini' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm1' } },
    { type: 'response.output_text.delta', item_id: 'm1', delta: 'It is 5.' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'm1' } },
    { type: 'response.completed', response: { usage: { input_tokens: 40, output_tokens: 4 } } },
  ],
}

const anthropicStart = {
  type: 'message_start',
  message: {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 30, output_tokens: 1 },
  },
}
const anthropicEnd = (reason: string): object[] => [
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
]
const anthropicCall: ProviderAnswer = {
  events: [
    anthropicStart,
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'add', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"a": 2' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: ', "b": 3}' },
    },
    ...anthropicEnd('tool_use'),
  ],
}
const anthropicText: ProviderAnswer = {
  events: [
    anthropicStart,
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It is 5.' } },
    ...anthropicEnd('end_turn'),
  ],
}

const googleAnswer = (part: object): ProviderAnswer => ({
  events: [
    {
      candidates: [{ content: { parts: [part], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 5, totalTokenCount: 35 },
    },
  ],
})

describe('modelFromEnvironment', () => {
  const cases = [
    {
      name: 'any compatible server',
      answers: [compatibleCall, compatibleText],
      env: (url: string) => ({ OPENAI_BASE_URL: `${url}/v1`, BYREF_MODEL: 'local' }),
      path: '/v1/chat/completions',
    },
    {
      name: 'OpenAI',
      answers: [responsesCall, responsesText],
      env: (url: string) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-test' }),
      path: '/v1/responses',
    },
    {
      name: 'Anthropic',
      answers: [anthropicCall, anthropicText],
      env: (url: string) => ({ ANTHROPIC_BASE_URL: `${url}/v1`, ANTHROPIC_API_KEY: 'sk-test' }),
      path: '/v1/messages',
    },
    {
      name: 'Google',
      answers: [
        googleAnswer({
          functionCall: { name: 'add', args: { a: 2, b: 3 } },
          thoughtSignature: 'signed',
        }),
        googleAnswer({ text: 'It is 5.' }),
      ],
      env: (url: string) => ({
        GOOGLE_GENERATIVE_AI_BASE_URL: url,
        GOOGLE_GENERATIVE_AI_API_KEY: 'test',
      }),
      path: '/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    },
  ]

  it.each(cases)('answers through $name, with calls', async ({ answers, env, path }) => {
    const server = await provider(answers)
    const { result, events } = await ask(env(server.url))
    expect(result).toMatchObject({ text: 'It is 5.', reason: 'done' })
    expect(result.usage.inputTokens).toBeGreaterThan(0)
    const calls = events.filter((event) => event.type === 'TOOL_CALL_END')
    expect(calls.map(({ call: made }) => made)).toMatchObject([
      { name: 'add', arguments: { a: 2, b: 3 } },
    ])
    expect(server.requests.map((request) => request.path)).toEqual([path, path])
    const [first, second] = server.requests.map((request) => JSON.stringify(request.body))
    expect(first).toContain('What is 2 + 3?')
    expect(first).not.toContain('total')
    expect(second).toMatch(/total\\*"?:\s*5/)
  })

  it('sends a provider’s own data back with its call', async () => {
    const google = cases[3]
    const server = await provider(google?.answers ?? [])
    await ask(google?.env(server.url) ?? {})
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"thoughtSignature":"signed"')
  })

  it('gives unique ids to calls of a server that reuses ids', async () => {
    const server = await provider([compatibleCall, compatibleCall, compatibleText])
    const { events } = await ask({ OPENAI_BASE_URL: `${server.url}/v1`, BYREF_MODEL: 'local' })
    const ids = events.flatMap((event) =>
      event.type === 'TOOL_CALL_END' ? [event.toolCallId] : [],
    )
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
  })

  it('retries temporary failures, but not partial answers', async () => {
    const busy = { status: 503, body: { error: { message: 'overloaded' } } }
    const server = await provider([busy, busy, compatibleText])
    const env = { OPENAI_BASE_URL: `${server.url}/v1`, BYREF_MODEL: 'local' }
    expect((await ask(env)).result.text).toBe('It is 5.')
    expect(server.requests).toHaveLength(3)

    const broken = await provider([{ events: [chunk({ content: 'It is' })], cut: true }])
    const failed = ask({ OPENAI_BASE_URL: `${broken.url}/v1`, BYREF_MODEL: 'local' })
    await expect(failed).rejects.toMatchObject({ code: 'model_failed' })
    expect(broken.requests).toHaveLength(1)
  })

  it('names the provider whose key was rejected', async () => {
    const server = await provider([
      { status: 401, body: { error: { message: 'Incorrect API key' } } },
    ])
    const failed = ask({ OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'sk-wrong' })
    await expect(failed).rejects.toMatchObject({ code: 'model_unauthorized' })
    await expect(failed).rejects.toThrow(
      /openai\.responses \(gpt-5-mini\) rejected the API key \(401.*Check the key/,
    )
    expect(server.requests).toHaveLength(1)
  })

  it('selects nothing without a key, and a model by its name', async () => {
    expect(await modelFromEnvironment({})).toBeNull()
    const named = await modelFromEnvironment({ ANTHROPIC_API_KEY: 'k', BYREF_MODEL: 'claude-x' })
    expect([named?.provider, named?.modelId]).toEqual(['anthropic.messages', 'claude-x'])
  })

  it('rejects a base URL without a model', async () => {
    const failed = modelFromEnvironment({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })
    await expect(failed).rejects.toMatchObject({ code: 'config_invalid' })
  })
})

describe('modelNamed', () => {
  const keys = {
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    GOOGLE_GENERATIVE_AI_API_KEY: 'k',
    BYREF_MODEL: 'another',
  }

  it.each([
    ['openai/gpt-5-mini', {}, 'openai.responses', 'gpt-5-mini'],
    ['anthropic/claude-x', {}, 'anthropic.messages', 'claude-x'],
    ['google/gemini-x', {}, 'google.generative-ai', 'gemini-x'],
    [
      'google/x/y',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1' },
      'openai-compatible.chat',
      'google/x/y',
    ],
  ])('selects %s among all keys', async (name, more, provider, modelId) => {
    const model = await modelNamed(name, { ...keys, ...more })
    expect([model.provider, model.modelId]).toEqual([provider, modelId])
  })

  it('names the variable to set', async () => {
    await expect(modelNamed('google/gemini-x', { OPENAI_API_KEY: 'k' })).rejects.toThrow(
      'The model google/gemini-x needs a key. Set GOOGLE_GENERATIVE_AI_API_KEY.',
    )
    for (const name of ['gpt-5-mini', 'openai/', 'mistral/large', '/x', '']) {
      await expect(modelNamed(name, keys)).rejects.toThrow(/^Unknown model ".*OPENAI_BASE_URL/)
    }
  })
})

describe('capabilitiesFromEnvironment', () => {
  it('reads the types that the model accepts', () => {
    const read = (takes?: string) => capabilitiesFromEnvironment({ BYREF_MODEL_TAKES: takes })
    expect(read('image/*, Application/PDF,')).toEqual({ takes: ['image/*', 'application/pdf'] })
    expect([read(), read(' ')]).toEqual([{}, {}])
    expect(() => read('image/png,pictures')).toThrow(/"pictures" in BYREF_MODEL_TAKES/)
  })
})
