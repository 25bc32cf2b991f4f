import { describe, expect, it } from 'vitest'
import { type CapabilityOverrides, capabilitiesOf } from '../models/capabilities.ts'
import { framedPrompt, itemMessages } from './to-prompt.ts'
import type { FilePart, ResolvedItem } from './transcript-item.ts'

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
  ...{ type: 'file', ref: 'asset://pic', mediaType: 'image/png', detail: 'low' },
  data: { type: 'data', data: 'AQID' },
}
const ids = { toolCallId: 'c1', toolName: 'draw' }
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
      calls: [{ id: 'c1', name: 'draw', arguments: { x: 1 }, provider_metadata: signed }],
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

  it('puts media into a result if the provider allows it, otherwise after the results', () => {
    const options = { providerOptions: { openai: { imageDetail: 'low' } } }
    const file = { type: 'file', mediaType: 'image/png', data: png.data }
    const note = { type: 'text', text: '[a note]' } as const
    expect(itemMessages(result([png, note]), openai)).toEqual([
      {
        role: 'tool',
        content: [
          {
            ...{ type: 'tool-result', ...ids },
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
        content: [{ type: 'text', text: '[From the result of draw, call c1: asset://pic]' }, file],
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
})
