import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByrefError } from '../errors.ts'
import type { JsonValue } from '../json/json.ts'
import type { OutputMethod } from '../messages/message.ts'
import type { OffloadedValue } from '../messages/offloaded.ts'
import type { DataInput, MessageInput } from '../messages/to-message.ts'
import { VariableError } from '../refs/variable-ref.ts'
import { type Board, createBoard } from './board.ts'
import { SchemaViolationError, type ValidateSchema } from './schema-check.ts'
import { merge } from './write.ts'

const ajv = new Ajv2020({ allErrors: true, strict: false })
const validate: ValidateSchema = (schema, value) => {
  return ajv.validate(schema as object, value) ? null : ajv.errors
}

function state(data: unknown, more: Partial<DataInput> = {}): MessageInput {
  return { type: 'data', kind: 'state', data, ...more }
}

function thrown<T extends ByrefError>(run: () => unknown): T {
  try {
    run()
  } catch (error) {
    if (error instanceof ByrefError) return error as T
    throw error
  }
  throw new Error('nothing was thrown')
}

const OFFLOADED: OffloadedValue = {
  offloaded: true,
  assetRef: 'asset://a',
  mimeType: 'application/json',
  kind: 'file',
  size: 40_000,
}

const explain = (board: Board, ref: string) => thrown<VariableError>(() => board.read(ref)).message

describe('createBoard', () => {
  it('merges messages of one identity in order: objects deeply, other values by replacement', () => {
    const board = createBoard([
      { type: 'text', text: 'hello' },
      state({ user: { name: 'Ann', tags: ['a', 'b'] }, n: 1 }),
      state({ user: { age: 30, tags: ['c'] }, n: null }),
    ])
    expect(board.read('†state')).toEqual({ user: { name: 'Ann', tags: ['c'], age: 30 }, n: null })
    expect(board.read('†state.user.tags[0]')).toBe('c')
    expect(board.read('†state.n')).toBeNull()
  })

  it('uses the kind "data" if a message has none', () => {
    expect(createBoard([{ type: 'data', data: [1] }]).read('†data[0]')).toBe(1)
  })

  it('finds nothing if there is only a schema', () => {
    const board = createBoard([{ type: 'state', schema: { type: 'object' } }])
    expect(board.has('†state')).toBe(false)
    expect(() => board.read('†state')).toThrow(VariableError)
    expect(board.entries()).toMatchObject([{ kind: 'state', schema: { type: 'object' } }])
    expect('data' in (board.entries()[0] ?? {})).toBe(false)
  })

  it('keeps the last schema and description', () => {
    const board = createBoard([
      { type: 'state', state: 1, schema: { a: 1 }, description: 'first' },
      { type: 'state', schema: { b: 2 } },
      { type: 'state', description: 'second' },
    ])
    expect(board.entries()).toMatchObject([{ schema: { b: 2 }, description: 'second', data: 1 }])
    expect(board.entries()[0]?.schema).toEqual({ b: 2 })
  })

  it('treats _ keys in data as data', () => {
    const board = createBoard([{ type: 'data', data: { _id: 1, _path: ['x'], _instance: 'y' } }])
    expect(board.read('†data')).toEqual({ _id: 1, _path: ['x'], _instance: 'y' })
  })

  it('accepts another identity', () => {
    const identity = ({ kind = 'data' }: { kind?: string }) => kind.toLowerCase()
    const board = createBoard(
      [
        { type: 'data', kind: 'User', data: { a: 1 } },
        { type: 'data', kind: 'user', data: { b: 2 }, _instance: 'x' },
      ],
      { identity },
    )
    expect(board.read('†user')).toEqual({ a: 1, b: 2 })
    expect(board.entries()).toHaveLength(1)
  })

  it("does not share the caller's objects", () => {
    const data = { list: [{ a: 1 }] }
    const board = createBoard([state(data)])
    ;(data.list[0] as { a: number }).a = 2
    expect(board.read('†state.list[0].a')).toBe(1)
    const read = board.read('†state') as typeof data
    expect(() => read.list.push({ a: 3 })).toThrow(TypeError)
  })
})

describe('writes', () => {
  it.each<[string, unknown, Partial<DataInput> & { data?: unknown }, unknown]>([
    [
      'set is the default at a path',
      { a: { b: 1 } },
      { data: { c: 2 }, _path: ['a'] },
      { a: { c: 2 } },
    ],
    [
      'merge is the default at the root',
      { a: { b: 1 } },
      { data: { a: { c: 2 } } },
      { a: { b: 1, c: 2 } },
    ],
    ['an empty path is the root', { a: 1 }, { data: { b: 2 }, _path: [] }, { a: 1, b: 2 }],
    ['set at the root', { a: 1 }, { data: { b: 2 }, _outputMethod: 'set' }, { b: 2 }],
    [
      'merge at a path',
      { a: { b: 1 } },
      { data: { c: 2 }, _path: ['a'], _outputMethod: 'merge' },
      { a: { b: 1, c: 2 } },
    ],
    ['merge over a scalar', { a: 1 }, { data: { a: { b: 2 } } }, { a: { b: 2 } }],
    ['merge of a list', { a: [1, 2] }, { data: { a: [3] } }, { a: [3] }],
    ['merge of null', { a: { b: 1 } }, { data: { a: null } }, { a: null }],
    ['merge of an empty object', { a: { b: 1 } }, { data: { a: {} } }, { a: { b: 1 } }],
    [
      'assign is shallow',
      { a: { b: 1 }, x: 1 },
      { data: { a: { c: 2 } }, _outputMethod: 'assign' },
      { a: { c: 2 }, x: 1 },
    ],
    ['push', { a: [1] }, { data: [2], _path: ['a'], _outputMethod: 'push' }, { a: [1, [2]] }],
    [
      'push makes the list',
      {},
      { data: 1, _path: ['a', 'b'], _outputMethod: 'push' },
      { a: { b: [1] } },
    ],
    [
      'concat of lists',
      { a: [1] },
      { data: [2, 3], _path: ['a'], _outputMethod: 'concat' },
      { a: [1, 2, 3] },
    ],
    [
      'concat of text',
      { a: 'x' },
      { data: 'yz', _path: ['a'], _outputMethod: 'concat' },
      { a: 'xyz' },
    ],
    [
      'concat where nothing is',
      {},
      { data: ['x'], _path: ['a'], _outputMethod: 'concat' },
      { a: ['x'] },
    ],
    [
      'delete of a key',
      { a: { b: 1, c: 2 } },
      { _path: ['a', 'b'], _outputMethod: 'delete' },
      { a: { c: 2 } },
    ],
    [
      'delete of an item',
      { a: [1, 2, 3] },
      { _path: ['a', 1], _outputMethod: 'delete' },
      { a: [1, 3] },
    ],
    [
      'missing containers are made',
      {},
      { data: 1, _path: ['a', 0, 'b', '0'] },
      { a: [{ b: { 0: 1 } }] },
    ],
    ['an item of a list', { a: [1, 2] }, { data: 9, _path: ['a', 1] }, { a: [1, 9] }],
    ['an index in text', { a: [1, 2] }, { data: 9, _path: ['a', '1'] }, { a: [1, 9] }],
    ['the end of a list', { a: [1] }, { data: 9, _path: ['a', 1] }, { a: [1, 9] }],
    [
      'behind the end of a list',
      { a: [1] },
      { data: 9, _path: ['a', 3] },
      { a: [1, null, null, 9] },
    ],
    ['an index is a key of an object', { a: {} }, { data: 9, _path: ['a', 3] }, { a: { 3: 9 } }],
    ['a path in text', {}, { data: 9, _path: 'a[0]["odd.key"]' }, { a: [{ 'odd.key': 9 }] }],
  ])('%s', (_, before, write, after) => {
    const board = createBoard([state(before)])
    const snapshot = board.snapshot()
    const copy = structuredClone(snapshot)
    const message: MessageInput = { type: 'data', kind: 'state', id: 'w', ...write }
    board.append(message)
    expect(board.read('†state')).toEqual(after)
    expect(snapshot).toEqual(copy)
  })

  it('delete at the root leaves nothing to read', () => {
    const board = createBoard([state({ a: 1 }), { type: 'state', _outputMethod: 'delete' }])
    expect(board.has('†state')).toBe(false)
    expect(board.entries()[0]).not.toHaveProperty('data')
  })

  it.each<[string, unknown, Partial<DataInput> & { data?: unknown }, string]>([
    [
      'through text',
      { a: 'x' },
      { data: 1, _path: ['a', 'b'] },
      '†state.a is string: cannot write at "b".',
    ],
    [
      'through null',
      { a: null },
      { data: 1, _path: ['a', 'b'] },
      '†state.a is null: cannot write at "b".',
    ],
    ['through the root', 7, { data: 1, _path: ['b'] }, '†state is number'],
    [
      'push on an object',
      { a: {} },
      { data: 1, _path: ['a'], _outputMethod: 'push' },
      '†state.a is object: push needs a list.',
    ],
    [
      'push on null',
      { a: null },
      { data: 1, _path: ['a'], _outputMethod: 'push' },
      'push needs a list',
    ],
    [
      'concat of other types',
      { a: [1] },
      { data: 'x', _path: ['a'], _outputMethod: 'concat' },
      'concat needs two',
    ],
    [
      'concat of a number',
      {},
      { data: 1, _path: ['a'], _outputMethod: 'concat' },
      'concat needs two',
    ],
    [
      'a key of a list',
      { a: [1] },
      { data: 1, _path: ['a', 'b'] },
      '†state.a is a list: cannot write at "b".',
    ],
    [
      'far behind the end',
      { a: [1] },
      { data: 1, _path: ['a', 4e9] },
      '†state.a is a list: cannot write at 4000000000.',
    ],
    [
      'delete of nothing',
      { a: 1 },
      { _path: ['b', 'c'], _outputMethod: 'delete' },
      '†state.b.c is missing: there is nothing to delete.',
    ],
    [
      'into a value that is stored as an asset',
      { a: [OFFLOADED] },
      { data: 1, _path: ['a', 0, 'b'] },
      '†state.a[0] is stored as an asset, and assets never change.',
    ],
    [
      'a merge into a value that is stored as an asset',
      { a: { b: OFFLOADED } },
      { data: { a: { b: { c: 1 } } } },
      '†state.a.b is stored as an asset',
    ],
    [
      'concat with a list that is stored as an asset',
      { a: OFFLOADED },
      { data: [1], _path: ['a'], _outputMethod: 'concat' },
      '†state.a is stored as an asset',
    ],
    ['no data', { a: 1 }, { _path: ['b'] }, '†state.b is missing: there is nothing to set.'],
    [
      'no data to push',
      { a: 1 },
      { _outputMethod: 'push' },
      '†state is object: there is nothing to push.',
    ],
    ['NaN', {}, { data: { a: [Number.NaN] } }, 'The value at ["a",0] is NaN'],
    ['a bigint', {}, { data: 1n }, 'is a BigInt'],
    [
      'bytes',
      {},
      { data: { a: new Uint8Array(2) } },
      'The value at ["a"] is a Uint8Array: data must be JSON. Save the value as an asset instead.',
    ],
    ['a function', {}, { data: { a: () => 1 } }, 'is a Function'],
  ])('refuses %s, and stays as it was', (_, before, write, reason) => {
    const board = createBoard([state(before)])
    const message: MessageInput = { type: 'data', kind: 'state', ...write }
    const snapshot = board.snapshot()
    const error = thrown(() => board.append(message))
    expect(error.code).toBe('invalid_data')
    expect(error.message).toContain(reason)
    expect(board.snapshot()).toEqual(snapshot)
  })

  it('accepts what JSON accepts', () => {
    const cycle: unknown[] = []
    cycle.push(cycle)
    const board = createBoard([
      state({ at: new Date(0), url: new URL('https://a.b/'), gone: undefined, list: [undefined] }),
    ])
    expect(board.read('†state')).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      url: 'https://a.b/',
      list: [null],
    })
    expect(() => board.append(state({ cycle }))).toThrow('contains itself')
  })
})

describe('read', () => {
  const board = createBoard([
    { type: 'input', input: { city: 'Paris' } },
    { type: 'state', state: { user: { name: 'Ann' }, list: [1, 2], none: null } },
    { type: 'state', state: { task: 'one' }, _instance: '①' },
  ])

  it('accepts fallbacks and conditions', () => {
    expect(board.read('†input.name || †state.user.name')).toBe('Ann')
    expect(board.read('†state.none || †state.user')).toBeNull()
    expect(board.read('†input.city && †state.list[1]')).toBe(2)
    expect(board.has('†input.city && †state.list[2]')).toBe(false)
  })

  it('reads the instance first, then the global value', () => {
    expect(board.read('†state.task', { instance: '①' })).toBe('one')
    expect(board.read('†state.user.name', { instance: '①' })).toBe('Ann')
    expect(board.read('†state', { instance: '①' })).toEqual({ task: 'one' })
    expect(board.read('†state', { instance: '②' })).toHaveProperty('user')
    expect(board.read('†state#①.task', { instance: '②' })).toBe('one')
    expect(board.has('†state#①.user', { instance: '①' })).toBe(false)
    expect(board.has('†state.task')).toBe(false)
  })

  it('reports what exists if it finds nothing', () => {
    expect(explain(board, '†state.usr.name')).toBe(
      '†state has no "usr"; it has 3: "user", "list", "none".',
    )
    expect(explain(board, '†state.list[2]')).toBe(
      '†state.list has no 2; it is a list of 2, from 0.',
    )
    expect(explain(board, '†state.user.name.first')).toBe(
      '†state.user.name is string and has no "first".',
    )
    expect(explain(board, '†stat.user')).toBe('†stat has no value. Data: †input, †state, †state#①.')
    expect(explain(createBoard(), '†state')).toBe('†state has no value. Data: none yet.')
    expect(explain(board, '†input.a || †state.b')).toBe(
      '†input has no "a"; it has 1: "city". †state has no "b"; it has 3: "user", "list", "none".',
    )
    const error = thrown<VariableError>(() => board.read('†state.x', { instance: '①' }))
    expect(error.message).toBe('†state#① has no "x"; it has 1: "task".')
    expect(error.code).toBe('variable_not_found')
  })

  it('names at most 20 keys, and how many there are', () => {
    const wide = createBoard([
      state(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i]))),
    ])
    expect(explain(wide, '†state.x')).toMatch(/it has 500: "k0", .*"k19", …\.$/)
  })

  it('rejects text that is not a reference', () => {
    for (const text of ['state.user', '† 1540', '', '†state.']) {
      expect(thrown(() => board.read(text))).toMatchObject({ code: 'invalid_reference' })
    }
  })

  it('does not read from prototypes', () => {
    for (const path of [
      '__proto__',
      'constructor',
      'toString',
      'list.length',
      'user.name.length',
    ]) {
      expect(board.has(`†state.${path}`)).toBe(false)
    }
  })
})

describe('past points', () => {
  const time = (second: number) => new Date(1e12 + second * 1000).toISOString()
  const board = createBoard([
    { type: 'text', text: 'hi', id: 't0', timestamp: time(0) },
    state({ list: [1] }, { id: 'push-base', timestamp: time(10) }),
    state(2, { _path: ['list'], _outputMethod: 'push', id: 'push', timestamp: time(20) }),
    state({ user: { name: 'Ann' } }, { id: 'merge', timestamp: time(30) }),
    { type: 'text', text: 'late clock', id: 't1', timestamp: time(5) },
    state('set', {
      _path: ['user'],
      id: 'set',
      timestamp: time(40),
      schema: { a: 1 },
      description: 'd',
    }),
    state('x', { _instance: '①', id: 'other', timestamp: time(50) }),
  ])

  it('reads before and after each message', () => {
    expect(board.has('†state', { at: 't0' })).toBe(false)
    expect(board.read('†state', { at: 'push-base' })).toEqual({ list: [1] })
    expect(board.read('†state', { at: 'push' })).toEqual({ list: [1, 2] })
    expect(board.read('†state.user.name', { at: 'merge' })).toBe('Ann')
    expect(board.read('†state.user.name', { at: 't1' })).toBe('Ann')
    expect(board.read('†state.user', { at: 'set' })).toBe('set')
    expect(board.read('†state')).toEqual({ list: [1, 2], user: 'set' })
  })

  it('accepts times, as text or Date', () => {
    expect(board.has('†state', { at: time(9) })).toBe(false)
    expect(board.read('†state.list', { at: time(10) })).toEqual([1])
    expect(board.read('†state.list', { at: new Date(1e12 + 29_999) })).toEqual([1, 2])
    expect(board.read('†state.user', { at: time(39) })).toEqual({ name: 'Ann' })
    expect(board.read('†state.user', { at: time(1000) })).toBe('set')
  })

  it('returns entries and snapshots of that time', () => {
    expect(board.entries({ at: 't0' })).toEqual([])
    expect(board.entries({ at: 'merge' })).toEqual([
      { kind: 'state', data: { list: [1, 2], user: { name: 'Ann' } }, messageId: 'merge' },
    ])
    expect(Object.keys(board.snapshot())).toEqual(['state', 'state#①'])
    expect(board.snapshot({ at: 'set' })).toEqual({
      state: {
        kind: 'state',
        messageId: 'set',
        data: { list: [1, 2], user: 'set' },
        schema: { a: 1 },
        description: 'd',
      },
    })
  })

  it('rejects points it does not know', () => {
    expect(thrown(() => board.read('†state', { at: 'message-7' }))).toMatchObject({
      code: 'message_not_found',
    })
  })

  it('reports what existed at that time', () => {
    expect(thrown(() => board.read('†state.user', { at: 'push' })).message).toBe(
      '†state has no "user"; it has 1: "list".',
    )
    expect(thrown(() => board.read('†other', { at: 't0' })).message).toContain('Data: none yet')
  })
})

describe('hostile data', () => {
  it('keeps __proto__ and constructor as plain keys', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    )
    const wide = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, i]))
    for (const base of [{}, wide]) {
      const board = createBoard([
        state(base),
        state(hostile),
        state(hostile),
        state(1, { _path: ['__proto__', 'more'] }),
      ])
      expect(board.read('†state["__proto__"]')).toEqual({ polluted: 1, more: 1 })
      expect(board.read('†state.constructor.prototype.polluted')).toBe(1)
      expect(JSON.stringify(board.read('†state'))).toContain('"__proto__":{"polluted":1,"more":1}')
      expect(({} as { polluted?: number }).polluted).toBeUndefined()
    }
    const kinds = createBoard([
      { type: 'data', kind: '__proto__', data: 1 },
      { type: 'data', kind: 'constructor', data: 2 },
    ])
    expect(kinds.read('†__proto__')).toBe(1)
    expect(Object.keys(kinds.snapshot())).toEqual(['__proto__', 'constructor'])
  })

  it('accepts data that is 10,000 levels deep', () => {
    const nest = (leaf: unknown) => {
      let value = leaf
      for (let i = 0; i < 10_000; i++) value = { a: value }
      return value
    }
    const path = Array<string>(10_000).fill('a')
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i]))
    const board = createBoard([
      state(nest({ x: 1 })),
      state(nest({ y: 2 })),
      state(3, { _path: [...path, 'z'] }),
    ])
    expect(board.read(`†state${'.a'.repeat(10_000)}`)).toEqual({ x: 1, y: 2, z: 3 })
    board.append(state(nest(wide)))
    board.append(state(nest({ last: 1 })))
    board.append(state(nest({ last: 2 })))
    expect(board.read(`†state${'.a'.repeat(10_000)}.last`)).toBe(2)
    let value = board.read('†state') as Record<string, unknown>
    for (let i = 0; i < 10_000; i++) value = value.a as Record<string, unknown>
    expect(Object.keys(value)).toHaveLength(54)
  })
})

describe('schemas', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      age: { type: 'number', minimum: 0 },
      tags: { type: 'array', items: { type: 'string' } },
      pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
      address: {
        type: 'object',
        required: ['city'],
        properties: { city: { type: 'string' } },
        additionalProperties: false,
      },
      limited: { type: 'array', maxItems: 2 },
      either: { oneOf: [{ type: 'string' }, { type: 'object', required: ['a'] }] },
    },
    additionalProperties: { type: 'number' },
  }

  function violation(write: Partial<DataInput>, base: unknown = {}, kind = 'state') {
    const board = createBoard(
      [
        { type: 'data', kind, schema },
        { type: 'data', kind, data: base },
      ],
      { validate },
    )
    const before = board.snapshot()
    const error = thrown<SchemaViolationError>(() => board.append({ type: 'data', kind, ...write }))
    expect(error).toBeInstanceOf(SchemaViolationError)
    expect(error.code).toBe('schema_violation')
    expect(board.snapshot()).toEqual(before)
    return error
  }

  it.each<[Partial<DataInput>, unknown, (string | number)[], string]>(
    [
      [{ data: { age: 'old' } }, {}, ['age'], 'must be number'],
      [{ data: { age: -1 } }, {}, ['age'], 'must be >= 0'],
      [{ data: { other: 'x' } }, {}, ['other'], 'must be number'],
      [{ data: 'x', _outputMethod: 'set' }, {}, [], 'must be object'],
      [{ data: 7, _path: ['name'] }, {}, ['name'], 'must be string'],
      [{ data: 7, _path: ['tags', 0] }, {}, ['tags', 0], 'must be string'],
      [
        { data: 7, _path: ['tags'], _outputMethod: 'push' },
        { tags: ['a'] },
        ['tags', 1],
        'must be string',
      ],
      [
        { data: ['b', 7], _path: ['tags'], _outputMethod: 'concat' },
        { tags: ['a'] },
        ['tags', 2],
        'must be string',
      ],
      [{ data: 'x', _path: ['tags'], _outputMethod: 'push' }, {}, [], ''],
      [{ data: 1, _path: ['tags', 'x'] }, { tags: {} }, [], ''],
      [{ data: 1, _path: ['pair', 1] }, { pair: [1] }, ['pair', 1], 'must be string'],
      [
        { data: 1, _path: ['pair', 2] },
        { pair: [1, 'a'] },
        ['pair'],
        'must NOT have more than 2 items',
      ],
      [
        { data: 1, _path: ['address', 'zip'] },
        { address: { city: 'x' } },
        ['address'],
        'must NOT have additional properties',
      ],
      [
        { data: { zip: 1 }, _path: ['address'] },
        {},
        ['address'],
        'must NOT have additional properties',
      ],
      [
        { data: { address: { zip: 1 } } },
        { address: { city: 'x' } },
        ['address'],
        'must NOT have additional properties',
      ],
      [
        { data: 3, _path: ['limited'], _outputMethod: 'push' },
        { limited: [1, 2] },
        ['limited'],
        'must NOT have more than 2 items',
      ],
      [{ data: 3, _path: ['either'] }, {}, ['either'], 'must be string'],
    ].filter(([, , , reason]) => reason !== '') as [
      Partial<DataInput>,
      unknown,
      (string | number)[],
      string,
    ][],
  )('refuses %j', (write, base, path, reason) => {
    const error = violation(write, base)
    expect(error.issues[0]?.path.map(String)).toEqual(path.map(String))
    expect(error.issues.map(({ message }) => message).join()).toContain(reason)
    expect(error.message).toContain('The data was not changed.')
  })

  it('names the place as a reference', () => {
    expect(violation({ data: 7, _path: ['tags', 0] }).message).toBe(
      'The write violates its schema: †state.tags[0] must be string. The data was not changed.',
    )
  })

  it.each<[Partial<DataInput>, unknown]>([
    [{ data: { age: 3, other: 1 } }, {}],
    [{ data: { address: {} } }, {}],
    [{ data: 'x', _path: ['tags'], _outputMethod: 'push' }, {}],
    [{ data: ['x'], _path: ['tags'], _outputMethod: 'concat' }, { tags: ['a'] }],
    [{ data: { a: 1 }, _path: ['either'] }, {}],
    [{ _path: ['name'], _outputMethod: 'delete' }, { name: 'x' }],
    [{ _path: ['limited', 0], _outputMethod: 'delete' }, { limited: [1, 2] }],
  ])('allows %j: required binds no state', (write, base) => {
    const messages: MessageInput[] = [
      { type: 'state', schema },
      state(base),
      { type: 'data', kind: 'state', ...write },
    ]
    expect(() => createBoard(messages, { validate })).not.toThrow()
  })

  it('requires inputs to have the required fields', () => {
    const board = createBoard([{ type: 'input', schema }], { validate })
    expect(thrown(() => board.append({ type: 'input', input: { age: 3 } })).message).toContain(
      "†input must have required property 'name'",
    )
    board.append({ type: 'input', input: { name: 'Ann' } })
    board.append({ type: 'input', input: { age: 3 } })
    expect(
      thrown(() => board.append({ type: 'input', input: {}, _path: ['address'] })).message,
    ).toContain("†input.address must have required property 'city'")
    expect(board.read('†input')).toEqual({ name: 'Ann', age: 3 })
  })

  it('checks only the written place', () => {
    const board = createBoard([state({ age: 'old', name: 1 }), { type: 'state', schema }], {
      validate,
    })
    board.append(state({ tags: ['x'] }))
    board.append(state('y', { _path: ['tags'], _outputMethod: 'push' }))
    expect(board.read('†state.tags')).toEqual(['x', 'y'])
  })

  it('checks a message with the schema that it contains', () => {
    const board = createBoard([], { validate })
    expect(() =>
      board.append({
        type: 'state',
        state: { a: 1 },
        schema: { properties: { a: { type: 'string' } } },
      }),
    ).toThrow(SchemaViolationError)
    expect(board.entries()).toEqual([])
  })

  it('checks instances with their own schema, otherwise with the global one', () => {
    const board = createBoard([{ type: 'state', schema }], { validate })
    expect(() => board.append(state({ age: 'x' }, { _instance: '①' }))).toThrow(
      '†state#①.age must be number',
    )
    board.append({ type: 'state', schema: {}, _instance: '①' })
    board.append(state({ age: 'x' }, { _instance: '①' }))
    expect(board.read('†state#①.age')).toBe('x')
  })

  it('follows references within the schema', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          required: ['v'],
          properties: { v: { type: 'number' }, next: { $ref: '#/$defs/node' } },
        },
      },
    }
    const board = createBoard([{ type: 'state', schema: tree, state: { v: 1, next: { v: 2 } } }], {
      validate,
    })
    board.append(state(3, { _path: ['next', 'next', 'v'] }))
    expect(() => board.append(state('x', { _path: ['next', 'next', 'v'] }))).toThrow(
      '†state.next.next.v must be number',
    )
    expect(board.read('†state.next.next.v')).toBe(3)
  })

  it('validates only the changed part of a long list', () => {
    const seen: JsonValue[] = []
    const spy: ValidateSchema = (part, value) => {
      seen.push(value)
      return validate(part, value)
    }
    const list = {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'number' } } },
    }
    const board = createBoard(
      [{ type: 'state', schema: list, state: { list: Array(1000).fill(1) } }],
      { validate: spy },
    )
    seen.length = 0
    board.append(state(2, { _path: ['list'], _outputMethod: 'push' }))
    expect(seen).toEqual([2])
  })

  it('checks nothing without a validator', () => {
    expect(createBoard([{ type: 'state', schema }, state({ age: 'x' })]).read('†state.age')).toBe(
      'x',
    )
  })
})

/** The board's rules on plain values, in the simplest form. */
function naive(
  root: unknown,
  { path, method, data }: { path: (string | number)[]; method: OutputMethod; data: unknown },
): unknown {
  if (path.length > 0) {
    const [key, ...rest] = path as [string | number, ...(string | number)[]]
    const copy = (
      root === undefined ? (typeof key === 'number' ? [] : {}) : structuredClone(root)
    ) as Record<string, unknown>
    if (typeof copy !== 'object' || copy === null) throw new Error('scalar')
    if (Array.isArray(copy) && !/^(0|[1-9]\d*)$/.test(String(key))) throw new Error('no index')
    const had = Object.hasOwn(copy, key)
    if (!had && method === 'delete') throw new Error('nothing there')
    const next = naive(had ? copy[key] : undefined, { path: rest, method, data })
    if (Array.isArray(copy)) while (copy.length < Number(key)) copy.push(null)
    if (next !== undefined) copy[key] = next
    else if (Array.isArray(copy)) copy.splice(Number(key), 1)
    else delete copy[key]
    return copy
  }
  const isObject = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  switch (method) {
    case 'delete':
      if (root === undefined) throw new Error('nothing there')
      return undefined
    case 'set':
      return data
    case 'push':
      if (root !== undefined && !Array.isArray(root)) throw new Error('no list')
      return [...(root ?? []), data]
    case 'concat':
      if (typeof data === 'string' && (root === undefined || typeof root === 'string'))
        return (root ?? '') + data
      if (Array.isArray(data) && (root === undefined || Array.isArray(root)))
        return [...(root ?? []), ...data]
      throw new Error('cannot concat')
    default: {
      if (!isObject(root) || !isObject(data)) return data
      const copy = { ...(root as Record<string, unknown>) }
      for (const [key, value] of Object.entries(data as object)) {
        const deep = method === 'merge' && isObject(copy[key]) && isObject(value)
        copy[key] = deep ? naive(copy[key], { path: [], method, data: value }) : value
      }
      return copy
    }
  }
}

const anyKey = fc.oneof(fc.constantFrom('a', 'b', '0', '1', ''), fc.nat({ max: 3 }))
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.constant(null), fc.integer(), fc.string({ maxLength: 3 })),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', 'x'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    // Wide enough that versions are kept per key.
    fc.constant(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`w${i}`, i]))),
    fc.constant(Array.from({ length: 40 }, (_, i) => i)),
  ),
}))
const anyWrite = fc.record({
  path: fc.oneof(
    fc.array<string | number>(anyKey, { maxLength: 3 }),
    fc.constantFrom<(string | number)[]>(['a', 'w3'], ['a', 39], ['a', 5, 'b']),
  ),
  method: fc.constantFrom<OutputMethod>('set', 'merge', 'assign', 'push', 'concat', 'delete'),
  data: anyJson,
})

describe('folding', () => {
  it('matches the plain rules, now and at every past point, and its patches replay', () => {
    fc.assert(
      fc.property(fc.array(anyWrite, { maxLength: 25 }), (writes) => {
        const board = createBoard()
        const history: { id: string; value: unknown }[] = []
        let value: unknown
        for (const [index, write] of writes.entries()) {
          const id = `m${index}`
          const message: MessageInput = {
            type: 'data',
            id,
            data: write.method === 'delete' ? undefined : write.data,
            _path: write.path,
            _outputMethod: write.method,
          }
          let next: unknown
          try {
            next = naive(value, write)
          } catch {
            expect(() => board.append(message)).toThrow(ByrefError)
            continue
          }
          board.append(message)
          value = next
          history.push({ id, value })
        }
        for (const { id, value: past } of history) {
          const read = board.has('†data', { at: id }) ? board.read('†data', { at: id }) : undefined
          expect(read).toEqual(past)
        }
        const whole = createBoard(history.map(({ id }) => messageOf(writes, id)))
        expect(JSON.stringify(whole.snapshot())).toBe(JSON.stringify(board.snapshot()))
      }),
      { numRuns: 500 },
    )
  })
})

function messageOf(
  writes: { path: (string | number)[]; method: OutputMethod; data: unknown }[],
  id: string,
): MessageInput {
  const { path, method, data } = writes[Number(id.slice(1))] as (typeof writes)[0]
  return {
    type: 'data',
    id,
    data: method === 'delete' ? undefined : data,
    _path: path,
    _outputMethod: method,
  }
}

describe('merge', () => {
  it('changes neither value and shares what did not change', () => {
    const base = { same: { x: 1 }, deep: { a: 1 }, list: [1] }
    const patch = { deep: { b: 2 }, list: [2] }
    const merged = merge(base, patch) as typeof base
    expect(merged).toEqual({ same: { x: 1 }, deep: { a: 1, b: 2 }, list: [2] })
    expect(merged.same).toBe(base.same)
    expect(base).toEqual({ same: { x: 1 }, deep: { a: 1 }, list: [1] })
    expect(Object.isFrozen(merged.deep)).toBe(true)
  })

  it('treats __proto__ as a key', () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1}}') as JsonValue
    const merged = merge(merge({}, hostile), hostile) as object
    expect(Object.keys(merged)).toEqual(['__proto__'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})
