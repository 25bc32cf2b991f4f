import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { eventsOf, say } from '../../agent/fixtures/agent.ts'
import type { ModelStreamPart } from '../../models/language-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { ResponseReader } from './read-response.ts'

/** The deltas, and `|` where another part of the answer is reported. */
async function read(parts: readonly (string | ModelStreamPart)[]): Promise<string[]> {
  const told: string[] = []
  const note = () => {
    told.push('|')
  }
  const reader = new ResponseReader((id) => id, {
    text(delta) {
      told.push(delta)
    },
    textEnd: note,
    reasoning: note,
    reasoningEnd: note,
    callStart: note,
    callDelta: note,
    call: note,
  })
  for (const part of parts) {
    await reader.take(
      typeof part === 'string' ? { type: 'text-delta', id: 't', delta: part } : part,
    )
  }
  await reader.flush()
  return told
}

const REF = '<|asset://chart7/content|>'
const JSON_REF = '<|{"asset_id":"a|>b <|asset://x|> c","field_path":null}|>'

describe('deltas of an answer', () => {
  it.each([
    ['a URL', REF],
    ['an object', JSON_REF],
    ['an object after blanks', '<| {"asset_id":"a","field_path":null} |>'],
    ['a variable', '<|†state.total|>'],
    ['marks that open several times', `<|<|<|${REF}`],
  ])('hold the whole of %s', async (_, ref) => {
    const told = await read([...`See ![a](${ref}).`])
    expect(told.join('')).toBe(`See ![a](${ref}).`)
    expect(told).toContain(ref)
  })

  it('are sent at once if no reference is open', async () => {
    expect(await read(['a', ' <', 'b ', `${REF} c`, '|> d', 'e'])).toEqual([
      ...['a', ' ', '<b ', `${REF} c`, '|> d', 'e'],
    ])
  })

  it('are held for at most a line, or 2,000 characters', async () => {
    expect(await read(['x <| y', 'z', '\nnext', ' more'])).toEqual(['x ', '<| yz\nnext', ' more'])
    const told = await read(['<|', ...'y'.repeat(2500)])
    expect(told[0]).toHaveLength(2000)
    expect(told).toHaveLength(503)
  })

  it('are sent before what follows the text', async () => {
    const end: ModelStreamPart = { type: 'text-end', id: 't' }
    const call: ModelStreamPart = { type: 'tool-input-start', id: 'c', toolName: 'camera' }
    expect(await read(['a <|asset', end])).toEqual(['a ', '<|asset'])
    expect(await read(['a <', call])).toEqual(['a ', '<', '|', '|'])
  })

  it('are not split in the events of a run', async () => {
    const text = `${'A chart: '.repeat(3)}![rain](${REF}) and ${JSON_REF}. 1 < 2 <|`
    const run = createAgent({ model: scriptedModel([text]) }).run({ messages: say('go') })
    const deltas = (await eventsOf(run)).flatMap((event) =>
      event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : [],
    )
    expect(deltas.length).toBeGreaterThan(3)
    expect(deltas.join('')).toBe(text)
    for (const ref of [REF, JSON_REF]) {
      expect(deltas.filter((delta) => delta.includes(ref))).toHaveLength(1)
    }
  })
})

describe('the texts of an answer', () => {
  const say = (id: string, delta: string): ModelStreamPart[] => [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta },
    { type: 'text-end', id },
  ]
  const think: ModelStreamPart[] = [
    { type: 'reasoning-start', id: 'r' },
    { type: 'reasoning-end', id: 'r' },
  ]
  const search = { toolCallId: 's', toolName: 'web_search', input: '{}', providerExecuted: true }

  it.each<[string, ModelStreamPart[], string]>([
    [
      'messages of one answer',
      [...say('msg_1', 'I look.'), ...say('msg_2', '7.')],
      'I look.\n\n7.',
    ],
    [
      'texts around reasoning',
      [...say('0', 'I look.'), ...think, ...say('1', '7.')],
      'I look.\n\n7.',
    ],
    [
      'texts around a call of the provider',
      [...say('0', 'I look.'), { type: 'tool-call', ...search }, ...say('1', '7.')],
      'I look.\n\n7.',
    ],
    ['texts that have a line break', [...say('a', 'One\n'), ...say('b', 'Two')], 'One\nTwo'],
    [
      'blocks of one message',
      [...say('0', 'It is '), ...say('1', '7'), ...say('2', '.')],
      'It is 7.',
    ],
    ['a blank text', [...say('a', ''), ...say('b', '7.')], '7.'],
  ])('are apart if they are %s', async (_, parts, expected) => {
    const reader = new ResponseReader((id) => id)
    for (const part of parts) await reader.take(part)
    const { text, parts: order } = reader.response
    expect(text).toBe(expected)
    const lengths = order.map((part) => (part.type === 'text' ? part.length : 0))
    expect(lengths.reduce((sum, length) => sum + length)).toBe(text.length)
    expect((await read(parts)).join('').replaceAll('|', '')).toBe(expected)
  })
})

it('reports a call that cannot be read, also if the answer ends there', async () => {
  const call = { toolCallId: '1', toolName: 'save' }
  const broken = { type: 'tool-call', ...call, input: '{"a":' } as const
  expect(await read([broken])).toEqual(['|'])
})

describe('the end of an answer', () => {
  it.each([
    ['other', 'model_context_window_exceeded', 'length'],
    ['other', 'malformed_tool_use', 'error'],
    ['other', 'paused', 'other'],
    ['length', 'max_tokens', 'length'],
  ] as const)('is read from %s (%s) as %s', async (unified, raw, expected) => {
    const reader = new ResponseReader((id) => id)
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    }
    await reader.take({ type: 'text-delta', id: 't', delta: 'I look.' })
    await reader.take({ type: 'finish', finishReason: { unified, raw }, usage })
    expect(reader.response.finishReason).toBe(expected)
  })
})

it.each(['signature', 'redactedData', 'redactedContent'])(
  'keeps reasoning with %s for a call that follows it',
  async (key) => {
    const reader = new ResponseReader((id) => id)
    const providerMetadata = { bedrock: { [key]: 's' } }
    await reader.take({ type: 'reasoning-start', id: '0' })
    await reader.take({ type: 'reasoning-end', id: '0', providerMetadata })
    expect(reader.takeSigned()).toEqual([{ text: '', provider_metadata: providerMetadata }])
  },
)
