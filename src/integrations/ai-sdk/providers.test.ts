import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ProviderAnswer, providerServer } from '../../models/fixtures/provider-server.ts'
import { noisePng } from '../../prompt/fixtures/bodies.ts'
import { byReference } from './by-reference.ts'

type Model = Parameters<ReturnType<typeof byReference>['model']>[0]
type Call = { name: string; input: object } | string

/** The responses of each API: text, or a call. */
interface Provider {
  model(baseURL: string): Model
  answer(call: Call, id: string): object
  takesImages: boolean
}

const key = { apiKey: 'k' }
const about = { id: 'r', model: 'm', created: 1, created_at: 1 }

const chat: Provider['answer'] = (call, id) => {
  const message =
    typeof call === 'string'
      ? { content: call }
      : {
          tool_calls: [
            {
              id,
              type: 'function',
              function: { name: call.name, arguments: JSON.stringify(call.input) },
            },
          ],
        }
  const reason = typeof call === 'string' ? 'stop' : 'tool_calls'
  return {
    ...about,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
  }
}

const PROVIDERS: Record<string, Provider> = {
  'OpenAI, Responses': {
    model: (baseURL) => createOpenAI({ ...key, baseURL }).responses('gpt-5-mini'),
    takesImages: true,
    answer(call, id) {
      const output =
        typeof call === 'string'
          ? {
              type: 'message',
              id: 'm',
              role: 'assistant',
              content: [{ type: 'output_text', text: call, annotations: [] }],
            }
          : {
              type: 'function_call',
              id: `f${id}`,
              call_id: id,
              name: call.name,
              arguments: JSON.stringify(call.input),
            }
      return {
        ...about,
        object: 'response',
        output: [output],
        usage: { input_tokens: 1, output_tokens: 1 },
      }
    },
  },
  'OpenAI, chat': {
    model: (baseURL) => createOpenAI({ ...key, baseURL }).chat('gpt-5-mini'),
    takesImages: true,
    answer: chat,
  },
  Anthropic: {
    model: (baseURL) => createAnthropic({ ...key, baseURL })('claude-sonnet-4-5'),
    takesImages: true,
    answer(call, id) {
      const content =
        typeof call === 'string' ? { type: 'text', text: call } : { type: 'tool_use', id, ...call }
      const stop_reason = typeof call === 'string' ? 'end_turn' : 'tool_use'
      const usage = { input_tokens: 1, output_tokens: 1 }
      return {
        ...about,
        type: 'message',
        role: 'assistant',
        content: [content],
        stop_reason,
        usage,
      }
    },
  },
  Google: {
    model: (baseURL) => createGoogleGenerativeAI({ ...key, baseURL })('gemini-2.5-flash'),
    takesImages: true,
    answer(call) {
      const part =
        typeof call === 'string'
          ? { text: call }
          : { functionCall: { name: call.name, args: call.input } }
      return { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] }
    },
  },
  'a model of Mistral on another server': {
    model: (baseURL) => createOpenAICompatible({ name: 'local', baseURL })('devstral-small'),
    takesImages: false,
    answer: chat,
  },
  'a model that nothing is known of': {
    model: (baseURL) => createOpenAICompatible({ name: 'local', baseURL })('unknown'),
    takesImages: false,
    answer: chat,
  },
}

const large = await noisePng(590)
const small = await noisePng(60)

describe.each(Object.entries(PROVIDERS))('ten pictures, with %s', (name, provider) => {
  // 1 MB only if the size matters. The form of each API is the same for small images.
  const noise = name.includes('chat') || !provider.takesImages ? large : small
  const photos = Array.from({ length: 10 }, (_, i) => Buffer.concat([noise, Buffer.from([i])]))

  it('are sent in a form that the model accepts, once each, and go to a tool by reference', async () => {
    const script: Call[] = [
      { name: 'shoot', input: {} },
      { name: 'measure', input: { image: '†result#1.photos[7].picture', times: 2 } },
      'Done.',
    ]
    const answers = script.map((call, i): ProviderAnswer => {
      return { status: 200, body: provider.answer(call, `call_${i}`) }
    })
    const server = await providerServer(answers)
    const refs = byReference()
    const given: Uint8Array[] = []
    const tools = refs.tools({
      shoot: tool({
        inputSchema: z.object({}),
        execute: () => ({ photos: photos.map((picture, i) => ({ title: `Photo ${i}`, picture })) }),
      }),
      measure: tool({
        inputSchema: z.object({
          image: z.custom<Uint8Array>().meta({ asset_ref_acceptable: true, asset_ref_as: 'bytes' }),
          times: z.number(),
        }),
        execute: ({ image, times }) => {
          given.push(image)
          return image.length * times
        },
      }),
    })
    const { text } = await generateText({
      model: refs.model(provider.model(server.url)),
      tools,
      prompt: 'Go',
      stopWhen: isStepCount(5),
      maxRetries: 0,
    })
    await server.close()
    expect(text).toBe('Done.')
    expect(given.map((image) => Buffer.from(image).equals(photos[7] as Buffer))).toEqual([true])
    const sent = server.requests.map(({ body }) => JSON.stringify(body))
    const pictures = photos.map((one) => one.toString('base64'))
    const counts = sent.map((body) => pictures.map((picture) => body.split(picture).length - 1))
    const each = provider.takesImages ? 1 : 0
    expect(counts).toEqual([0, each, each].map((count) => Array(10).fill(count)))
    if (!provider.takesImages)
      expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(20_000)
    // The name of the result and its note are sent to every model.
    expect(sent[1]).toContain('†result#1')
    // After results, Mistral accepts only an answer.
    if (name.includes('Mistral')) {
      const last = server.requests.at(-1)?.body as { messages: { role: string }[] }
      const roles = last.messages.map(({ role }) => role).join(' ')
      expect(roles).toMatch(/tool assistant user/)
      expect(roles).not.toMatch(/tool user/)
    }
  })
})
