import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createMistral } from '@ai-sdk/mistral'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError } from '@ai-sdk/provider'
import { createXai } from '@ai-sdk/xai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ContentCache } from '../../assets/content-access.ts'
import { createAssets } from '../../assets/create-assets.ts'
import { type CapabilityOverrides, capabilitiesOf } from '../../models/capabilities.ts'
import { type ProviderServer, providerServer } from '../../models/fixtures/provider-server.ts'
import { type LanguageModel, streamModel } from '../../models/language-model.ts'
import { fixture, noisePng, pagedPdf, silentWav } from '../fixtures/bodies.ts'
import { WIRES, type WirePart, type WireReader } from '../fixtures/wire.ts'
import { framedPrompt, itemMessages } from '../to-prompt.ts'
import type { MediaPart, TranscriptItem } from '../transcript-item.ts'
import { resolveMedia } from './resolve-media.ts'

interface Provider {
  model(baseURL: string): LanguageModel
  wire: WireReader
  overrides?: CapabilityOverrides
}

const key = { apiKey: 'k' }
const compatible = (baseURL: string) =>
  createOpenAICompatible({ name: 'openai-compatible', baseURL })('qwen3-vl')
const bedrock = (id: string) => (baseURL: string) =>
  createAmazonBedrock({ ...key, baseURL, region: 'eu-west-1' })(id)
const google = (id: string) => (baseURL: string) =>
  createGoogleGenerativeAI({ ...key, baseURL })(id)

const PROVIDERS = {
  openaiChat: {
    model: (baseURL) => createOpenAI({ ...key, baseURL }).chat('gpt-5-mini'),
    wire: WIRES.openaiChat,
  },
  openaiAudio: {
    model: (baseURL) => createOpenAI({ ...key, baseURL }).chat('gpt-audio'),
    wire: WIRES.openaiChat,
  },
  responses: {
    model: (baseURL) => createOpenAI({ ...key, baseURL }).responses('gpt-5-mini'),
    wire: WIRES.openaiResponses,
  },
  anthropic: {
    model: (baseURL) => createAnthropic({ ...key, baseURL })('claude-sonnet-4-5'),
    wire: WIRES.anthropic,
  },
  gemini2: { model: google('gemini-2.5-flash'), wire: WIRES.google },
  gemini3: { model: google('gemini-3-pro-preview'), wire: WIRES.google },
  claudeOnAws: {
    model: bedrock('eu.anthropic.claude-sonnet-4-5-20250929-v1:0'),
    wire: WIRES.bedrock,
  },
  nova: { model: bedrock('amazon.nova-pro-v1:0'), wire: WIRES.bedrock },
  mistral: {
    model: (baseURL) => createMistral({ ...key, baseURL })('mistral-medium-latest'),
    wire: WIRES.mistral,
  },
  xai: { model: (baseURL) => createXai({ ...key, baseURL })('grok-4'), wire: WIRES.xai },
  local: { model: compatible, wire: WIRES.openaiChat },
  localSeeing: {
    model: compatible,
    wire: WIRES.openaiChat,
    overrides: { takes: ['image/*', 'application/pdf'] },
  },
} satisfies Record<string, Provider>
type Name = keyof typeof PROVIDERS
const NAMES = Object.keys(PROVIDERS) as Name[]

const seeing: Name[] = [
  'openaiChat',
  'responses',
  'anthropic',
  'gemini2',
  'gemini3',
  'claudeOnAws',
  'nova',
  'mistral',
  'xai',
  'localSeeing',
]
const reading: Name[] = seeing.filter((name) => name !== 'xai')
const gemini: Name[] = ['gemini2', 'gemini3']
const aws: Name[] = ['claudeOnAws', 'nova']

/**
 * The types that each provider receives unchanged or re-encoded. Other files are sent as text: their content, or a
 * note.
 */
const CASES: Record<string, { sent: Name[]; kind: WirePart['kind']; else: 'text' | 'note' }> = {
  png: { sent: seeing, kind: 'image', else: 'note' },
  jpeg: { sent: seeing, kind: 'image', else: 'note' },
  gif: { sent: seeing, kind: 'image', else: 'note' },
  tiff: { sent: seeing, kind: 'image', else: 'note' },
  svg: { sent: seeing, kind: 'image', else: 'text' },
  image5MB: { sent: seeing, kind: 'image', else: 'note' },
  image30MB: { sent: seeing, kind: 'image', else: 'note' },
  lyingJpeg: { sent: seeing, kind: 'image', else: 'note' },
  lyingText: { sent: [], kind: 'image', else: 'note' },
  truncated: { sent: [], kind: 'image', else: 'note' },
  empty: { sent: [], kind: 'image', else: 'note' },
  brokenPdf: { sent: [], kind: 'document', else: 'note' },
  pdf: { sent: reading, kind: 'document', else: 'text' },
  pdf200: {
    sent: ['openaiChat', 'responses', 'gemini2', 'gemini3', 'mistral', 'localSeeing'],
    kind: 'document',
    else: 'text',
  },
  wav: { sent: ['openaiAudio', ...gemini], kind: 'audio', else: 'note' },
  wav1h: { sent: [], kind: 'audio', else: 'note' },
  mp3: { sent: ['openaiAudio', ...gemini], kind: 'audio', else: 'note' },
  mp4: { sent: [...gemini, 'nova'], kind: 'video', else: 'note' },
  docx: { sent: aws, kind: 'document', else: 'text' },
  text: { sent: [], kind: 'document', else: 'text' },
  csv: { sent: [], kind: 'document', else: 'text' },
}

const assets = createAssets({})
const cache = new ContentCache(512 * 1024 * 1024)
let server: ProviderServer

beforeAll(async () => {
  server = await providerServer([{ status: 400, body: { error: { message: 'seen', type: 'x' } } }])
  const save = (assetId: string, body: Uint8Array | string, mime: string) =>
    assets.save(typeof body === 'string' ? new TextEncoder().encode(body) : body, mime, {
      assetId,
      name: `${assetId}.x`,
    })
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="5" height="5"/></svg>'
  await Promise.all([
    save('png', fixture('sharp.png'), 'image/png'),
    save('jpeg', fixture('sharp.jpg'), 'image/jpeg'),
    save('gif', fixture('sharp.gif'), 'image/gif'),
    save('tiff', fixture('sharp.tiff'), 'image/tiff'),
    save('svg', svg, 'image/svg+xml'),
    save('image5MB', await noisePng(1300), 'image/png'),
    save('image30MB', await noisePng(3200), 'image/png'),
    save('lyingJpeg', fixture('sharp.jpg'), 'image/png'),
    save('lyingText', 'I am no picture.', 'image/png'),
    save('truncated', (await noisePng(64)).slice(0, 6000), 'image/png'),
    save('empty', '', 'image/png'),
    save('brokenPdf', '%PDF-1.4\nnothing follows', 'application/pdf'),
    save('pdf', fixture('gs.pdf'), 'application/pdf'),
    save('pdf200', pagedPdf(200), 'application/pdf'),
    save('wav', silentWav(1, 8000), 'audio/wav'),
    save('wav1h', silentWav(3600, 8000), 'audio/wav'),
    save('mp3', fixture('ffmpeg.mp3'), 'audio/mpeg'),
    save('mp4', fixture('faststart.mp4'), 'video/mp4'),
    save(
      'docx',
      fixture('python.docx'),
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    ),
    save('text', 'Some words.', 'text/plain'),
    save('csv', 'a,b\n1,2\n', 'text/csv'),
  ])
})
afterAll(() => server.close())

/** Returns the parts of the request for the items, as the provider's API reads them. */
async function sent(name: Name, items: TranscriptItem[]): Promise<ReturnType<WireReader>> {
  const { model: modelAt, wire, overrides }: Provider = PROVIDERS[name]
  const model = modelAt(server.url)
  const capabilities = await capabilitiesOf(model, overrides)
  const resolved = await resolveMedia(items, { capabilities, assets, namespace: null, cache })
  const messages = resolved.flatMap((item) => itemMessages(item, capabilities))
  const prompt = framedPrompt(messages, { system: 'Be brief.', capabilities })
  const before = server.requests.length
  // The server rejects every request. A package that rejects one itself throws another error.
  const error = await streamModel(model, { prompt, tools: [draw] }).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(APICallError.isInstance(error), String(error)).toBe(true)
  return wire(server.requests[before]?.body ?? {})
}

const draw = { type: 'function', name: 'draw', inputSchema: { type: 'object' } } as const

function media(ref: string, more: Partial<MediaPart> = {}): MediaPart {
  return {
    type: 'media',
    kind: 'file',
    ref,
    mimeType: 'application/octet-stream',
    fallback: 'note',
    ...more,
  }
}

const user = (...parts: (MediaPart | string)[]): TranscriptItem => ({
  type: 'user',
  parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})

describe.each(NAMES)('what %s is sent', (name) => {
  it.each(Object.keys(CASES))('of an attached %s', async (id) => {
    const expected = CASES[id] as (typeof CASES)[string]
    const { parts } = await sent(name, [user('Look:', media(`asset://${id}`))])
    expect(parts[0]).toEqual({ kind: 'text', body: 'Look:' })
    const part = parts[1] as WirePart
    const taken = expected.sent.includes(name)
    expect(parts).toHaveLength(2)
    expect(part.kind, part.body.slice(0, 200)).toBe(taken ? expected.kind : 'text')
    const how = taken
      ? /^[\w+/:;=,-]+$/
      : expected.else === 'text'
        ? /^\[Text of asset:/
        : /^\[\w+ not shown: asset:/
    expect(part.body.slice(0, 2000)).toMatch(how)
  })

  it('of a URL in a text', async () => {
    const url = 'https://x.example/cat.png'
    const { parts } = await sent(name, [
      user('Look:', media(url, { kind: 'image', mimeType: 'image/*' })),
    ])
    const fetches = seeing.filter((one) => !['claudeOnAws', 'nova', 'localSeeing'].includes(one))
    if (fetches.includes(name)) expect(parts[1]).toEqual({ kind: 'image', body: url })
    else
      expect(parts[1]?.body).toMatch(
        /^\[image not shown: https:.*does not fetch URLs in messages\]$/,
      )
  })

  it.each(['cat.svg', 'cat.tiff'])(
    'of the URL of an image that no model accepts: %s',
    async (file) => {
      const url = `https://x.example/${file}`
      const { parts } = await sent(name, [user(media(url, { kind: 'image', mimeType: 'image/*' }))])
      expect(parts).toEqual([
        { kind: 'text', body: expect.stringMatching(/^\[image not shown: https:/) },
      ])
    },
  )

  it('of media in the result of a tool', async () => {
    const call = { id: 'call1abcd', name: 'draw', arguments: {} }
    const result = { toolCallId: call.id, toolName: call.name, isError: false }
    const bodies = [
      media('asset://png', { fallback: 'type' }),
      media('asset://wav', { fallback: 'type' }),
    ]
    const { parts, inResult } = await sent(name, [
      user('Draw.'),
      { type: 'assistant', parts: [], calls: [call] },
      {
        type: 'results',
        results: [{ ...result, output: { type: 'json', value: { ok: 1 } }, media: bodies }],
      },
    ])
    expect(inResult[0]?.body).toContain('ok')
    const kinds = (list: WirePart[]) =>
      list.map(({ kind }) => kind).filter((kind) => kind !== 'text')
    const within: Name[] = ['responses', 'anthropic', 'gemini3', ...aws]
    expect(kinds(inResult)).toEqual(within.includes(name) ? ['image'] : [])
    const audio = gemini.includes(name) || name === 'openaiAudio' ? ['audio'] : []
    expect(kinds(parts)).toEqual([
      ...(seeing.includes(name) && !within.includes(name) ? ['image'] : []),
      ...audio,
    ])
    if (kinds(parts).length > 0)
      expect(parts[0]?.body).toMatch(/^\[From the result of draw, call call1abcd: asset:/)
  })

  it('of two documents with the same name', async () => {
    const fileName = 'report.pdf'
    await sent(name, [
      user(media('asset://pdf', { fileName }), media('asset://docx', { fileName })),
    ])
    const names = /"document":\{"format":"\w+","name":"([^"]+)"/g
    const body = JSON.stringify(server.requests.at(-1)?.body)
    const found = [...body.matchAll(names)].map(([, found]) => found)
    // Bedrock rejects a request in which two documents have the same name.
    expect(found).toEqual(aws.includes(name) ? ['document-1', 'document-2'] : [])
  })

  it('of references in text', async () => {
    const short = { fallback: 'value' } as const
    const { parts } = await sent(name, [
      user('See', media('asset://png', short), media('asset://text', short)),
    ])
    expect(parts.map(({ kind }) => kind)).toEqual(
      seeing.includes(name) ? ['text', 'text', 'image', 'text'] : ['text', 'text', 'text'],
    )
    expect(parts[1]?.body).toMatch(/^<\|asset:\/\/png\|>:/)
    expect(parts.at(-1)?.body).toBe('<|asset://text|>: Some words.')
  })
})

describe('marks for the prompt cache, on the wire', () => {
  const items = [user('a'), user(media('asset://png'))]
  const MARKS = {
    anthropic: '"cache_control":{"type":"ephemeral"}',
    claudeOnAws: '"cachePoint":{"type":"default"}',
  }

  it.each(Object.entries(MARKS) as [Name, string][])(
    'for %s are placed after the stable part',
    async (name, mark) => {
      await sent(name, items)
      const body = JSON.stringify(server.requests.at(-1)?.body)
      const { system, messages } = JSON.parse(body)
      expect(JSON.stringify(system.at(-1))).toContain(mark)
      expect(JSON.stringify(messages.at(-1).content.at(-1))).toContain(mark)
      expect(JSON.stringify(messages).split(mark)).toHaveLength(2)
    },
  )
})
