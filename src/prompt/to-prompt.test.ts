import { describe, expect, it } from 'vitest'
import { type CapabilityOverrides, capabilitiesOf } from '../models/capabilities.ts'
import { framedPrompt, itemMessages } from './to-prompt.ts'
import type { AssistantItem, FilePart, ResolvedItem } from './transcript-item.ts'

const of = (provider: string, modelId = 'm', overrides: CapabilityOverrides = {}) =>
  capabilitiesOf({ provider, modelId, supportedUrls: {} }, overrides)
const openai = await of('openai.responses', 'gpt-5')
const claude = await of('anthropic.messages', 'claude-sonnet-4-5')
const nova = await of('amazon-bedrock', 'amazon.nova-pro-v1:0')
const mistral = await of('mistral.chat', 'mistral-medium-latest')

const said = (text: string): ResolvedItem => ({ type: 'user', parts: [{ type: 'text', text }] })
const answer = (text: string): ResolvedItem => ({
  type: 'assistant',
  parts: [{ type: 'text', text }],
  calls: [],
})
const png: FilePart = {
  type: 'file',
  ref: 'asset://pic',
  mediaType: 'image/png',
  detail: 'low',
  data: { type: 'data', data: 'AQID' },
}
const ids = { toolCallId: 'call00001', toolName: 'draw' }
const result = (
  media: readonly (FilePart | { type: 'text'; text: string })[],
  isError = false,
): ResolvedItem => ({
  type: 'results',
  results: [{ ...ids, isError, output: { type: 'json', value: { a: 1 } }, media }],
})

describe('itemMessages', () => {
  it('returns reasoning and calls in the format of their provider', () => {
    const signed = { anthropic: { signature: 's' } }
    const item: ResolvedItem = {
      type: 'assistant',
      parts: [
        { type: 'reasoning', text: '', provider_metadata: signed },
        { type: 'text', text: '' },
        { type: 'text', text: 'Hi' },
      ],
      calls: [{ id: 'call00001', name: 'draw', arguments: { x: 1 }, provider_metadata: signed }],
    }
    expect(itemMessages(item, openai)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', providerOptions: signed },
          { type: 'text', text: 'Hi' },
          { type: 'tool-call', ...ids, input: { x: 1 }, providerOptions: signed },
        ],
      },
    ])
    expect(itemMessages({ type: 'assistant', parts: [], calls: [] }, openai)).toEqual([])
  })

  it('leaves out reasoning that nothing follows', () => {
    const thought = { type: 'reasoning', text: 'Hm.' } as const
    const made = (...parts: AssistantItem['parts']) =>
      itemMessages({ type: 'assistant', parts, calls: [] }, openai)
    expect(made(thought)).toEqual([])
    expect(made(thought, { type: 'text', text: '\n' })).toEqual([])
    const text = { type: 'text', text: 'So' } as const
    const content = [thought, text]
    expect(made(thought, text, thought)).toEqual([{ role: 'assistant', content }])
  })

  it('leaves out blank texts', async () => {
    const calls = [{ id: 'call00001', name: 'draw', arguments: {} }]
    const item: ResolvedItem = { type: 'assistant', parts: [{ type: 'text', text: '\n\n' }], calls }
    expect(itemMessages(item, claude)).toEqual([
      { role: 'assistant', content: [{ type: 'tool-call', ...ids, input: {} }] },
    ])
    expect(itemMessages(answer(' '), claude)).toEqual([])
    const [user] = itemMessages(said(' \n'), claude)
    expect(user?.content).toEqual([{ type: 'text', text: '(empty message)' }])
    const output = { type: 'text', value: '\n' } as const
    const empty = {
      type: 'results' as const,
      results: [{ ...ids, isError: false, output, media: [] }],
    }
    expect(JSON.stringify(itemMessages(empty, nova))).toContain('"value":"(empty result)"')
    expect(framedPrompt([], { system: ' \n', capabilities: claude })).toEqual([])
  })

  it.each([
    ['functions.search', 'functions_search'],
    ['search the web', 'search_the_web'],
    ['', '_'],
    ['поиск', '_'],
    ['x'.repeat(100), 'x'.repeat(64)],
    ['read-file_2', 'read-file_2'],
  ])('sends the name %j of a call as %j', (name, expected) => {
    const names = (item: ResolvedItem) =>
      JSON.stringify(itemMessages(item, openai)).match(/"toolName":"(.*?)"/)?.[1]
    const calls = [{ id: 'call00001', name, arguments: {} }]
    expect(names({ type: 'assistant', parts: [], calls })).toBe(expected)
    const output = { type: 'json', value: 1 } as const
    const given = { toolCallId: 'call00001', toolName: name, isError: false, output, media: [] }
    expect(names({ type: 'results', results: [given] })).toBe(expected)
  })

  const UUID = 'command_7f3a4c1e-0b7d-4a37-9d0e-1c2f3a4b5c6d'
  it.each([
    ['call_abc', 'openai chatgpt claude bedrock none', 'mistral'],
    ['abcDEF123', 'openai chatgpt claude bedrock none mistral', ''],
    ['functions.search:0', 'openai chatgpt none', 'claude bedrock mistral'],
    [UUID, 'openai claude bedrock none', 'chatgpt mistral'],
    ['x'.repeat(70), 'claude none', 'openai chatgpt bedrock mistral'],
  ])('sends the id %s of a call to %s, and a short one to %s', async (id, same, other) => {
    const models: Record<string, Awaited<ReturnType<typeof of>>> = {
      openai,
      claude,
      bedrock: nova,
      mistral,
      chatgpt: await of('openai.chat', 'gpt-5'),
      none: await of('somebody.else'),
    }
    const sent = (model: string) => {
      const calls = [{ id, name: 'draw', arguments: {} }]
      const output = { type: 'json', value: 1 } as const
      const given = { toolCallId: id, toolName: 'draw', isError: false, output, media: [] }
      const items: ResolvedItem[] = [
        { type: 'assistant', parts: [], calls },
        { type: 'results', results: [given] },
      ]
      const prompt = items.flatMap((item) => itemMessages(item, models[model] as typeof openai))
      const found = [...JSON.stringify(prompt).matchAll(/"toolCallId":"(.*?)"/g)].map(
        ([, one]) => one,
      )
      expect(found).toHaveLength(2)
      expect(found[0]).toBe(found[1])
      return found[0]
    }
    for (const model of same.split(' ')) expect(sent(model), model).toBe(id)
    for (const model of other.split(' ').filter(Boolean)) {
      expect(sent(model), model).toMatch(/^[A-Za-z0-9]{9}$/)
    }
  })

  it('puts media into a result if the provider allows it, otherwise after the results', () => {
    const options = { providerOptions: { openai: { imageDetail: 'low' } } }
    const file = { type: 'file', mediaType: 'image/png', data: png.data }
    const note = { type: 'text', text: '[a note]' } as const
    expect(itemMessages(result([png, note]), openai)).toEqual([
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            ...ids,
            output: {
              type: 'content',
              value: [
                { type: 'text', text: '{"a":1}\n[a note]' },
                { ...file, ...options },
              ],
            },
          },
        ],
      },
    ])
    expect(itemMessages(result([png, note]), mistral)).toEqual([
      {
        role: 'tool',
        content: [
          { type: 'tool-result', ...ids, output: { type: 'text', value: '{"a":1}\n[a note]' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[From the result of draw, call call00001: asset://pic]' },
          file,
        ],
      },
    ])
    const [failed, behind] = itemMessages(result([png], true), claude)
    expect(failed).toMatchObject({ content: [{ output: { type: 'error-json', value: { a: 1 } } }] })
    expect(behind?.role).toBe('user')
  })

  it('adds system messages in between if possible, otherwise under a heading', () => {
    const item: ResolvedItem = { type: 'system', text: 'Be quick.' }
    expect(itemMessages(item, openai)).toEqual([{ role: 'system', content: 'Be quick.' }])
    const content = [{ type: 'text', text: '[Message from the system]\nBe quick.' }]
    expect(itemMessages(item, claude)).toEqual([{ role: 'user', content }])
  })

  it('omits details that a provider does not know', () => {
    const item = (detail: string): ResolvedItem => ({ type: 'user', parts: [{ ...png, detail }] })
    expect(JSON.stringify(itemMessages(item('auto'), openai))).toContain('imageDetail')
    expect(JSON.stringify(itemMessages(item('very'), openai))).not.toContain('imageDetail')
    expect(JSON.stringify(itemMessages(item('low'), claude))).not.toContain('imageDetail')
    expect(itemMessages({ type: 'user', parts: [] }, openai)[0]?.content).toEqual([
      { type: 'text', text: '(empty message)' },
    ])
  })
})

describe('framedPrompt', () => {
  const items = [said('a'), answer('b'), said('c'), answer('d'), result([])]

  it('marks what the cache should keep, and never what changes', () => {
    const messages = items.flatMap((item) => itemMessages(item, claude))
    const frame = { system: 'S', capabilities: claude, tail: [said('tail')] }
    const prompt = framedPrompt(messages, frame)
    const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    expect(prompt.map(({ role, providerOptions }) => [role, providerOptions])).toEqual([
      ['system', mark],
      ['user', undefined],
      ['assistant', undefined],
      ['user', mark],
      ['assistant', undefined],
      ['tool', mark],
      ['user', undefined],
    ])
    const point = { bedrock: { cachePoint: { type: 'default' } } }
    const question = itemMessages(said('a'), nova)
    const [system, first] = framedPrompt(question, { system: 'S', capabilities: nova })
    expect([system?.providerOptions, first?.providerOptions]).toEqual([point, point])
  })

  it('does not change messages that are kept for the next prompt', () => {
    const messages = items.flatMap((item) => itemMessages(item, claude))
    const before = structuredClone(messages)
    const prompt = framedPrompt(messages, { system: '', capabilities: claude })
    expect(messages).toEqual(before)
    expect(prompt[0]).toBe(messages[0])
    const unmarked = items.flatMap((item) => itemMessages(item, openai))
    expect(framedPrompt(unmarked, { system: '', capabilities: openai })).toEqual(unmarked)
  })

  it('uses the setting of the application for unknown models', async () => {
    const capabilities = await of('gateway', 'x', { cacheMarks: 'anthropic', systemAnywhere: true })
    const messages = itemMessages({ type: 'system', text: 'x' }, capabilities)
    const [message] = framedPrompt(messages, { system: '', capabilities })
    expect(message).toMatchObject({ role: 'system', providerOptions: { anthropic: {} } })
  })

  it.each(['mistral.chat', 'openai.chat'])(
    'has no system message after an answer of a Mistral model (%s)',
    async (provider) => {
      const capabilities = await of(provider, 'mistral-medium-latest')
      const items = [said('Go'), answer('Done.'), { type: 'system', text: 'Again.' } as const]
      const messages = items.flatMap((item) => itemMessages(item, capabilities))
      const prompt = framedPrompt(messages, { system: 'S', capabilities })
      expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    },
  )

  it('puts an answer between results and a user, and joins messages of users, if roles are strict', () => {
    const items = [
      said('Go'),
      said('on'),
      answer('I draw.'),
      result([]),
      said('Note'),
      said('Well?'),
    ]
    const messages = items.flatMap((item) => itemMessages(item, mistral))
    const inShort = (capabilities: typeof mistral) =>
      framedPrompt(messages, { system: 'S', capabilities }).map(({ role, content }) => {
        return Array.isArray(content) ? `${role} ${content.length}` : role
      })
    const [results, bridge] = ['tool 1', 'assistant 1']
    expect(inShort(mistral)).toEqual(['system', 'user 2', 'assistant 1', results, bridge, 'user 2'])
    const plain = ['system', 'user 1', 'user 1', 'assistant 1', results, 'user 1', 'user 1']
    expect(inShort(openai)).toEqual(plain)
  })
})
