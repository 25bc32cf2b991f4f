import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MISSING } from './field-path.ts'
import {
  evaluateVariable,
  formatVariableRef,
  isKind,
  parseVariableRef,
  type VariableExpression,
  type VariableRef,
  variablesIn,
} from './variable-ref.ts'

function variable(kind: string, path: (string | number)[] = [], instance?: string): VariableRef {
  return instance === undefined
    ? { type: 'variable', kind, path }
    : { type: 'variable', kind, path, instance }
}

const anyText = fc.string({ unit: 'binary' })
const anyKind = fc.stringMatching(/^[A-Za-z_é中][A-Za-z0-9_é中-]{0,8}$/)
const anyVariable = fc.record(
  {
    type: fc.constant('variable' as const),
    kind: anyKind,
    instance: fc
      .oneof(anyText, fc.constantFrom('①', 'a b', 'a.b', '"'))
      .filter((text) => text !== ''),
    path: fc.array(
      fc.oneof(anyText, fc.nat(), fc.constantFrom('', '0', 'odd.key', '__proto__', "it's")),
    ),
  },
  { requiredKeys: ['type', 'kind', 'path'], noNullPrototype: true },
)
const several = <T, K extends 'all' | 'any'>(type: K, item: fc.Arbitrary<T>) =>
  fc.array(item, { minLength: 2, maxLength: 3 }).map((of) => ({ type, of }))
const anyGroup = fc.oneof(anyVariable, several('all', anyVariable))
const anyExpression: fc.Arbitrary<VariableExpression> = fc.oneof(anyGroup, several('any', anyGroup))

describe('parseVariableRef', () => {
  it.each<[string, VariableExpression]>([
    ['†state', variable('state')],
    ['  †state.user.name\n', variable('state', ['user', 'name'])],
    ['†state#employee_A.task', variable('state', ['task'], 'employee_A')],
    ['†user#①', variable('user', [], '①')],
    ['†state#"a b.c".x', variable('state', ['x'], 'a b.c')],
    ['†state.items[0]["odd.key"]', variable('state', ['items', 0, 'odd.key'])],
    [`†state['it\\'s "q"']`, variable('state', [`it's "q"`])],
    [`†state['\\\\"x']`, variable('state', ['\\"x'])],
    ['†state["\\u4e2d"][""]', variable('state', ['中', ''])],
    ['†state.items.0', variable('state', ['items', 0])],
    ['†state.007', variable('state', ['007'])],
    ['†_x-1.$y', variable('_x-1', ['$y'])],
    ['†état.größe', variable('état', ['größe'])],
    [
      '†input.a || †state.b',
      { type: 'any', of: [variable('input', ['a']), variable('state', ['b'])] },
    ],
    [
      '†state.a&&†state.b',
      { type: 'all', of: [variable('state', ['a']), variable('state', ['b'])] },
    ],
    [
      '†a || †b && †c || †d',
      {
        type: 'any',
        of: [variable('a'), { type: 'all', of: [variable('b'), variable('c')] }, variable('d')],
      },
    ],
  ])('reads %s', (text, expression) => {
    expect(parseVariableRef(text)).toStrictEqual(expression)
  })

  it.each([
    '',
    '†',
    '† 1540',
    '†1540',
    '† state',
    'see †state',
    '†state is the state',
    '†state.',
    '†state..a',
    '†state.a b',
    '†state[',
    '†state[0',
    '†state[-1]',
    '†state[01]',
    '†state[a]',
    '†state["a]',
    '†state["a\nb"]',
    '†state#',
    '†state#.a',
    '†state#"".a',
    '†state||',
    '†state || state',
    '†a | †b',
    '|| †a',
    '\\†state',
    '††state',
    '†state†state',
  ])('leaves %j as text', (text) => {
    expect(parseVariableRef(text)).toBeNull()
  })

  it('is the inverse of formatVariableRef', () => {
    fc.assert(
      fc.property(anyExpression, (expression) => {
        expect(parseVariableRef(formatVariableRef(expression))).toStrictEqual(expression)
      }),
      { numRuns: 500 },
    )
  })

  it('never throws, for any text', () => {
    const pieces = fc.constantFrom(
      '†',
      'a',
      '.',
      '[',
      ']',
      '0',
      '"',
      "'",
      '\\',
      '#',
      '||',
      '&&',
      ' ',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          fc.array(pieces).map((list) => list.join('')),
        ),
        (text) => {
          const expression = parseVariableRef(`†${text}`)
          if (expression)
            expect(parseVariableRef(formatVariableRef(expression))).toEqual(expression)
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('handles hostile text', () => {
    expect(parseVariableRef(`†a${' '.repeat(1e6)}`)).toEqual(variable('a'))
    expect(parseVariableRef(`†a${' '.repeat(1e6)}x`)).toBeNull()
    expect(parseVariableRef(`†a${'.b'.repeat(3e5)}`)).toMatchObject({ kind: 'a' })
    expect(parseVariableRef(`†a["${'\\"'.repeat(5e5)}`)).toBeNull()
    expect(parseVariableRef(`†a["${'x'.repeat(1e6)}"]`)).toMatchObject({ kind: 'a' })
    expect(parseVariableRef(`${'†a||'.repeat(2e5)}`)).toBeNull()
  })
})

describe('formatVariableRef', () => {
  it.each<[VariableExpression, string]>([
    [variable('state', ['items', 0, 'odd.key', '2']), '†state.items[0]["odd.key"]["2"]'],
    [variable('state', ['a'], 'a b'), '†state#"a b".a'],
    [{ type: 'all', of: [variable('a'), variable('b')] }, '†a && †b'],
  ])('writes %j', (expression, text) => {
    expect(formatVariableRef(expression)).toBe(text)
  })

  it('rejects what would be parsed as something else', () => {
    expect(() => formatVariableRef(variable('1a'))).toThrow(
      expect.objectContaining({ code: 'invalid_reference' }),
    )
    expect(() => formatVariableRef(variable('a', [-1]))).toThrow('indices start at 0')
    expect(isKind('my kind')).toBe(false)
    expect(isKind('a#b')).toBe(false)
    expect(isKind('_a-1')).toBe(true)
  })
})

describe('evaluateVariable', () => {
  const values: Record<string, unknown> = { a: 1, none: null }
  const find = ({ kind }: VariableRef) => (Object.hasOwn(values, kind) ? values[kind] : MISSING)
  const evaluate = (text: string) =>
    evaluateVariable(parseVariableRef(text) as VariableExpression, find)

  it('returns the first that exists; null exists', () => {
    expect(evaluate('†x || †a')).toBe(1)
    expect(evaluate('†none || †a')).toBeNull()
    expect(evaluate('†x || †y')).toBe(MISSING)
  })

  it('requires all and returns the last', () => {
    expect(evaluate('†a && †none')).toBeNull()
    expect(evaluate('†none && †a')).toBe(1)
    expect(evaluate('†a && †x')).toBe(MISSING)
    expect(evaluate('†x && †a || †none')).toBeNull()
    expect(evaluate('†x || †a && †none')).toBeNull()
  })

  it('lists its variables', () => {
    const expression = parseVariableRef('†a || †b && †c') as VariableExpression
    expect(variablesIn(expression).map(({ kind }) => kind)).toEqual(['a', 'b', 'c'])
  })
})
