import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { PNG } from '../../assets/fixtures/stores.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { createAgent } from '../agent.ts'
import { request } from './request.ts'

const User = z.object({ name: z.string(), city: z.string() })

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' }, city: { type: 'string' } },
}

/** The example of data-messages.md. */
const MESSAGES: MessageInput[] = [
  { type: 'text', text: "Update the user's city to Austin" },
  {
    type: 'data',
    kind: 'user',
    data: { name: 'John Doe' },
    schema,
    description: 'Represents the current user.',
  },
  { type: 'data', kind: 'user', data: { age: 30 } },
]

/** Returns the texts of a prompt. */
const texts = ({ prompt }: LanguageModelV4CallOptions) =>
  prompt.map(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => Object(part).text).join('|'),
  )

describe('request', () => {
  it('takes a text, a message, or a list of these, as a run does', async () => {
    const model = scriptedModel(() => '{"name":"Ada","city":"Bergen"}')
    const question = { role: 'user', content: 'Who?' }
    for (const messages of ['Who?', question, ['Who?'], [question]]) {
      expect((await request({ model }, User, messages)).output.name).toBe('Ada')
    }
    for (const asked of model.requests) expect(texts(asked).at(-1)).toBe('Who?')
    await expect(request({ model }, User, undefined as never)).rejects.toThrow(
      expect.objectContaining({ code: 'invalid_message' }),
    )
  })

  it('shows the model what data-messages.md shows, and returns a typed answer', async () => {
    const answer = { text: '{"name":"John Doe","city":"Austin"}' }
    const usage = { inputTokens: 10, outputTokens: 5 }
    const model = scriptedModel([{ ...answer, usage }])
    const settings = { temperature: 0 }
    const instructions = 'Be exact.'
    const solution = await request({ model, settings, instructions }, User, MESSAGES)
    expectTypeOf(solution.output).toEqualTypeOf<{ name: string; city: string }>()
    expect(solution).toEqual({
      output: { name: 'John Doe', city: 'Austin' },
      text: answer.text,
      usage,
      tries: 1,
    })
    const [asked] = model.requests
    expect(asked).toMatchObject({ temperature: 0, responseFormat: { type: 'json' } })
    expect(asked?.tools).toBeUndefined()
    const [system, ...rest] = texts(asked as LanguageModelV4CallOptions)
    expect(system).toMatch(/^Be exact\.\n\nYour final answer must be only JSON/)
    expect(rest).toEqual([
      "Update the user's city to Austin",
      `## Data: ¶user\n${JSON.stringify({ name: 'John Doe', age: 30 }, null, 2)}\nRepresents the current user.\nSchema for ¶user:\n${JSON.stringify(schema, null, 2)}`,
    ])
  })

  it('asks once more with the errors, and counts the usage of both', async () => {
    const usage = { inputTokens: 10, outputTokens: 5 }
    const model = scriptedModel([
      { text: '{"name":"John"}', usage },
      { text: '```json\n{"name":"John","city":"Austin"}\n```', usage },
    ])
    const { output, usage: sum, tries } = await request({ model }, User, MESSAGES)
    expect([output, sum, tries]).toEqual([
      { name: 'John', city: 'Austin' },
      { inputTokens: 20, outputTokens: 10 },
      2,
    ])
    const last = texts(model.requests[1] as LanguageModelV4CallOptions)
    expect(last.slice(-2)).toEqual([
      '{"name":"John"}',
      expect.stringMatching(/must have required property 'city'/),
    ])
    expect(last.slice(0, -2)).toEqual(texts(model.requests[0] as LanguageModelV4CallOptions))
  })

  it('asks once more after an answer without text, and sends no blank text', async () => {
    const model = scriptedModel([{ text: '' }, '{"name":"John","city":"Austin"}'])
    expect(await request({ model }, User, MESSAGES)).toMatchObject({ tries: 2 })
    const last = texts(model.requests[1] as LanguageModelV4CallOptions)
    expect(last.at(-2)).toBe('(no answer)')
  })

  it('lets a library check more than JSON Schema can express, and asks again if it fails', async () => {
    const Odd = z.object({ n: z.number() }).refine(({ n }) => n % 2 === 1, { error: 'is even' })
    const model = scriptedModel(['{"n":2}', '{"n":3}'])
    expect((await request({ model }, Odd, MESSAGES)).output).toEqual({ n: 3 })
    expect(texts(model.requests[1] as LanguageModelV4CallOptions).at(-1)).toContain('is even')
  })

  it('rejects if the second answer does not match either', async () => {
    const model = scriptedModel(['no', 'none'])
    const failed = request({ model }, User, MESSAGES)
    await expect(failed).rejects.toMatchObject({ code: 'output_invalid' })
  })

  it('uses the schema of an input message, as a run does', async () => {
    const output = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
    const input = { type: 'input', input: { a: 1, b: 2 }, output } as const
    const asked = await request({ model: scriptedModel(['{"sum":3}']) }, null, [input])
    expect(asked.output).toEqual({ sum: 3 })
    const model = scriptedModel(['three', '{"sum":3}'])
    const agent = createAgent({ model })
    expect((await agent.run({ messages: [input] }).result).output).toEqual({ sum: 3 })
    const none = request({ model }, null, MESSAGES)
    await expect(none).rejects.toMatchObject({ code: 'config_invalid' })
    const odd = { ...input, output: 'number' } as never
    await expect(request({ model }, null, [odd])).rejects.toMatchObject({ code: 'invalid_message' })
  })

  it('shows data whole, and rejects input that violates its schema', async () => {
    const rows = Array.from({ length: 2000 }, (_, n) => ({ n }))
    const model = scriptedModel(['{"name":"a","city":"b"}'])
    await request({ model }, User, [{ type: 'input', input: rows }])
    expect(texts(model.requests[0] as LanguageModelV4CallOptions).join()).toContain('"n": 1999')
    const wrong: MessageInput = { type: 'input', input: { n: 'x' }, schema: { required: ['m'] } }
    await expect(request({ model }, User, [wrong])).rejects.toMatchObject({
      code: 'schema_violation',
    })
  })

  it('marks what was sent with a message', async () => {
    const model = scriptedModel(['{"name":"a","city":"b"}'])
    const attachments = [{ mimeType: 'image/png', dataBase64: PNG.toString('base64') }]
    await request({ model }, User, [{ content: 'Whose?', metadata: { attachments } }])
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('[Attached image: asset_id=')
  })

  it('has one system message, even if several senders have the system role', async () => {
    const model = scriptedModel(['{"name":"a","city":"b"}'])
    const messages: MessageInput[] = [{ role: 'system', content: 'Be brief.' }, ...MESSAGES]
    await request({ model, instructions: 'Be exact.' }, User, messages)
    const prompt = model.requests[0]?.prompt ?? []
    expect(prompt.filter(({ role }) => role === 'system')).toHaveLength(1)
    expect(prompt[0]?.content).toMatch(/^Be exact\.[\s\S]*Be brief\.$/)
  })

  it('rejects unknown options, and stops when its signal is aborted', async () => {
    const model = scriptedModel(['{}'])
    const odd = request({ model, tools: [] } as never, User, MESSAGES)
    await expect(odd).rejects.toMatchObject({ code: 'config_invalid' })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(request({ model, signal }, User, MESSAGES)).rejects.toThrow('enough')
  })
})

describe('request({ instances: true })', () => {
  const comments = (count: number): MessageInput[] =>
    Array.from({ length: count }, (_, i) => ({
      type: 'data',
      kind: 'comment',
      _instance: `c${i}`,
      data: { text: `comment ${i}` },
    }))
  const Verdict = z.object({ spam: z.boolean() })
  const results = (names: number[], spam: unknown = false) =>
    JSON.stringify({ results: names.map((i) => ({ _instance: `c${i}`, output: { spam } })) })
  const all = Array.from({ length: 100 }, (_, i) => i)

  it('answers for 100 instances in one call', async () => {
    const model = scriptedModel([results(all.toReversed())])
    const { output } = await request({ model, instances: true }, Verdict, comments(100))
    expectTypeOf(output).toEqualTypeOf<Record<string, { spam: boolean }>>()
    expect(Object.keys(output)).toEqual(all.map((i) => `c${i}`))
    expect(output.c7).toEqual({ spam: false })
    expect(texts(model.requests[0] as LanguageModelV4CallOptions)).toHaveLength(101)
  })

  it('asks again only for the instances that are missing or invalid', async () => {
    const model = scriptedModel([
      JSON.stringify({
        results: [
          { _instance: 'c0', output: { spam: true } },
          { _instance: 'c1', output: { spam: 'maybe' } },
          { _instance: 'other', output: { spam: true } },
        ],
      }),
      results([1, 2]),
    ])
    const { output, tries } = await request({ model, instances: true }, Verdict, comments(3))
    expect(output).toEqual({ c0: { spam: true }, c1: { spam: false }, c2: { spam: false } })
    expect(tries).toBe(2)
    const complaint = texts(model.requests[1] as LanguageModelV4CallOptions).at(-1)
    expect(complaint).toContain('in "c1": /spam must be boolean')
    expect(complaint).toContain('unknown instance "other"')
    expect(complaint).toContain('"c1", "c2" only')
  })

  it('accepts recursive schemas', async () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree)
      },
    })
    const output = { name: 'a', children: [{ name: 'b', children: [] }] }
    const model = scriptedModel([JSON.stringify({ results: [{ _instance: 'c0', output }] })])
    const solution = await request({ model, instances: true }, Tree, comments(1))
    expect(solution.output).toEqual({ c0: output })
    const shown = JSON.stringify(model.requests[0]?.responseFormat)
    expect(shown).toContain('"$ref":"#/$defs/output')
    expect(shown).not.toContain('"$ref":"#"')
  })

  it('rejects messages without instances, and answers that are not a list', async () => {
    const config = { model: scriptedModel(['{"results":{}}', '[]']), instances: true } as const
    const none = request(config, Verdict, [{ type: 'text', text: 'x' }])
    await expect(none).rejects.toMatchObject({ code: 'invalid_message' })
    const odd = request(config, Verdict, comments(1))
    await expect(odd).rejects.toMatchObject({ code: 'output_invalid' })
  })
})
