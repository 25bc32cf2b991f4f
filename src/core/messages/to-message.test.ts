import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Message } from './message.ts'
import { type MessageInput, toMessage } from './to-message.ts'

const TIME = '2026-01-02T03:04:05.000Z'
const FIXED = { id: 'm1', timestamp: TIME }
const USER = { participant_id: 'user', participant_role: 'user' }

const record: Message = {
  id: '1234',
  sender: { participant_id: '1234', participant_role: 'user' },
  content: 'Hello World!',
  content_type: 'text/plain',
  message_type: 'chat',
  timestamp: TIME,
  metadata: {
    attribution: 'Internal System',
    footer_items: ['6.8k of 50k (13%) tokens used for request'],
    zebra: { 2: 'b', 1: 'a', nested: [null, { deep: true }] },
    apple: 1,
  },
}

describe('toMessage', () => {
  it.each<[string, MessageInput, Partial<Message>]>([
    [
      'text',
      { ...FIXED, type: 'text', text: 'hi' },
      { sender: USER, content_type: 'text/plain', content: 'hi', message_type: 'chat' },
    ],
    [
      'text of a role and name',
      { ...FIXED, type: 'text', text: 'hi', role: 'assistant', name: 'Bo' },
      { sender: { participant_id: 'Bo', participant_role: 'assistant', name: 'Bo' } },
    ],
    [
      'data',
      {
        ...FIXED,
        type: 'data',
        kind: 'user',
        data: { a: 1 },
        description: 'd',
        schema: { type: 'object' },
      },
      {
        content_type: 'data',
        message_type: 'note',
        content: {
          type: 'data',
          kind: 'user',
          data: { a: 1 },
          description: 'd',
          schema: { type: 'object' },
        },
      },
    ],
    [
      'data without a kind',
      { ...FIXED, type: 'data', data: 0 },
      { content: { type: 'data', data: 0 } },
    ],
    [
      'a declaration',
      { ...FIXED, type: 'data', kind: 'user', schema: {} },
      { content: { type: 'data', kind: 'user', schema: {} } },
    ],
    [
      'null as data',
      { ...FIXED, type: 'state', state: null },
      { content: { type: 'data', kind: 'state', data: null } },
    ],
    [
      'input',
      { ...FIXED, type: 'input', input: { a: 1 }, schema: {}, _instance: '①' },
      { content: { type: 'data', kind: 'input', data: { a: 1 }, schema: {}, _instance: '①' } },
    ],
    [
      'state, whatever kind it says',
      { ...FIXED, type: 'state', state: 1, kind: 'user' } as MessageInput,
      { content: { type: 'data', kind: 'state', data: 1 } },
    ],
    [
      'state at a path',
      {
        ...FIXED,
        type: 'state',
        state: 1,
        _path: 'items[0]["odd.key"]',
        _outputMethod: 'set',
        _call: 'c1',
      },
      {
        content: {
          type: 'data',
          kind: 'state',
          data: 1,
          _path: ['items', 0, 'odd.key'],
          _outputMethod: 'set',
          _call: 'c1',
        },
      },
    ],
    [
      'a role and parts',
      {
        ...FIXED,
        role: 'user',
        content: [{ type: 'text', text: 'x' }],
        metadata: { attachments: [] },
      },
      {
        content_type: 'multipart/mixed',
        content: [{ type: 'text', text: 'x' }],
        metadata: { attachments: [] },
      },
    ],
    [
      'a command',
      {
        ...FIXED,
        receiver: { role: 'plugin', name: 'charts' },
        content_type: 'command',
        content: { command: 'draw', param: { data: 'asset://a/content' } },
      },
      {
        receiver: { participant_id: 'charts', participant_role: 'plugin', name: 'charts' },
        message_type: 'command',
        content_type: 'command',
        content: { command: 'draw', param: { data: 'asset://a/content' } },
      },
    ],
    [
      'an answer to a command',
      {
        ...FIXED,
        sender: { role: 'plugin', name: 'charts' },
        content: { command: 'draw', response: 1 },
      },
      { message_type: 'command-response', content_type: 'command' },
    ],
    [
      'a reference',
      { ...FIXED, content: { asset_id: 'a', field_path: ['content'] } },
      { content_type: 'asset_ref', content: { asset_id: 'a', field_path: ['content'] } },
    ],
    [
      'JSON',
      { ...FIXED, content: { a: 1 } },
      { content_type: 'application/json', content: { a: 1 } },
    ],
    [
      'a record whose data is in a short form',
      { ...FIXED, content_type: 'data', content: { type: 'state', state: { a: 1 } } },
      { content: { type: 'data', kind: 'state', data: { a: 1 } } },
    ],
  ])('reads %s', (_, input, expected) => {
    const message = toMessage(input)
    expect(message).toMatchObject({ id: 'm1', timestamp: TIME, ...expected })
    expect(message.content).toStrictEqual(expected.content ?? message.content)
    expect(toMessage(message)).toEqual(message)
  })

  it('fills in missing fields', () => {
    const message = toMessage({ type: 'text', text: 'hi' })
    expect(message.id).toMatch(/^[0-9a-z]{27}$/)
    expect(Math.abs(Date.parse(message.timestamp) - Date.now())).toBeLessThan(5000)
    expect(message.metadata).toEqual({})
  })

  it('returns a complete record unchanged, with unknown fields in order', () => {
    const extended = { ...record, thread: { id: 't' }, text: 'short' }
    expect(toMessage(extended)).toStrictEqual(extended)
    expect(JSON.stringify(toMessage({ ...extended, id: undefined } as never).metadata)).toBe(
      JSON.stringify(record.metadata),
    )
  })

  it.each<[string, unknown, RegExp]>([
    ['text', 'hi', /have content or a type/],
    ['null', null, /have content or a type/],
    ['a list', [], /have content or a type/],
    ['nothing known', { role: 'user' }, /have content or a type/],
    ['an unknown type', { type: 'image' }, /"image"/],
    ['no text', { type: 'text' }, /is not a valid data message. type: text/],
    [
      'a kind that no reference can name',
      { type: 'data', kind: 'my kind', data: 1 },
      /"kind":"my kind".*kind: a letter/,
    ],
    [
      'a kind that is a heading',
      { type: 'data', kind: 'a\n## Data: ¶b', data: 1 },
      /kind: a letter/,
    ],
    ['a kind that names results', { type: 'data', kind: 'result', data: 1 }, /not "result"/],
    ['an empty instance', { type: 'data', data: 1, _instance: '' }, /_instance/],
    ['a schema that is none', { type: 'data', schema: 'object' }, /schema/],
    ['a description that is none', { type: 'data', description: 1 }, /description/],
    [
      'an unknown method',
      { type: 'data', data: 1, _outputMethod: 'append' },
      /set, merge, assign, push, concat, delete/,
    ],
    ['a path that is none', { type: 'data', data: 1, _path: 'a b' }, /is not a valid _path/],
    ['a path with a bad key', { type: 'data', data: 1, _path: ['a', -1] }, /is not a valid _path/],
    ['a participant that is none', { ...record, sender: 'user' }, /participant/],
    ['a role that is none', { content: 'x', sender: { role: 7 } }, /participant_role/],
    ['an unknown message_type', { ...record, message_type: 'shout' }, /message_type/],
    ['a time that is none', { ...record, timestamp: 'message 7' }, /ISO 8601/],
    ['a day that is none', { ...record, timestamp: '2026-13-45' }, /ISO 8601/],
    ['metadata that is none', { content: 'x', metadata: [] }, /metadata/],
    ['an empty id', { ...record, id: '' }, /id/],
    [
      'data that is none',
      { ...record, content_type: 'data', content: 7 },
      /is not a valid data message/,
    ],
  ])('refuses %s', (_, input, reason) => {
    expect(() => toMessage(input as never)).toThrow(reason)
    expect(() => toMessage(input as never)).toThrow(
      expect.objectContaining({ code: 'invalid_message' }),
    )
  })
})

describe('MessageInput', () => {
  it('accepts the documented forms, and nothing incomplete', () => {
    expectTypeOf<Message>().toExtend<MessageInput>()
    expectTypeOf<{ role: string; content: string }>().toExtend<MessageInput>()
    expectTypeOf<{ type: 'state'; state: number; _path: string }>().toExtend<MessageInput>()
    expectTypeOf<{ type: 'text' }>().not.toExtend<MessageInput>()
    expectTypeOf<{ type: 'image'; text: string }>().not.toExtend<MessageInput>()
    expectTypeOf<{ type: 'data'; _outputMethod: 'append' }>().not.toExtend<MessageInput>()
    expectTypeOf(toMessage).returns.toEqualTypeOf<Message>()
  })
})

describe('toMessage, of anything', () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const odd = [null, 5, 5n, Symbol('x'), () => 1, {}, [], [5n], [Symbol('y')], circular, '', '†']
  const bases = [
    { type: 'data', data: 1 },
    { type: 'input', input: {} },
    { type: 'text', text: 'x' },
    { content: 'a' },
    { content_type: 'data', content: { kind: 'a', data: 1 } },
  ]
  const keys = [
    'kind',
    '_path',
    '_instance',
    '_outputMethod',
    'timestamp',
    'schema',
    'type',
    'role',
  ]

  it.each(keys)('accepts an odd %s or rejects it as a message', (key) => {
    for (const base of bases) {
      for (const value of [...odd, Object.create(null), new Date(Number.NaN)]) {
        try {
          toMessage({ ...base, [key]: value } as unknown as MessageInput)
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_message' })
        }
      }
    }
  })
})
