import { describe, expect, it } from 'vitest'
import type { Message } from '../messages/message.ts'
import { referenceGuide } from '../messages/reference-guide.ts'
import { type MessageInput, toMessage } from '../messages/to-message.ts'
import { createBoard } from './board.ts'
import { placeData } from './place-data.ts'
import { renderContext } from './render-context.ts'
import { renderData } from './render-data.ts'

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' }, city: { type: 'string' } },
}

/** The example of data-messages.md. */
const EXAMPLE: MessageInput[] = [
  { type: 'text', text: "Update the user's city to Austin" },
  {
    type: 'data',
    kind: 'user',
    description: 'Represents the current user.',
    data: { name: 'John Doe' },
    schema: SCHEMA,
  },
  { type: 'data', kind: 'user', data: { age: 30 } },
]

const texts = (messages: MessageInput[], options?: Parameters<typeof renderContext>[1]) =>
  renderContext(messages, options).map(({ content }) => content.text)

describe('renderContext', () => {
  it("renders the reference's example exactly", () => {
    expect(renderContext(EXAMPLE)).toEqual([
      { role: 'user', content: { type: 'text', text: "Update the user's city to Austin" } },
      {
        role: 'user',
        content: {
          type: 'text',
          text: `## Data: ¶user
{
  "name": "John Doe",
  "age": 30
}
Represents the current user.
Schema for ¶user:
{
  "type": "object",
  "properties": {
    "name": {
      "type": "string"
    },
    "age": {
      "type": "number"
    },
    "city": {
      "type": "string"
    }
  }
}`,
        },
      },
    ])
  })

  it.each<[string, MessageInput, string]>([
    ['without a kind', { type: 'data', data: 'x' }, '## Data: ¶data\n"x"'],
    [
      'with a schema only',
      { type: 'data', kind: 'user', schema: {} },
      '## Data: ¶user\nSchema for ¶user:\n{}',
    ],
    [
      'with a description only',
      { type: 'data', kind: 'user', description: 'Who asks.' },
      '## Data: ¶user\nWho asks.',
    ],
    ['null', { type: 'data', data: null }, '## Data: ¶data\nnull'],
    ['an empty list', { type: 'data', data: [] }, '## Data: ¶data\n[]'],
    [
      'an instance',
      { type: 'data', kind: 'user', _instance: '①', data: { a: 1 }, schema: {} },
      '## Data: ¶user#①\n{\n  "a": 1\n}\nSchema for ¶user#①:\n{}',
    ],
    [
      'an instance with an odd name',
      { type: 'data', kind: 'user', _instance: 'a\n## Data: ¶x', data: 1 },
      '## Data: ¶user#"a\\n## Data: ¶x"\n1',
    ],
    [
      'input',
      { type: 'input', input: { city: 'Austin' } },
      '## Data: ¶input\n{\n  "city": "Austin"\n}\nInput data is a structured prompt.',
    ],
    [
      'input with a description',
      { type: 'input', input: 1, description: 'Where to go.', schema: {} },
      '## Data: ¶input\n1\nWhere to go.\nSchema for ¶input:\n{}',
    ],
    ['state', { type: 'state', state: { a: [1] } }, '## Data: ¶state\n{\n  "a": [\n    1\n  ]\n}'],
    [
      'state with a schema only',
      { type: 'state', schema: { type: 'object' } },
      '## Data: ¶state\nSchema for ¶state:\n{\n  "type": "object"\n}',
    ],
  ])('renders data %s', (_, message, text) => {
    expect(texts([message])).toEqual([text])
  })

  it('keeps instances and the global value apart', () => {
    expect(
      texts([
        { type: 'state', state: { a: 1 }, _instance: '①' },
        { type: 'state', state: { b: 2 }, _instance: '②' },
        { type: 'state', state: { c: 3 } },
        { type: 'state', state: { d: 4 }, _instance: '①' },
      ]),
    ).toEqual([
      '## Data: ¶state#②\n{\n  "b": 2\n}',
      '## Data: ¶state\n{\n  "c": 3\n}',
      '## Data: ¶state#①\n{\n  "a": 1,\n  "d": 4\n}',
    ])
  })

  it('passes texts in place with their role', () => {
    const messages: MessageInput[] = [
      { type: 'text', text: 'a', role: 'system' },
      { type: 'state', state: 1 },
      { role: 'assistant', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'c' },
          { type: 'image_url', image_url: { url: 'asset://a' } },
        ],
      },
      { content: { x: 1 } },
    ]
    expect(renderContext(messages).map(({ role, content }) => [role, content.text])).toEqual([
      ['system', 'a'],
      ['user', '## Data: ¶state\n1'],
      ['assistant', 'b'],
      ['user', 'c\n[image_url]'],
      ['user', '{\n  "x": 1\n}'],
    ])
  })

  it('merges at the last write (engine), or keeps each write in its place (model)', () => {
    const messages: MessageInput[] = [
      { type: 'state', state: { a: 1 } },
      { type: 'text', text: 'one' },
      { type: 'state', state: { b: 2 } },
      { type: 'text', text: 'two' },
      { type: 'state', state: [1], _path: ['list'] },
      { type: 'state', state: 2, _path: ['list'], _outputMethod: 'push' },
      { type: 'state', _path: ['a'], _outputMethod: 'delete' },
    ]
    expect(texts(messages)).toEqual([
      'one',
      'two',
      '## Data: ¶state\n{\n  "b": 2,\n  "list": [\n    1,\n    2\n  ]\n}',
    ])
    expect(texts(messages, { merge: 'model' })).toEqual([
      '## Data: ¶state\n{\n  "a": 1\n}',
      'one',
      '## Data: ¶state\n{\n  "b": 2\n}',
      'two',
      '## Data: ¶state.list\n[\n  1\n]',
      '## Data: ¶state.list (push)\n2',
      '## Data: ¶state.a (delete)',
    ])
  })

  it('keeps a prefix stable with the strategy model', () => {
    const all = [...EXAMPLE, { type: 'state', state: 1 } as const]
    const whole = texts(all, { merge: 'model' })
    for (let length = 0; length <= all.length; length++) {
      expect(texts(all.slice(0, length), { merge: 'model' })).toEqual(whole.slice(0, length))
    }
  })

  it('shows how to read a large value instead of the value', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ id: i, name: `row ${i}` }))
    const [text = ''] = texts([
      { type: 'state', state: { 'a.b': { rows } }, description: 'All rows.' },
    ])
    expect(text).toBe(`## Data: ¶state
{
  "a%2Eb": "<class 'dict'>",
  "a%2Eb.rows": "<class 'list'>, 500 rows, columns: id (number), name (text)",
  "a%2Eb.rows.0": "<class 'dict'>",
  "a%2Eb.rows.0.id": 0,
  "a%2Eb.rows.0.name": "row 0",
  "a%2Eb.rows.1": "<class 'dict'>",
  "a%2Eb.rows.1.id": 1,
  "a%2Eb.rows.1.name": "row 1",
  "a%2Eb.rows.2": "<class 'dict'>",
  "a%2Eb.rows.2.id": 2,
  "a%2Eb.rows.2.name": "row 2"
}
This is an outline of a larger value. †state.path reads a field, †state the whole value.
All rows.`)
    expect(texts([{ type: 'state', state: { rows } }], { maxChars: 1e6 })[0]).toContain('"row 499"')
  })

  it('names the fields whose values do not fit', () => {
    const state = Object.fromEntries(
      Array.from({ length: 70 }, (_, i) => [`report${i}`, 'x'.repeat(150)]),
    )
    const [text = ''] = texts([{ type: 'state', state }])
    expect(text).toMatch(/More fields are left out: report12, .*report61, 8 more\. †state/)
    const few = {
      first: 'x'.repeat(190),
      rest: Array.from({ length: 99 }, () => ({ a: 'y' })),
      end: 1,
    }
    const [short] = texts([{ type: 'state', state: few }], { maxChars: 300 })
    expect(short).toContain('More fields are left out: end. †state')
  })

  it('limits what it shows of any value', () => {
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = { a: deep }
    const wide = Object.fromEntries(
      Array.from({ length: 1e4 }, (_, i) => [`key${i}`, 'x'.repeat(100)]),
    )
    for (const data of [deep, wide, Object.values(wide), 'x'.repeat(1e6), [['x'.repeat(1e6)]]]) {
      const [text = ''] = texts([{ type: 'state', state: data }])
      expect(text.length).toBeLessThan(3000)
      expect(text).toContain('†state')
    }
  })
})

describe('placeData', () => {
  const call = (id: string, ...calls: string[]): Message =>
    toMessage({
      id,
      role: 'assistant',
      content: '',
      metadata: { tool_calls: calls.map((name) => ({ id: name, name, arguments: {} })) },
    })
  const result = (id: string, of: string): Message =>
    toMessage({ id, role: 'tool', content: 'ok', metadata: { tool_result: { tool_call_id: of } } })
  const data = (id: string, more: object = {}): Message =>
    toMessage({ id, type: 'state', state: { [id]: 1 }, ...more })
  const text = (id: string): Message => toMessage({ id, type: 'text', text: id })

  const order = (messages: Message[], merge: 'engine' | 'model' = 'engine') =>
    placeData(messages, { merge }).map((item) =>
      item.type === 'data' ? `¶${item.entry.instance ?? ''}` : item.message.id,
    )

  it.each<[string, Message[], string[]]>([
    [
      'between a call and its result',
      [call('c', '1'), data('d'), result('r', '1'), text('t')],
      ['c', 'r', '¶', 't'],
    ],
    [
      'between results',
      [call('c', '1', '2'), result('r1', '1'), data('d'), result('r2', '2'), text('t')],
      ['c', 'r1', 'r2', '¶', 't'],
    ],
    [
      'after the last result',
      [call('c', '1'), result('r', '1'), data('d'), text('t')],
      ['c', 'r', '¶', 't'],
    ],
    ['before the call', [data('d'), call('c', '1'), result('r', '1')], ['¶', 'c', 'r']],
    ['a call without a result', [call('c', '1'), data('d'), text('t')], ['c', '¶', 't']],
    ['a result without a call', [text('t'), data('d'), result('r', '9')], ['t', '¶', 'r']],
    [
      'an id that is used again',
      [call('c', '1'), result('r', '1'), data('d'), call('c2', '1'), result('r2', '1')],
      ['c', 'r', '¶', 'c2', 'r2'],
    ],
    [
      'overlapping calls',
      [
        call('c', '1'),
        call('c2', '2'),
        data('d'),
        result('r', '1'),
        data('e', { _instance: 'x' }),
        result('r2', '2'),
        text('t'),
      ],
      ['c', 'c2', 'r', 'r2', '¶', '¶x', 't'],
    ],
  ])('places data %s', (_, messages, expected) => {
    expect(order(messages)).toEqual(expected)
    expect(order(messages, 'model')).toEqual(expected)
  })

  it('recognizes a result that repeats the calls', () => {
    const repeated = toMessage({
      id: 'r',
      content: 'ok',
      metadata: {
        tool_calls: [{ id: '1', name: 'x', arguments: {} }],
        tool_result: { tool_call_id: '1' },
      },
    })
    expect(order([call('c', '1'), data('d'), repeated, text('t')])).toEqual(['c', 'r', '¶', 't'])
  })

  it('accepts an existing board', () => {
    const messages = EXAMPLE.map(toMessage)
    const board = createBoard(messages)
    expect(placeData(messages, { board })).toEqual(placeData(messages))
  })

  it('accepts malformed metadata', () => {
    const odd = toMessage({
      id: 'o',
      content: 'x',
      metadata: { tool_calls: 'none', tool_result: [] } as never,
    })
    const odder = toMessage({
      id: 'p',
      content: 'x',
      metadata: { tool_calls: [null, {}], tool_result: null } as never,
    })
    expect(order([odd, data('d'), odder])).toEqual(['o', '¶', 'p'])
  })
})

describe('renderData', () => {
  it('counts the characters of the JSON', () => {
    const entry = { kind: 'state', data: 'x'.repeat(1990) }
    expect(renderData(entry)).toContain('x'.repeat(1990))
    expect(renderData(entry, { maxChars: 1000 })).toBe(
      `## Data: ¶state\n"${'x'.repeat(1000)}"\nTruncated from 1990 characters. †state is the full value.`,
    )
  })
})

describe('referenceGuide', () => {
  it('includes only the topics that apply', () => {
    expect(referenceGuide()).toBeNull()
    expect(referenceGuide({ assets: true })).toContain('asset://<id>')
    expect(referenceGuide({ assets: true })).not.toContain('†')
    expect(referenceGuide({ variables: true })).toContain('†kind.path')
    expect(
      referenceGuide({ assets: true, variables: true, outputs: true })?.split('\n'),
    ).toHaveLength(3)
    expect(referenceGuide({ assets: true, variables: true, outputs: true })?.length).toBeLessThan(
      1200,
    )
  })
})
