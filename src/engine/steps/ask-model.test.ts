import { createAnthropic } from '@ai-sdk/anthropic'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAgent } from '../../agent/agent.ts'
import { eventsOf, say } from '../../agent/fixtures/agent.ts'
import { defineTool } from '../../boundary/tool.ts'
import { providerServer } from '../../models/fixtures/provider-server.ts'
import type { LanguageModel, ModelStreamPart } from '../../models/language-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

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

const counted = {
  inputTokens: { total: 1000, noCache: 1000, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}
const finish = (unified: 'error' | 'other' | 'stop' | 'length', raw?: string): ModelStreamPart => ({
  type: 'finish',
  finishReason: { unified, raw },
  usage: counted,
})
const text = (delta: string): ModelStreamPart => ({ type: 'text-delta', id: 't', delta })
const callOf = (toolCallId: string, input: string): ModelStreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'list',
  input,
})

/** A model that answers with these parts, in order. The last answer is repeated. */
function modelOf(...answers: ModelStreamPart[][]): LanguageModel {
  const doStream = async () => {
    const parts = answers.length > 1 ? answers.shift() : answers[0]
    return { stream: ReadableStream.from(parts ?? []) }
  }
  return { ...scriptedModel([]), doStream } as LanguageModel
}

const list = defineTool({
  id: 'list',
  description: '',
  inputSchema: z.object({}),
  execute: () => 'listed',
})

describe('an invalid answer', () => {
  const retry = { retryDelayMs: 1 }

  it('is requested again if nothing of it arrived, and its tokens count', async () => {
    const answers = [[finish('error', 'MALFORMED')], [finish('other')]]
    const model = modelOf(...answers, [text('Done.'), finish('stop')])
    const run = createAgent({ model, retry }).run({ messages: 'Go' })
    expect(await run.result).toMatchObject({
      text: 'Done.',
      usage: { inputTokens: 3000, outputTokens: 150 },
    })
  })

  it.each([
    ['nothing', [finish('error', 'MALFORMED')], 2000, 'The answer was invalid (MALFORMED)'],
    ['no answer', [finish('other')], 2000, 'The answer was empty'],
    ['a part', [text('So'), finish('error')], 1000, 'The answer was invalid'],
  ])(
    'of which %s arrived ends the run with its reason, and its tokens count',
    async (_, parts, inputTokens, detail) => {
      const agent = createAgent({ model: modelOf(parts), retry: { ...retry, maxRetries: 1 } })
      const run = agent.run({ messages: 'Go' })
      const message = `byref.testing (scripted) failed: ${detail}`
      await expect(run.result).rejects.toMatchObject({ code: 'model_failed', message })
      const ends = (await eventsOf(run)).slice(-2)
      expect(ends).toMatchObject([
        { type: 'STEP_FINISHED', usage: { inputTokens }, finishReason: 'error' },
        { type: 'RUN_ERROR', code: 'model_failed' },
      ])
      expect(await agent.runs()).toMatchObject({ runs: [{ status: 'failed', inputTokens }] })
    },
  )

  it('that has a complete call ends the step, and its tokens count', async () => {
    const model = modelOf([callOf('c', '{}'), finish('error')], [text('Done.'), finish('stop')])
    const { usage, text: answer } = await createAgent({ model, tools: [list] }).run({
      messages: 'Go',
    }).result
    expect({ usage, answer }).toMatchObject({ usage: { inputTokens: 2000 }, answer: 'Done.' })
  })
})

describe('a call that the output limit cuts', () => {
  const cut = [callOf('1', '{}'), callOf('2', '{"text":"a very lo'), finish('length')]

  it('gets an error that says so, and the calls before it run', async () => {
    const model = modelOf(cut, [text('Done.'), finish('stop')])
    const agent = createAgent({ model, tools: [list] })
    const run = agent.run({ conversation: 'c', messages: 'Go' })
    expect(await run.result).toMatchObject({ text: 'Done.', reason: 'done' })
    const results = (await run.messages).flatMap(({ metadata }) => metadata.tool_result ?? [])
    expect(results).toMatchObject([
      { tool_call_id: '1' },
      {
        tool_call_id: '2',
        error: { code: 'invalid_arguments', message: expect.stringContaining('Write less') },
      },
    ])
    expect(results[0]?.error).toBeUndefined()
  })

  it('ends the run the second time', async () => {
    const run = createAgent({ model: modelOf(cut), tools: [list] }).run({ messages: 'Go' })
    expect(await run.result).toMatchObject({ reason: 'length', usage: { inputTokens: 2000 } })
  })

  it.each([
    ['no limit was reached', [callOf('1', '{"text":'), finish('stop')]],
    ['another call follows', [callOf('1', '{"text":'), callOf('2', '{}'), finish('length')]],
  ])('is not one if %s', async (_, parts) => {
    const model = modelOf(parts, [text('Done.'), finish('stop')])
    const run = createAgent({ model, tools: [list] }).run({ messages: 'Go' })
    await run.result
    const [first] = (await run.messages).flatMap(({ metadata }) => metadata.tool_result ?? [])
    expect(first?.error?.message).toBe('The arguments are not a JSON object: {"text":')
  })
})
