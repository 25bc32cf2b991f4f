import { describe, expect, it } from 'vitest'
import { isPlainJson } from './may-hold-assets.ts'

const rows = (last: unknown) => [
  ...Array.from({ length: 2_000 }, (_, id) => ({ id, city: 'Bonn', near: [null, true, 1.5] })),
  last,
]
const png = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, ...Array(40).fill(7)]).toString('base64')
const nested = (levels: number): unknown => (levels === 0 ? rows(1) : { in: nested(levels - 1) })

describe('isPlainJson', () => {
  it('accepts plain data of any size', () => {
    expect(isPlainJson({ id: 1, note: 'text' })).toBe(true)
    expect(isPlainJson(rows({ id: 1 }))).toBe(true)
    expect(isPlainJson(nested(50))).toBe(true)
  })

  it.each([
    ['bytes', new Uint8Array([1])],
    ['a date', new Date(0)],
    ['a Map', new Map()],
    ['an instance', new (class Chart {})()],
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['a file in base64', png],
    ['a data URL', 'data:text/plain,hello'],
    ['a reference', { assetRef: 'asset://x' }],
    ['a key of bodies', { dataBase64: 'AAAA' }],
    ['a function', { toJSON: () => 1 }],
  ])('rejects %s, also at the end of a large value', (_, last) => {
    expect(isPlainJson({ last })).toBe(false)
    expect(isPlainJson(rows(last))).toBe(false)
  })

  it('rejects sparse lists, cycles, and values that are too deep to examine', () => {
    const cycle: unknown[] = rows(1)
    cycle.push(cycle)
    expect(isPlainJson(cycle)).toBe(false)
    expect(isPlainJson(new Array(10))).toBe(false)
    expect(isPlainJson(new Array(4_000_000_000))).toBe(false)
    expect(isPlainJson(nested(200))).toBe(false)
  })

  it('calls no getter of a small value', () => {
    let calls = 0
    const small = {
      get count() {
        return ++calls
      },
    }
    expect(isPlainJson(small)).toBe(false)
    expect(calls).toBe(0)
  })
})
