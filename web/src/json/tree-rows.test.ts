import { describe, expect, it } from 'vitest'
import { findInJson } from './find-in-json.ts'
import { fittingDepth, pointer, type TreeShape, treeRows } from './tree-rows.ts'

const shape = (change: Partial<TreeShape> = {}): TreeShape => ({
  depth: 1,
  toggled: new Set(),
  shown: new Map(),
  ...change,
})
const ids = (value: unknown, change?: Partial<TreeShape>) =>
  treeRows(value, shape(change)).map(({ id, type }) => (type === 'more' ? 'more' : id))

describe('treeRows', () => {
  it('opens levels down to the depth, and what is toggled the other way round', () => {
    const value = { a: { b: { c: 1 } }, d: 2 }
    expect(ids(value)).toEqual(['', '/a', '/d'])
    expect(ids(value, { toggled: new Set(['/a']) })).toEqual(['', '/a', '/a/b', '/d'])
    expect(ids(value, { toggled: new Set(['']) })).toEqual([''])
  })

  it('shows a long list page by page', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index)
    expect(ids(list)).toHaveLength(102)
    expect(ids(list).at(-1)).toBe('more')
    expect(ids(list, { shown: new Map([['', 600]]) })).toHaveLength(602)
  })

  it('shows scalars and empty containers as they are', () => {
    for (const value of [0, '', null, undefined, false, {}, []]) expect(ids(value)).toEqual([''])
  })
})

describe('fittingDepth', () => {
  it('opens what is small and closes what is large', () => {
    expect(fittingDepth({ a: { b: 1 } }, 8)).toBe(6)
    expect(fittingDepth({ a: Array.from({ length: 50 }, () => 1) }, 8)).toBe(1)
    expect(
      fittingDepth(
        Array.from({ length: 50 }, () => 1),
        8,
      ),
    ).toBe(0)
  })
})

describe('pointer', () => {
  it('escapes as RFC 6901 says', () => {
    expect(pointer(['a/b', 'm~n', 0, ''])).toBe('/a~1b/m~0n/0/')
  })
})

describe('findInJson', () => {
  it('finds keys and values without regard to case', () => {
    const value = { Usage: { tokens: 3 }, list: ['nothing', { other: 'USAGE here' }] }
    expect(findInJson(value, 'usage')).toEqual([['Usage'], ['list', 1, 'other']])
  })
})
