import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalPart } from './canonical-part.ts'
import { readParts } from './message-parts.ts'

const bytes = new Uint8Array([1, 2, 3])

describe('canonicalPart', () => {
  it.each<[string, unknown, unknown]>([
    ['text', { type: 'input_text', text: 'a', x: 1 }, { type: 'text', text: 'a', x: 1 }],
    ['a bare string', 'a', { type: 'text', text: 'a' }],
    [
      'BA: image_url',
      { type: 'image_url', image_url: { url: 'asset://a', detail: 'low', own: 1 }, own: 2 },
      { type: 'image_url', image_url: { url: 'asset://a', detail: 'low', own: 1 }, own: 2 },
    ],
    [
      'Mistral: image_url as text',
      { type: 'image_url', image_url: 'https://x.example/a.png' },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
    ],
    [
      'Responses: input_image',
      { type: 'input_image', image_url: 'data:image/png;base64,AQID', detail: 'high' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID', detail: 'high' } },
    ],
    [
      'OpenAI: input_audio',
      { type: 'input_audio', input_audio: { data: 'AQID', format: 'mp3' } },
      {
        type: 'input_audio',
        input_audio: { url: { mimeType: 'audio/mp3', dataBase64: 'AQID' }, format: 'mp3' },
      },
    ],
    [
      'OpenAI: file',
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AQID', filename: 'a.pdf' } },
      {
        type: 'file',
        file: {
          url: { dataUrl: 'data:application/pdf;base64,AQID', fileName: 'a.pdf' },
          filename: 'a.pdf',
        },
      },
    ],
    [
      'AI SDK: image as bytes',
      { type: 'image', image: bytes, mediaType: 'image/png' },
      { type: 'image_url', image_url: { url: { mimeType: 'image/png', dataBase64: bytes } } },
    ],
    [
      'AI SDK: image as bytes of no type',
      { type: 'image', image: bytes },
      { type: 'image_url', image_url: { url: bytes } },
    ],
    [
      'AI SDK: image as URL',
      { type: 'image', image: new URL('https://x.example/a.png') },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
    ],
    [
      'AI SDK: file as base64',
      {
        type: 'file',
        data: 'AQID',
        mediaType: 'application/pdf',
        filename: 'a.pdf',
        providerOptions: {},
      },
      {
        type: 'file',
        file: {
          url: { mimeType: 'application/pdf', dataBase64: 'AQID', fileName: 'a.pdf' },
          filename: 'a.pdf',
        },
        providerOptions: {},
      },
    ],
    [
      'AI SDK: file of an image, tagged',
      {
        type: 'file',
        data: { type: 'url', url: new URL('https://x.example/a') },
        mediaType: 'image/png',
      },
      { type: 'image_url', image_url: { url: 'https://x.example/a', mimeType: 'image/png' } },
    ],
    [
      'AI SDK: UI message',
      { type: 'file', url: 'https://x.example/a.mp4', mediaType: 'video/mp4' },
      { type: 'file', file: { url: 'https://x.example/a.mp4', mimeType: 'video/mp4' } },
    ],
    [
      'Anthropic: document',
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'AQID' },
        title: 'A',
      },
      {
        type: 'file',
        file: {
          url: { mimeType: 'application/pdf', dataBase64: 'AQID', fileName: 'A' },
          filename: 'A',
        },
      },
    ],
    [
      'Anthropic: image by URL',
      { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
    ],
    [
      'Anthropic: document of text',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Abcd é' } },
      { type: 'file', file: { url: 'data:text/plain,Abcd%20%C3%A9', mimeType: 'text/plain' } },
    ],
    [
      'Anthropic: document of blocks',
      {
        type: 'document',
        source: { type: 'content', content: ['a', 'b'].map((text) => ({ type: 'text', text })) },
      },
      { type: 'file', file: { url: 'data:text/plain,a%0Ab' } },
    ],
    [
      'MCP: resource of text',
      { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '#' } },
      { type: 'file', file: { url: 'data:text/markdown,%23', mimeType: 'text/markdown' } },
    ],
    [
      'AI SDK: file of text, tagged',
      { type: 'file', data: { type: 'text', text: 'a, b' }, mediaType: 'text/csv' },
      { type: 'file', file: { url: 'data:text/csv,a%2C%20b', mimeType: 'text/csv' } },
    ],
    [
      'Google: inlineData',
      { inlineData: { mimeType: 'audio/wav', data: 'AQID' } },
      { type: 'input_audio', input_audio: { url: { mimeType: 'audio/wav', dataBase64: 'AQID' } } },
    ],
    ['anything else', { type: 'tool-call', x: 1 }, { type: 'tool-call', x: 1 }],
  ])('takes %s', (_name, given, stored) => {
    expect(canonicalPart(given)).toEqual(stored)
    const again = canonicalPart(stored)
    if (!/dataBase64|dataUrl/.test(JSON.stringify(stored))) expect(again).toEqual(stored)
  })
})

describe('readParts', () => {
  it('reads text, references and URLs in their order', () => {
    const parts = [
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: 'ASSET://pic', detail: 'low' } },
      { type: 'input_audio', input_audio: { url: 'asset://song', format: 'mp3' } },
      {
        type: 'file',
        file: { url: 'https://x.example/a.pdf', filename: 'a.pdf', mimeType: 'application/pdf' },
      },
      {
        type: 'file',
        file: { url: { assetRef: 'asset://clip', mimeType: 'video/mp4', kind: 'video' } },
      },
      { type: 'image', image: { asset_id: 'box', field_path: ['content', 0] } },
    ]
    expect(readParts(parts)).toEqual([
      { type: 'text', text: 'Look:' },
      { type: 'media', kind: 'image', ref: 'asset://pic', mimeType: 'image/*', detail: 'low' },
      { type: 'media', kind: 'audio', ref: 'asset://song', mimeType: 'audio/mpeg', format: 'mp3' },
      {
        type: 'media',
        kind: 'file',
        ref: 'https://x.example/a.pdf',
        mimeType: 'application/pdf',
        fileName: 'a.pdf',
      },
      { type: 'media', kind: 'video', ref: 'asset://clip', mimeType: 'video/mp4' },
      { type: 'media', kind: 'image', ref: 'asset://box/content/0', mimeType: 'image/*' },
    ])
  })

  it('reports what it cannot read, without the body', () => {
    const parts = [
      { type: 'x' },
      null,
      7,
      { type: 'image_url' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(1000)}` } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'input_image', file_id: 'file-2' },
      { type: 'file', data: { type: 'reference', reference: { openai: 'file-3' } } },
      {
        type: 'image_url',
        image_url: { url: { assetError: { code: 'x', message: 'bad base64' } } },
      },
      { type: 'text' },
    ]
    expect(readParts(parts)).toEqual(
      [
        '[part of unknown type "x"]',
        '[part that is null]',
        '[part that is number]',
        '[image part without a reference]',
        '[image part without a reference]',
        '[file that only its provider can read: file-1]',
        '[image that only its provider can read: file-2]',
        '[file that only its provider can read: file-3]',
        '[image that could not be read: bad base64]',
        '[text part without text]',
      ].map((text) => ({ type: 'text', text })),
    )
  })

  it('accepts a type that cannot become text', () => {
    const parts = [{ type: { toString: {} } }, { type: { toString: null }, text: 'x' }]
    expect(readParts(parts)).toEqual(
      parts.map(({ type }) => ({
        type: 'text',
        text: `[part of unknown type ${JSON.stringify(type)}]`,
      })),
    )
  })

  it('accepts any value', () => {
    const types = fc.constantFrom(
      'image_url',
      'file',
      'image',
      'text',
      'input_audio',
      'document',
      '__proto__',
    )
    const part = fc.dictionary(
      fc.constantFrom('type', 'image_url', 'file', 'url', 'data', 'source', 'image', 'mediaType'),
      fc.oneof(fc.anything(), types),
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.anything())), (parts) => {
        const read = readParts(parts)
        expect(read.length).toBe(parts.length)
        expect(read.every(({ type }) => type === 'text' || type === 'media')).toBe(true)
      }),
    )
  })
})
