import { createOpenAI } from '@ai-sdk/openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { request } from '../agent/request/request.ts'
import { type ProviderServer, providerServer } from './fixtures/provider-server.ts'
import { jsonAnswer } from './json-answer.ts'

const open: ProviderServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'local' },
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
    const providerOptions = { openai: { user: 'me' }, xai: { a: 1 } }
    expect(jsonAnswer(schema, { providerOptions })).toMatchObject({
      responseFormat: { schema: { additionalProperties: true } },
      providerOptions: { openai: { user: 'me', strictJsonSchema: false }, xai: { a: 1 } },
    })
  })
})
