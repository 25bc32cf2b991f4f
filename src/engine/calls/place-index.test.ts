import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DataPlace } from '../../boundary/call-plan.ts'
import { PlaceIndex } from './call-graph.ts'

const at = (path: DataPlace['path'], more: Partial<DataPlace> = {}): DataPlace => ({
  kind: 'state',
  path,
  ...more,
})

describe('PlaceIndex', () => {
  it('finds entries at a place, above it and below it', () => {
    const index = new PlaceIndex<string>()
    index.add(at([]), 'all')
    index.add(at(['a']), 'a')
    index.add(at(['a', 'b']), 'a.b')
    index.add(at(['a', 'c', 0]), 'a.c[0]')
    index.add(at(['ab']), 'ab')
    expect(index.overlapping(at(['a', 'b'])).sort()).toEqual(['a', 'a.b', 'all'])
    expect(index.overlapping(at(['a'])).sort()).toEqual(['a', 'a.b', 'a.c[0]', 'all'])
    expect(index.overlapping(at(['z', 'z']))).toEqual(['all'])
    expect(index.overlapping(at([]))).toHaveLength(5)
  })

  it('keeps kinds and instances apart', () => {
    const index = new PlaceIndex<string>()
    index.add(at(['x']), 'global')
    index.add(at(['x'], { instance: 'a' }), 'a')
    index.add(at(['x'], { instance: 'b' }), 'b')
    index.add(at(['x'], { kind: 'other' }), 'other')
    expect(index.overlapping(at([], { instance: 'a' }))).toEqual(['a'])
    expect(index.overlapping(at([]))).toEqual(['global'])
    expect(index.overlapping(at(['x'], { kind: 'none' }))).toEqual([])
  })

  it('treats an index and its digits as the same key', () => {
    const index = new PlaceIndex<string>()
    index.add(at(['rows', 0]), 'first')
    expect(index.overlapping(at(['rows', '0', 'x']))).toEqual(['first'])
  })

  it('holds more items at one place than a function can have arguments', () => {
    const index = new PlaceIndex<number>()
    for (let i = 0; i < 200_000; i++) index.add(at(['a']), i)
    expect(index.overlapping(at(['a', 'b']))).toHaveLength(200_000)
  })

  it('finds the same as a comparison with every place', () => {
    const key = fc.constantFrom<string | number>('a', 'b', 0, '__proto__')
    const place = fc
      .tuple(fc.array(key, { maxLength: 4 }), fc.constantFrom(undefined, 'i', 'j'))
      .map(([path, instance]) => at(path, instance ? { instance } : {}))
    fc.assert(
      fc.property(fc.array(place), place, (places, wanted) => {
        const index = new PlaceIndex<DataPlace>()
        for (const one of places) index.add(one, one)
        const found = new Set(index.overlapping(wanted))
        for (const one of places) expect(found.has(one)).toBe(overlap(one, wanted))
      }),
    )
  })
})

function overlap(a: DataPlace, b: DataPlace): boolean {
  const isBelow = a.path.every((key, i) => b.path.length <= i || String(b.path[i]) === String(key))
  return a.kind === b.kind && a.instance === b.instance && isBelow
}
