import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import { describe, expect, it } from 'vitest'
import { answerStream } from './answer-stream.ts'
import { streamModel } from './language-model.ts'

describe('streamModel', () => {
  it('calls a model with interface v3 in its own format', async () => {
    let seen: LanguageModelV3CallOptions | null = null
    const model: LanguageModelV3 = {
      specificationVersion: 'v3',
      provider: 'old',
      modelId: 'old',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not used')),
      async doStream(options) {
        seen = options
        return { stream: answerStream({ text: 'Hi' }) as never }
      },
    }
    const bytes = new Uint8Array([1, 2])
    const stream = await streamModel(model, {
      prompt: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
            {
              type: 'file',
              mediaType: 'image/png',
              data: { type: 'url', url: new URL('https://x.example/') },
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'draw',
              output: {
                type: 'content',
                value: [
                  { type: 'text', text: 'drawn' },
                  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
                  {
                    type: 'file',
                    mediaType: 'application/pdf',
                    filename: 'a.pdf',
                    data: { type: 'data', data: 'AQI=' },
                  },
                  {
                    type: 'file',
                    mediaType: 'image/png',
                    data: { type: 'url', url: new URL('https://x.example/') },
                  },
                ],
              },
            },
          ],
        },
      ],
      temperature: 0.5,
    })
    const types = []
    for await (const { type } of stream) types.push(type)
    expect(types).toEqual(['stream-start', 'text-start', 'text-delta', 'text-end', 'finish'])
    expect(seen).toMatchObject({
      temperature: 0.5,
      prompt: [
        { content: [{ type: 'text' }, { data: bytes }, { data: new URL('https://x.example/') }] },
        {
          content: [
            {
              output: {
                value: [
                  { type: 'text', text: 'drawn' },
                  { type: 'image-data', mediaType: 'image/png', data: 'AQI=' },
                  {
                    type: 'file-data',
                    mediaType: 'application/pdf',
                    data: 'AQI=',
                    filename: 'a.pdf',
                  },
                  { type: 'image-url', url: 'https://x.example/' },
                ],
              },
            },
          ],
        },
      ],
    })
  })
})
