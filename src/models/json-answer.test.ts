import { createOpenAI } from '@ai-sdk/openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { request } from '../agent/request/request.ts'
import { outputJsonSchema, readOutput } from '../engine/output/output-schema.ts'
import { type ProviderServer, providerServer } from './fixtures/provider-server.ts'
import { answerSchema, answerValue, jsonAnswer } from './json-answer.ts'

const open: ProviderServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'local',
  choices: [{ index: 0, delta, finish_reason }],
})

/** The request of OpenAI's package for an answer by this schema. */
async function sent(
  schema: z.ZodType,
  answer: unknown = { n: 1 },
  expected = answer,
): Promise<Record<string, unknown>> {
  const events = [chunk({ content: JSON.stringify(answer) }), chunk({}, 'stop'), '[DONE]']
  const server = await providerServer([{ events }])
  open.push(server)
  const model = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: 'k' }).chat('gpt-5-mini')
  const { output } = await request({ model }, schema, [{ type: 'text', text: 'x' }])
  expect(output).toEqual(expected)
  const format = Object(server.requests[0]?.body.response_format)
  expect(format.type).toBe('json_schema')
  return format.json_schema
}

describe('jsonAnswer', () => {
  it('gives OpenAI a schema that its strict mode accepts', async () => {
    expect(await sent(z.object({ n: z.number() }))).toMatchObject({
      strict: true,
      schema: { required: ['n'], additionalProperties: false },
    })
  })

  it('does not use the strict mode if a property is optional', async () => {
    expect(await sent(z.object({ n: z.number(), m: z.number().optional() }))).toMatchObject({
      strict: false,
      schema: { required: ['n'] },
    })
  })

  const text = z.string()
  const pair = z.discriminatedUnion('k', [
    z.object({ k: z.literal('a'), x: text }),
    z.object({ k: z.literal('b'), y: text }),
  ])
  it.each<[string, boolean, z.ZodType]>([
    ['a list of closed objects', true, z.array(z.object({ id: z.uuid(), n: z.int().min(1) }))],
    ['a union', true, z.union([z.object({ a: text }), z.null()])],
    ['a property with the name of a keyword', true, z.object({ not: text, default: text })],
    ['a value or null', true, z.unknown().meta({ type: ['number', 'null'] })],
    ['several types', false, z.unknown().meta({ type: ['number', 'string'] })],
    ['a discriminated union', false, pair],
    ['a URL', false, z.url()],
    ['a pattern that looks around', false, text.regex(/^(?!x)/)],
    ['a tuple', false, z.tuple([text, text])],
    ['a record', false, z.record(text, text)],
    ['a default', false, z.object({ a: text.default('x') }).required()],
  ])('knows whether the strict mode accepts %s', (_, isStrict, value) => {
    const { providerOptions } = jsonAnswer(outputJsonSchema(z.object({ value })), {})
    expect(providerOptions?.openai).toEqual(isStrict ? undefined : { strictJsonSchema: false })
  })

  it('closes no object that must fit several schemas', () => {
    const part = (name: string) => ({ type: 'object', properties: { [name]: {} } })
    const schema = { type: 'object', properties: { v: { allOf: [part('a'), part('b')] } } }
    expect(jsonAnswer(schema, {}).responseFormat).toEqual({
      type: 'json',
      schema: { additionalProperties: false, ...schema },
    })
    for (const both of [
      { ...part('a'), anyOf: [part('b'), {}] },
      { ...part('a'), oneOf: [] },
    ]) {
      const closed = jsonAnswer({ type: 'object', properties: { both } }, {}).responseFormat
      const { properties } = Object(Object(closed).schema)
      expect(properties.both).toMatchObject({ properties: { a: {} } })
      expect(properties.both).not.toHaveProperty('additionalProperties')
    }
  })

  it('asks OpenAI for an object if the output is none, and returns the value in it', async () => {
    const list = z.array(z.number())
    expect(await sent(list, { answer: [1, 2] }, [1, 2])).toMatchObject({
      strict: true,
      schema: { type: 'object', properties: { answer: { type: 'array' } }, required: ['answer'] },
    })
    await sent(list, [1, 2])
    await sent(z.union([z.object({ a: z.number() }), z.null()]), { answer: null }, null)
    const tree: z.ZodType = z.array(z.lazy(() => tree))
    expect(await sent(tree, { answer: [[], [[]]] }, [[], [[]]])).toMatchObject({
      schema: {
        properties: { answer: { $ref: '#/$defs/output' } },
        $defs: { output: { type: 'array', items: { $ref: '#/$defs/output' } } },
      },
    })
  })

  it('asks for an object around one with alternatives, which OpenAI rejects at the root', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    }
    expect(answerSchema(schema)).toMatchObject({ properties: { answer: schema } })
    expect(answerValue({ answer: { a: 'x' } }, schema)).toEqual({ a: 'x' })
    expect(readOutput('{"answer":{"a":"x"}}', schema)).toEqual({ value: { a: 'x' } })
    expect(readOutput('{"a":"x"}', schema)).toEqual({ value: { a: 'x' } })
  })

  it('recognizes objects that may be null', () => {
    const item = { type: ['object', 'null'], properties: { m: { type: 'number' } } }
    const schema = { type: 'object', properties: { item }, required: ['item'] }
    expect(jsonAnswer(schema, {})).toMatchObject({
      responseFormat: { schema: { properties: { item: { additionalProperties: false } } } },
      providerOptions: { openai: { strictJsonSchema: false } },
    })
  })

  it('keeps options of the caller, and objects that are open on purpose', () => {
    const schema = { type: 'object', properties: { a: {} }, additionalProperties: true }
    const providerOptions = { openai: { user: 'me' }, azure: { b: 1 }, xai: { a: 1 } }
    expect(jsonAnswer(schema, { providerOptions })).toMatchObject({
      responseFormat: { schema: { additionalProperties: true } },
      providerOptions: {
        openai: { user: 'me', strictJsonSchema: false },
        azure: { b: 1, strictJsonSchema: false },
        xai: { a: 1 },
      },
    })
  })
})
