import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createAgent } from '../../agent/agent.ts'
import { eventsOf, prompts, say } from '../../agent/fixtures/agent.ts'
import { request } from '../../agent/request/request.ts'
import { defineTool } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import type { LanguageModel, ModelStreamPart } from '../../models/language-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const Verdict = z.object({ spam: z.boolean(), why: z.string().default('no reason') })
const NOTHING = { type: 'object', properties: {} }
const JSON_SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }

describe('run({ output })', () => {
  it('returns the answer in the form of the schema, with its type', async () => {
    const model = scriptedModel(['{"spam":true}'])
    const run = createAgent({ model }).run({ messages: say('judge'), output: Verdict })
    const { output, text } = await run.result
    expectTypeOf(output).toEqualTypeOf<{ spam: boolean; why: string }>()
    expect(output).toEqual({ spam: true, why: 'no reason' })
    expect(text).toBe('{"spam":true}')
    expect(model.requests[0]?.responseFormat).toMatchObject({
      type: 'json',
      schema: { type: 'object', properties: { spam: { type: 'boolean' } }, required: ['spam'] },
    })
    expect(prompts(model)[0]).toContain('fits this JSON Schema')
  })

  it('does not send a schema beside tools to models that reject both', async () => {
    const look = defineTool({
      id: 'look',
      description: 'Looks',
      inputSchema: NOTHING,
      execute: () => 1,
    })
    const formats = async (name: string, tools: (typeof look)[]) => {
      const [provider = '', modelId = ''] = name.split('/')
      const model = { ...scriptedModel(['{"spam":true}']), provider, modelId }
      const run = createAgent({ model, tools }).run({ messages: say('judge'), output: Verdict })
      expect((await run.result).output).toMatchObject({ spam: true })
      expect(prompts(model)[0]).toContain('fits this JSON Schema')
      return model.requests.map(({ responseFormat }) => responseFormat?.type)
    }
    expect(await formats('google.generative-ai/gemini-2.5-flash', [look])).toEqual([undefined])
    expect(await formats('groq.chat/llama-3.3-70b-versatile', [look])).toEqual([undefined])
    expect(await formats('groq.chat/llama-3.3-70b-versatile', [])).toEqual(['json'])
    expect(await formats('google.generative-ai/gemma-3-27b-it', [look])).toEqual([undefined])
    expect(await formats('ollama.chat/gemma3', [look])).toEqual(['json'])
    expect(await formats('google.generative-ai/gemini-3-pro-preview', [look])).toEqual(['json'])
  })

  it('is null if no output was requested', async () => {
    const model = scriptedModel(['{"n":1}'])
    const { output } = await createAgent({ model }).run({ messages: say('x') }).result
    expectTypeOf(output).toEqualTypeOf<unknown>()
    expect(output).toBeNull()
    expect(model.requests[0]?.responseFormat).toBeUndefined()
  })

  it.each([
    ['a fence', 'Here:\n```json\n{"n":1}\n```\nAs asked.'],
    ['the fence that fits', '```js\nf()\n```\n```json\n{"n":1}\n```'],
    ['words around it', 'It is {"n":1}, as asked.'],
  ])('accepts JSON in %s', async (_, text) => {
    const run = createAgent({ model: scriptedModel([text]) }).run({
      messages: say('x'),
      output: JSON_SCHEMA,
    })
    expect((await run.result).output).toEqual({ n: 1 })
  })

  it.each([
    ['a list in a fence', '```json\n[{"n":1}]\n```', { type: 'array' }, [{ n: 1 }]],
    ['a list between words', 'Here: [{"n":1},{"n":2}].', { type: 'array' }, [{ n: 1 }, { n: 2 }]],
    ['the part that fits', 'For example {"x":1}, so {"n":2}.', JSON_SCHEMA, { n: 2 }],
    ['an object after a footnote', 'As in [1]: {"n":3}', JSON_SCHEMA, { n: 3 }],
  ])('accepts %s', async (_, text, output, value) => {
    const run = createAgent({ model: scriptedModel([text]) }).run({ messages: say('x'), output })
    expect((await run.result).output).toEqual(value)
  })

  it.each([
    ['two values in a row', '{"n":1}{"n":2}'],
    ['values in two fences', 'First:\n```json\n{"n":1}\n```\nBetter:\n```json\n{"n":2}\n```'],
  ])('asks again for %s instead of choosing one', async (_, text) => {
    const model = scriptedModel([text, '{"n":2}'])
    const run = createAgent({ model }).run({ messages: say('x'), output: JSON_SCHEMA })
    expect((await run.result).output).toEqual({ n: 2 })
    expect(prompts(model)[1]).toContain('it has 2 different JSON values, not one')
  })

  it('takes the final part of an answer with drafts, as OpenAI marks it', async () => {
    const phased = (id: string, phase: string, delta: string): ModelStreamPart[] => [
      { type: 'text-start', id, providerMetadata: { openai: { itemId: id, phase } } },
      { type: 'text-delta', id, delta },
      { type: 'text-end', id, providerMetadata: { openai: { itemId: id, phase } } },
    ]
    const parts = [
      ...phased('a', 'commentary', '{"n":1}'),
      ...phased('b', 'final_answer', '{"n":2}'),
    ]
    const model = scriptedModel([])
    const doStream = async () => {
      const { stream } = await scriptedModel(['']).doStream({ prompt: [] })
      async function* drafts() {
        yield* parts
        yield* stream
      }
      return { stream: ReadableStream.from(drafts()) }
    }
    const drafting: LanguageModel = { ...model, doStream }
    const run = createAgent({ model: drafting }).run({ messages: say('x'), output: JSON_SCHEMA })
    const { output, text } = await run.result
    expect([output, text]).toEqual([{ n: 2 }, '{"n":1}\n\n{"n":2}'])
    const asked = await request({ model: drafting }, JSON_SCHEMA, say('x'))
    expect([asked.output, asked.tries]).toEqual([{ n: 2 }, 1])
  })

  it('accepts a value that an answer contains twice', async () => {
    const model = scriptedModel(['{"n":1}\n{ "n": 1 }'])
    const run = createAgent({ model }).run({ messages: say('x'), output: JSON_SCHEMA })
    expect((await run.result).output).toEqual({ n: 1 })
  })

  it('does not accept a part of an answer that does not match', async () => {
    const model = scriptedModel(['So: {"n":"one","of":{"n":1}}', '{"n":2}'])
    const run = createAgent({ model }).run({ messages: say('x'), output: JSON_SCHEMA })
    expect((await run.result).output).toEqual({ n: 2 })
  })

  it('asks only once more, also if that step was interrupted', async () => {
    const log = createMemoryLog()
    const asking = createAgent({ model: scriptedModel(['no', 'no']), log })
    const { result } = asking.run({ conversation: 'c', messages: say('x'), output: JSON_SCHEMA })
    await expect(result).rejects.toMatchObject({ code: 'output_invalid' })
    const events = (await log.read('c')).map(({ event }) => event as ConversationEvent)
    const start = events.findIndex((event) => event.type === 'STEP_STARTED' && event.correction)
    const cut = createMemoryLog()
    await cut.append('c', events.slice(0, start + 1))
    const agent = createAgent({ model: scriptedModel(['no', '{"n":1}']), log: cut })
    await expect(agent.resume('c').result).rejects.toMatchObject({ code: 'output_invalid' })
  })

  it('asks once more, and reports the errors', async () => {
    const model = scriptedModel(['{"n":"one"}', '{"n":1}'])
    const log = createMemoryLog()
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('x'), output: JSON_SCHEMA })
    const { output, text } = await run.result
    expect([output, text]).toEqual([{ n: 1 }, '{"n":1}'])
    expect(prompts(model)[1]).toContain('/n must be integer')
    const steps = (await log.read('c')).flatMap(({ event }) =>
      event.type === 'STEP_STARTED' ? [event.correction ?? false] : [],
    )
    expect(steps).toEqual([false, true])
  })

  it('fails the run if the second answer does not match either', async () => {
    const model = scriptedModel(['no', '{"n":1.5}', '{"n":1}'])
    const agent = createAgent({ model })
    const run = agent.run({ conversation: 'c', messages: say('x'), output: JSON_SCHEMA })
    const events = eventsOf(run)
    await expect(run.result).rejects.toMatchObject({ code: 'output_invalid' })
    expect((await events).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'output_invalid' })
    expect(model.requests).toHaveLength(2)
    const again = agent.run({ conversation: 'c', messages: say('x'), output: JSON_SCHEMA })
    expect((await again.result).output).toEqual({ n: 1 })
  })

  it('rejects if the run ended before its answer', async () => {
    const model = scriptedModel([{ calls: [{ name: 'gone', arguments: {} }] }])
    const agent = createAgent({ model, limits: { steps: 1 } })
    const { result } = agent.run({ messages: say('x'), output: JSON_SCHEMA })
    await expect(result).rejects.toThrow(/step_limit/)
  })

  it('rejects what only the library rejects, and requires a valid schema', async () => {
    const agent = createAgent({ model: scriptedModel(['{"n":2}']) })
    const Odd = z.object({ n: z.number() }).refine(({ n }) => n % 2 === 1, { error: 'is even' })
    const run = agent.run({ messages: say('x'), output: Odd })
    await expect(run.result).rejects.toMatchObject({ code: 'output_invalid' })
    for (const output of [{ type: 'number of things' }, 'text', z.custom(() => true)]) {
      const refused = agent.run({ messages: say('x'), output: output as never })
      await expect(refused.result).rejects.toMatchObject({ code: 'config_invalid' })
    }
  })

  it('runs tools before the answer', async () => {
    const now = defineTool({
      id: 'now',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => 12,
    })
    const model = scriptedModel([
      { text: 'not JSON', calls: [{ name: 'now', arguments: {} }] },
      '{"n":12}',
    ])
    const run = createAgent({ model, tools: [now] }).run({
      messages: say('x'),
      output: JSON_SCHEMA,
    })
    expect((await run.result).output).toEqual({ n: 12 })
  })

  it('is stored with a queued run, and can be resumed by another agent at every point', async () => {
    const log = createMemoryLog()
    const first = createAgent({ model: scriptedModel(['bad', '{"n":1}', 'Well', '{"n":2}']), log })
    const one = first.run({ conversation: 'c', messages: say('a'), output: JSON_SCHEMA })
    const two = first.run({ conversation: 'c', messages: say('b'), output: JSON_SCHEMA })
    expect([(await one.result).output, (await two.result).output]).toEqual([{ n: 1 }, { n: 2 }])
    const records = await log.read('c', { limit: 1000 })
    const starts = records.flatMap(({ event }, i) =>
      event.type === 'STEP_FINISHED' ? [i + 1] : [],
    )
    const turns = [['{"n":7}'], [], ['{"n":7}'], []]
    for (const [i, end] of starts.entries()) {
      const other = createMemoryLog()
      const events = records.slice(0, end).map(({ event }) => event)
      await other.append('c', events as ConversationEvent[])
      const model = scriptedModel([...(turns[i] ?? []), 'bad', '{"n":9}'])
      const agent = createAgent({ model, log: other })
      const { output } = await agent.resume('c').result
      expect(output).toEqual(i % 2 === 0 ? { n: 7 } : { n: Math.ceil((i + 1) / 2) })
    }
  })
})

describe('settings', () => {
  it('are those of the run, then those of the agent', async () => {
    const model = scriptedModel(['a', 'b'])
    const settings = { temperature: 0.2, seed: 7, toolChoice: { type: 'auto' } } as const
    const agent = createAgent({ model, settings })
    await agent.run({ messages: say('x') }).result
    const own = { temperature: 0, maxOutputTokens: 5, providerOptions: { openai: { user: 'me' } } }
    await agent.run({ messages: say('x'), settings: own }).result
    const { prompt: _, abortSignal: __, ...given } = model.requests[1] ?? { prompt: [] }
    expect(given).toEqual({ ...own, seed: 7, tools: undefined })
    expect(model.requests[0]).toMatchObject({ temperature: 0.2, seed: 7 })
    // Without tools there is nothing to choose.
    expect(model.requests[0]).not.toHaveProperty('toolChoice')
  })

  it('are stored: those of a run in the log, those of an agent in the debug data', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel(['a']), log, settings: { topP: 0.5 } })
    await agent.run({ conversation: 'c', messages: say('x'), settings: { topK: 3 } }).result
    const events = (await log.read('c')).map(({ event }) => event)
    const started = events.find((event) => event.type === 'RUN_STARTED')
    expect(started).toMatchObject({ overrides: { settings: { topK: 3 } } })
    const kept = await log.debug('c', started?.settings ?? '')
    expect(kept).toMatchObject({ settings: { topP: 0.5 } })
  })

  it.each([
    { heat: 1 },
    { temperature: 'hot' },
    { maxOutputTokens: 0 },
    { stopSequences: 'x' },
    { seed: 1.5 },
    { toolChoice: 'auto' },
  ])('rejects %j', async (settings) => {
    const model = scriptedModel([])
    const make = () => createAgent({ model, settings: settings as never })
    expect(make).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    const { result } = createAgent({ model }).run({
      messages: say('x'),
      settings: settings as never,
    })
    await expect(result).rejects.toMatchObject({ code: 'config_invalid' })
  })
})
