import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Draft } from './draft.ts'
import { findBytes } from './find-text.ts'
import { bodyInChunks } from './fixtures/body-in-chunks.ts'

async function placesIn(draft: Draft, wanted: string, overlaps: boolean): Promise<number[]> {
  const found: number[] = []
  const options = { unit: 1, overlaps } as const
  for await (const places of findBytes(draft, Buffer.from(wanted), options)) found.push(...places)
  return found
}

function expected(text: string, wanted: string, overlaps: boolean): number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; ) {
    found.push(at)
    at = text.indexOf(wanted, at + (overlaps ? 1 : wanted.length))
  }
  return found
}

describe('findBytes', () => {
  it('finds the same in chunks of any size', async () => {
    const text = (limits: fc.ArrayConstraints) =>
      fc.array(fc.constantFrom('a', 'b', 'c'), limits).map((letters) => letters.join(''))
    const chunkSize = fc.integer({ min: 1, max: 9 })
    await fc.assert(
      fc.asyncProperty(
        text({ maxLength: 60 }),
        text({ minLength: 1, maxLength: 5 }),
        chunkSize,
        fc.boolean(),
        async (whole, wanted, size, overlaps) => {
          const found = await placesIn(new Draft(bodyInChunks(whole, size)), wanted, overlaps)
          expect(found).toEqual(expected(whole, wanted, overlaps))
        },
      ),
      { numRuns: 1000 },
    )
  })
})
