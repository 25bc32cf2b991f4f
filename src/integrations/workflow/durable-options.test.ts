import { dynamicTool, isStepCount, jsonSchema, ToolLoopAgent, type ToolSet, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ByrefError } from '../../core/errors.ts'
import { type ScriptedTurn, scriptedModel } from '../../testing/scripted-model.ts'
import { calls } from '../ai-sdk/fixtures/models.ts'
import { type ByReferenceOptions, byReference } from '../ai-sdk/index.ts'
import { durableOptions, type StepRequest } from './index.ts'

const PICTURE = Buffer.alloc(100_000, 250)
PICTURE.set([137, 80, 78, 71, 13, 10, 26, 10])
const none = z.object({})
const image = { mimeType: 'image/png', data: PICTURE.toString('base64') }
const photograph = tool({ description: 'Takes a photo', inputSchema: none, execute: () => image })
const measure = tool({
  inputSchema: z.object({ image: z.string() }),
  execute: ({ image }) => `${Buffer.from(image, 'base64').length} bytes`,
})

/** A step of a runtime: its input and output are stored as text. */
function storing(serve: (request: StepRequest) => Promise<unknown>) {
  const stored: string[] = []
  const across = (value: unknown) => {
    const text = JSON.stringify(value ?? null)
    stored.push(text)
    return JSON.parse(text)
  }
  const step = async (request: StepRequest) =>
    request.type === 'model' ? serve(request) : across(await serve(across(request)))
  return { step, stored }
}

async function play(
  turns: readonly ScriptedTurn[],
  tools: ToolSet,
  options: ByReferenceOptions = {},
) {
  const model = scriptedModel([...turns, 'Done.'])
  const { step, stored } = storing(byReference(options).durable({ model, tools }))
  const made = await durableOptions(step)
  const agent = new ToolLoopAgent({ ...made, stopWhen: isStepCount(9) })
  const result = await agent.stream({ prompt: 'Go' })
  await result.consumeStream()
  const prompt = JSON.stringify(model.requests.at(-1)?.prompt)
  return { model, stored, made, result, prompt, steps: await result.steps }
}

describe('durableOptions', () => {
  it('needs a step', async () => {
    const error = { code: 'config_invalid', message: expect.stringContaining('needs a step') }
    // @ts-expect-error: from JavaScript.
    await expect(durableOptions()).rejects.toMatchObject(error)
  })

  it('sends references through steps, and messages only if an input names a result', async () => {
    const { prompt, stored } = await play(
      [
        calls(['photograph', {}]),
        (request) => {
          const [ref] = /asset:\/\/\w+/.exec(JSON.stringify(request.prompt)) ?? []
          return calls(['measure', { image: ref }])
        },
        calls(['measure', { image: '†result#1' }]),
      ],
      { photograph, measure },
    )
    expect(prompt.match(/100000 bytes/g)).toHaveLength(2)
    expect(stored.join('').length).toBeLessThan(15_000)
    const requests = stored.filter((text) => text.includes('"type":"call"'))
    expect(requests.map((text) => JSON.parse(text).messages.length)).toEqual([0, 0, 2])
  })

  it('checks inputs by the schemas of tools, with their defaults', async () => {
    const given: unknown[] = []
    const asked: unknown[] = []
    const wait = tool({
      inputSchema: z.object({ days: z.number(), unit: z.string().default('day') }),
      needsApproval: (input) => {
        asked.push(input)
        return false
      },
      execute: (input) => given.push(input),
    })
    const { prompt } = await play([calls(['wait', { days: 'many' }], ['wait', { days: 2 }])], {
      wait,
    })
    expect(given).toEqual([{ days: 2, unit: 'day' }])
    expect(asked).toEqual(given)
    expect(prompt).toMatch(/invalid_arguments|expected number/)
  })

  it('passes a signal and the context of a tool on', async () => {
    const given: object[] = []
    const serve = byReference().durable({ model: scriptedModel([]), tools: { measure } })
    const { tools } = await durableOptions(async (request) => {
      if (request.type === 'describe') return serve(request)
      given.push(request)
    })
    const about = { toolCallId: 'c', messages: [] }
    const abortSignal = new AbortController().signal
    await tools.measure.execute({ image: 'a' }, about)
    await tools.measure.execute({ image: 'a' }, { ...about, abortSignal, context: { user: 'u' } })
    const call = { type: 'call', tool: 'measure', input: { image: 'a' }, ...about }
    expect(given).toEqual([call, { ...call, abortSignal, context: { user: 'u' } }])
  })

  it('shows what a tool shows to its model, and stores no value', async () => {
    const shows = tool({
      inputSchema: none,
      execute: () => image,
      toModelOutput: ({ output }) => ({
        type: 'content',
        value: [
          { type: 'text', text: 'A photo' },
          { type: 'file', data: { type: 'data', data: output.data }, mediaType: 'image/png' },
        ],
      }),
    })
    const { prompt, stored } = await play([calls(['shows', {}])], { shows })
    expect(prompt).toMatch(/A photo.*asset:\/\//)
    expect(stored.join('')).not.toContain(image.data.slice(0, 1_000))
  })

  it('yields the last value of a generator', async () => {
    const slowly = tool({
      inputSchema: none,
      async *execute() {
        yield 'half'
        yield 'whole'
      },
    })
    const { steps } = await play([calls(['slowly', {}])], { slowly })
    expect(steps[0]?.toolResults[0]?.output).toBe('whole')
  })

  it('keeps the properties of tools, and leaves some to browsers and providers', async () => {
    const ask = tool({ description: 'Asks', title: 'Ask', inputSchema: none })
    const plain = dynamicTool({
      inputSchema: jsonSchema({ type: 'object', properties: { n: { type: 'number' } } }),
      execute: async () => 'x',
    })
    const search = tool({
      type: 'provider',
      isProviderExecuted: true,
      id: 'openai.web_search',
      args: { searchContextSize: 'low' },
      inputSchema: none,
    })
    const always = tool({ inputSchema: none, needsApproval: true, execute: () => 'x' })
    const tools: ToolSet = { ask, plain, search, always, photograph }
    const { made } = await play([], tools)
    expect(made.tools.ask).toMatchObject({
      description: 'Asks',
      title: 'Ask',
      needsApproval: false,
    })
    expect(made.tools.ask.execute).toBeUndefined()
    expect(made.tools.plain.type).toBe('dynamic')
    const provided = {
      type: 'provider',
      isProviderExecuted: true,
      args: { searchContextSize: 'low' },
    }
    expect(made.tools.search).toMatchObject({ ...provided, id: 'openai.web_search' })
    expect(made.tools.always.needsApproval).toBe(true)
    expect(Object.keys(made.tools)).toEqual(
      expect.arrayContaining([...Object.keys(tools), 'fetch_asset', 'search_asset']),
    )
  })

  it('makes schemas that WorkflowAgent accepts without a warning', async () => {
    const rows = z.array(z.object({ n: z.number().min(3) }))
    const list = tool({
      inputSchema: z.object({
        rows: rows.describe('All'),
        either: z.union([z.string(), z.number()]),
      }),
      execute: () => 'x',
    })
    const { made } = await play([], { list })
    const { jsonSchema: schema } = made.tools.list.inputSchema
    expect(schema.properties.rows).toMatchObject({
      description: 'All',
      anyOf: [{ type: 'array', items: expect.anything() }, { type: 'string' }],
    })
    expect(JSON.stringify(schema)).not.toContain('"type":[')
  })

  it('finds tools by search', async () => {
    const { prompt, model } = await play(
      [
        calls(['search_tools', { query: 'photo' }]),
        calls(['call_tool', { name: 'photograph', arguments: {} }]),
      ],
      { photograph, measure },
      { toolSearch: true },
    )
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['search_tools', 'call_tool'])
    expect(prompt).toMatch(/asset:\/\//)
  })
})

describe('durable', () => {
  const about = { toolCallId: 'c', messages: [] }
  const measuring = { type: 'call', tool: 'measure', ...about } as const

  it('does not let a runtime repeat calls with wrong references', async () => {
    const serve = byReference().durable({ model: scriptedModel([]), tools: { measure } })
    await expect(serve({ ...measuring, input: { image: 'asset://no' } })).rejects.toMatchObject({
      code: 'asset_not_found',
      fatal: true,
    })
    await expect(serve({ ...measuring, tool: 'mesure', input: {} })).rejects.toMatchObject({
      code: 'tool_not_found',
      fatal: true,
    })
  })

  it('lets it repeat calls that failed because of storage, or in the tool', async () => {
    const failing = (error: Error) =>
      tool({
        inputSchema: none,
        execute: (): string => {
          throw error
        },
      })
    const tools = {
      broken: failing(new Error('no film')),
      away: failing(new ByrefError('storage_failed', 'The disk is away')),
    }
    const serve = byReference().durable({ model: scriptedModel([]), tools })
    for (const [name, message] of [
      ['broken', 'no film'],
      ['away', 'The disk is away'],
    ] as const) {
      const error = await serve({ ...measuring, tool: name, input: {} }).catch((error) => error)
      expect(error).toMatchObject({ message })
      expect(error).not.toHaveProperty('fatal')
    }
  })

  it('is rejected with trust', () => {
    const refs = byReference({ trust: 'track' })
    expect(() => refs.durable({ model: scriptedModel([]) })).toThrow(/has no durable/)
  })
})
