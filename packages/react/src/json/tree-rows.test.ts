import { describe, expect, it } from 'vitest'
import { findInJson } from './find-in-json.ts'
import { fittingDepth, pathOf, pointer, spansTo, type TreeShape, treeRows } from './tree-rows.ts'

const shape = (change: Partial<TreeShape> = {}): TreeShape => ({
  depth: 1,
  toggled: new Set(),
  shown: new Map(),
  ...change,
})
const ids = (value: unknown, change?: Partial<TreeShape>) =>
  treeRows(value, shape(change)).map(({ id, type }) => (type === 'more' ? 'more' : id))

describe('treeRows', () => {
  it('expands levels down to the depth, and inverts what is toggled', () => {
    const value = { a: { b: { c: 1 } }, d: 2 }
    expect(ids(value)).toEqual(['', '/a', '/d'])
    expect(ids(value, { toggled: new Set(['/a']) })).toEqual(['', '/a', '/a/b', '/d'])
    expect(ids(value, { toggled: new Set(['']) })).toEqual([''])
  })

  it('shows a long list page by page', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index)
    expect(ids(list)).toHaveLength(102)
    expect(ids(list).at(-1)).toBe('more')
    expect(ids(list, { shown: new Map([['', { from: 0, to: 600 }]]) })).toHaveLength(602)
  })

  it('shows the surroundings of a path in a long list, and what is hidden on both sides', () => {
    const list = Array.from({ length: 10_000 }, (_, index) => ({ index }))
    const shown = new Map(spansTo(list, [5_000, 'index']))
    const rows = treeRows(list, shape({ shown }))
    expect(rows.map(({ id }) => id)).toContain('/5000')
    expect(rows.filter(({ type }) => type === 'more')).toMatchObject([
      { side: 'before', hidden: 4_950 },
      { side: 'after', hidden: 4_950 },
    ])
  })

  it('makes no more lines than requested', () => {
    const list = Array.from({ length: 50 }, () => ({ a: [1, 2, 3] }))
    expect(treeRows(list, shape({ depth: 9 }), 20).length).toBeLessThan(30)
  })

  it('shows scalars and empty containers', () => {
    for (const value of [0, '', null, undefined, false, {}, []]) expect(ids(value)).toEqual([''])
  })
})

describe('fittingDepth', () => {
  it('expands small values and collapses large ones', () => {
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
  it('escapes according to RFC 6901', () => {
    expect(pointer(['a/b', 'm~n', 0, ''])).toBe('/a~1b/m~0n/0/')
    expect(pathOf('/a~1b/m~0n/0/')).toEqual(['a/b', 'm~n', '0', ''])
  })
})

describe('findInJson', () => {
  it('finds keys and values, ignoring case', async () => {
    const value = { Usage: { tokens: 3 }, list: ['nothing', { other: 'USAGE here' }] }
    expect(await findInJson(value, 'usage')).toEqual([['Usage'], ['list', 1, 'other']])
  })

  it('returns the first of many matches, and searches deeply nested values', async () => {
    const list = Array.from({ length: 2_000 }, () => 'here')
    expect(await findInJson(list, 'here')).toHaveLength(500)
    let deep: unknown = 'here'
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect((await findInJson(deep, 'here'))[0]).toHaveLength(50_000)
  })

  it('stops when it is aborted', async () => {
    const controller = new AbortController()
    const list = Array.from({ length: 2_000_000 }, (_, index) => index)
    const search = findInJson(list, 'nowhere', { signal: controller.signal })
    controller.abort()
    await expect(search).rejects.toThrow('aborted')
  })
})
