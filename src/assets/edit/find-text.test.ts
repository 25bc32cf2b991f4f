import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { streamOf } from '../bodies/body.ts'
import { Draft } from './draft.ts'
import { findBytes } from './find-text.ts'

/** A draft whose body is read in chunks of some bytes. */
function draftOf(text: string, chunkSize: number): Draft {
  const bytes = Buffer.from(text)
  async function open({ start, end }: { start: number; end: number }) {
    const parts: Uint8Array[] = []
    for (let at = start; at < end; at += chunkSize) {
      parts.push(bytes.subarray(at, Math.min(end, at + chunkSize)))
    }
    return parts.length > 0 ? ReadableStream.from(parts) : streamOf(new Uint8Array())
  }
  return new Draft({ size: bytes.byteLength, open })
}

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
          const found = await placesIn(draftOf(whole, size), wanted, overlaps)
          expect(found).toEqual(expected(whole, wanted, overlaps))
        },
      ),
      { numRuns: 1000 },
    )
  })
})
