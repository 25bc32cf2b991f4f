import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inParallel } from '../in-parallel.ts'
import { limitBody, peek, readBytes, streamFrom, tapBody } from './body.ts'
import { byteRange } from './byte-range.ts'

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...chunks]
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift()
      if (chunk) controller.enqueue(chunk)
      else controller.close()
    },
  })
}

describe('peek', () => {
  it('looks at the beginning and changes nothing', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 0, max: 30 }), async (all, length) => {
        const whole = Buffer.concat(all)
        for (const source of [streamOf(all), new Uint8Array(whole)]) {
          const { head, complete, body } = await peek(source, length)
          expect(Buffer.compare(head, whole.subarray(0, length))).toBe(0)
          if (complete) expect(whole.byteLength).toBeLessThanOrEqual(length)
          if (whole.byteLength < length) expect(complete).toBe(true)
          expect(Buffer.compare(await readBytes(body), whole)).toBe(0)
        }
      }),
    )
  })

  it('reads no more than it needs', async () => {
    let pulled = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(10))
        },
      },
      { highWaterMark: 0 },
    )
    const { body } = await peek(endless, 25)
    expect(pulled).toBe(3)
    await (body as ReadableStream).cancel()
  })

  it('refuses a stream of anything but bytes', async () => {
    const text = new ReadableStream({
      start(controller) {
        controller.enqueue('text')
      },
    })
    await expect(peek(text, 10)).rejects.toMatchObject({ code: 'asset_invalid' })
  })
})

describe('limitBody and tapBody', () => {
  it('pass what is within the limit, and end what is not', async () => {
    const chunks = [new Uint8Array(60), new Uint8Array(40)]
    expect((await readBytes(limitBody(streamOf(chunks), 100))).byteLength).toBe(100)
    await expect(readBytes(limitBody(streamOf(chunks), 99))).rejects.toMatchObject({
      code: 'asset_too_large',
    })
    expect(() => limitBody(new Uint8Array(101), 100)).toThrow('100 bytes')
  })

  it('keep a copy of small bodies only', async () => {
    for (const [limit, kept] of [
      [100, 100],
      [99, undefined],
    ] as const) {
      const tap = tapBody(streamOf([new Uint8Array(60), new Uint8Array(40)]), limit)
      await readBytes(tap.body)
      expect(tap.bytes()?.byteLength).toBe(kept)
    }
  })
})

describe('streamFrom', () => {
  it('starts with the first read, and ends its source when it is cancelled', async () => {
    const seen: string[] = []
    const stream = streamFrom(async function* () {
      seen.push('started')
      try {
        for (;;) yield new Uint8Array(1)
      } finally {
        seen.push('ended')
      }
    })
    await new Promise((go) => setTimeout(go, 1))
    expect(seen).toEqual([])
    const reader = stream.getReader()
    await reader.read()
    await reader.cancel()
    expect(seen).toEqual(['started', 'ended'])
  })
})

describe('byteRange', () => {
  it('agrees with slices', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: -60, max: 60 }), fc.nat(60), (size, start, end) => {
        const bytes = Uint8Array.from({ length: size }, (_, i) => i)
        const slice =
          start < 0
            ? bytes.slice(start).slice(0, Math.max(0, end - Math.max(0, size + start)))
            : bytes.slice(start, end)
        try {
          const range = byteRange(size, start, end)
          expect(bytes.slice(range.start, range.end)).toEqual(slice)
        } catch (error) {
          expect(error).toMatchObject({ code: 'range_not_satisfiable' })
          expect(slice.byteLength).toBe(0)
        }
      }),
    )
    expect(byteRange(0)).toEqual({ start: 0, end: 0 })
  })
})

describe('inParallel', () => {
  it('keeps within its places, runs the big alone, and ends with the first failure', async () => {
    let taken = 0
    let most = 0
    const sizes = [1, 3, 9, 1, 1, 2, 50, 1]
    const places = (size: number) => size
    const run = async (size: number) => {
      taken += Math.min(size, 4)
      most = Math.max(most, taken)
      await new Promise((go) => setTimeout(go, Math.random() * 3))
      taken -= Math.min(size, 4)
    }
    await inParallel(sizes, { limit: 4, places }, run)
    expect(most).toBe(4)
    const begun: number[] = []
    const failing = inParallel([0, 1, 2, 3, 4, 5], { limit: 2 }, async (i) => {
      begun.push(i)
      await new Promise((go) => setTimeout(go, 1))
      if (i === 1) throw new Error('one')
    })
    await expect(failing).rejects.toThrow('one')
    expect(begun.length).toBeLessThan(6)
  })
})
