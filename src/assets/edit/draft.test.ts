import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangesOf } from '../content-access.ts'
import { Draft } from './draft.ts'
import { bodyInChunks } from './fixtures/body-in-chunks.ts'

describe('Draft', () => {
  it('has the same bytes in memory and in pieces', async () => {
    const text = fc.string({ unit: 'binary-ascii', maxLength: 20 })
    const place = fc.integer({ min: 0, max: 30 })
    const splice = fc.record({ places: fc.tuple(place, place), added: text })
    await fc.assert(
      fc.asyncProperty(text, fc.array(splice, { maxLength: 6 }), async (body, splices) => {
        const drafts = [new Draft(rangesOf(Buffer.from(body))), new Draft(bodyInChunks(body, 3))]
        let expected = body
        for (const { places, added } of splices) {
          const [start, end] = places
            .map((one) => Math.min(one, expected.length))
            .sort((a, b) => a - b) as [number, number]
          expected = expected.slice(0, start) + added + expected.slice(end)
          for (const draft of drafts) {
            draft.splice([{ start, end, bytes: Buffer.from(added) }])
            expect(await draft.text()).toBe(expected)
            expect(await draft.text(1, 5)).toBe(expected.slice(1, 5))
            expect(await new Response(draft.stream()).text()).toBe(expected)
          }
        }
        expect(drafts[0]?.changes()).toEqual(drafts[1]?.changes())
      }),
    )
  })

  it('stops when too much was read, and when it is aborted', async () => {
    const bytes = rangesOf(Buffer.from('abc'))
    const limited = new Draft(bytes, { budget: 7 })
    expect([await limited.text(), await limited.text()]).toEqual(['abc', 'abc'])
    await expect(limited.text()).rejects.toMatchObject({ code: 'asset_too_large' })
    const aborted = new Draft(bytes, { signal: AbortSignal.abort(new Error('stop')) })
    await expect(aborted.text()).rejects.toThrow('stop')
  })

  it('gives a stream whose chunks the reader may change', async () => {
    const draft = new Draft(rangesOf(Buffer.from('abc')))
    for await (const chunk of draft.stream()) chunk.fill(0)
    expect(await draft.text()).toBe('abc')
  })
})
