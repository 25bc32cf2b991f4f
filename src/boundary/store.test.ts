import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { jsonLength, offload } from './store.ts'

describe('jsonLength', () => {
  it('is the length of small JSON, except for a comma', () => {
    expect(jsonLength('text', 100)).toBe(6)
    expect([true, false, null, -1.5].map((value) => jsonLength(value, 100))).toEqual([4, 5, 4, 4])
    expect([[], {}].map((value) => jsonLength(value, 100))).toEqual([2, 2])
    expect(jsonLength([1, 22], 100)).toBe(JSON.stringify([1, 22]).length + 1)
    expect(jsonLength({ a: 1 }, 100)).toBe(JSON.stringify({ a: 1 }).length + 1)
  })

  it('is off by at most one comma for each list and object, if nothing is escaped', () => {
    const plain = fc.stringMatching(/^[a-z]*$/)
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        plain,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        fc.dictionary(plain, tie('value')),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        const { length } = JSON.stringify(one)
        const containers = JSON.stringify(one).match(/[[{]/g)?.length ?? 0
        const counted = jsonLength(one, Infinity)
        expect(counted).toBeGreaterThanOrEqual(length)
        expect(counted).toBeLessThanOrEqual(length + containers)
      }),
    )
  })

  it('stops counting at the limit', () => {
    let asked = 0
    const item = (): object => ({
      get text() {
        asked++
        return 'x'.repeat(100)
      },
    })
    const list = Array.from({ length: 1000 }, item)
    const length = jsonLength(list, 1000)
    expect(length).toBeGreaterThan(1000)
    expect(length).toBeLessThan(1300)
    expect(asked).toBeLessThan(12)
  })
})

describe('offload', () => {
  it('keeps all of a large result in its asset, and little of it in the record', async () => {
    const assets = createAssets()
    const value = Array.from({ length: 1_000 }, (_, id) => ({ id, note: 'n'.repeat(100) }))
    const call = { tool: 'rows', toolCallId: 'c' }
    const stored = await offload<{ value: unknown; events: unknown[] }>(
      call,
      { value, events: [] },
      () => assets,
    )
    const { assetRef } = stored.value as { assetRef: string }
    expect(await assets.resolve(`${assetRef}/content`)).toEqual(value)
    expect(JSON.stringify(await assets.meta(assetRef)).length).toBeLessThan(1_500)
  })
})
