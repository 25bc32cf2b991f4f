import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inParallel } from '../in-parallel.ts'
import { byteRange, meterStream, peek, readBytes } from './body.ts'

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
  it('reads the beginning, and consumes nothing', async () => {
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

  it('rejects a stream that is locked or not of bytes, and cancels it', async () => {
    let reason: unknown
    const text = new ReadableStream({
      start: (controller) => controller.enqueue('text'),
      cancel: (why) => {
        reason = why
      },
    })
    await expect(peek(text, 10)).rejects.toMatchObject({ code: 'asset_invalid' })
    expect(reason).toMatchObject({ code: 'asset_invalid' })
    await expect(peek(text, 10)).rejects.toMatchObject({ code: 'asset_invalid' })
  })
})

describe('meterStream', () => {
  /** An endless stream, and the reason of its cancellation. */
  function endless(chunk: unknown = new Uint8Array(10)) {
    const cancelled: unknown[] = []
    const stream = new ReadableStream({
      pull: (controller) => (chunk ? controller.enqueue(chunk) : new Promise(() => {})),
      cancel: (reason) => void cancelled.push(reason),
    })
    return { stream, cancelled }
  }

  it('passes each chunk to the meter before passing it on', async () => {
    const seen: number[] = []
    const source = streamOf([new Uint8Array(60), new Uint8Array(40)])
    const { stream } = meterStream(source, { onChunk: (chunk) => void seen.push(chunk.byteLength) })
    expect((await readBytes(stream)).byteLength).toBe(100)
    expect(seen).toEqual([60, 40])
  })

  it('cancels its source if the meter throws, if a chunk is not bytes, and from outside', async () => {
    const full = new Error('full')
    const onChunk = async () => Promise.reject(full)
    const { stream, cancelled } = endless()
    await expect(readBytes(meterStream(stream, { onChunk }).stream)).rejects.toBe(full)
    expect(cancelled).toEqual([full])
    const text = endless('text')
    await expect(readBytes(meterStream(text.stream, { onChunk }).stream)).rejects.toMatchObject({
      code: 'asset_invalid',
    })
    expect(text.cancelled).toHaveLength(1)
    const given = endless()
    const metered = meterStream(given.stream, { onChunk() {} })
    await peek(metered.stream, 20)
    metered.cancel('no more')
    expect(given.cancelled).toEqual(['no more'])
  })

  it('ends when it is aborted, also while the source is silent', async () => {
    const abort = new AbortController()
    const { stream, cancelled } = endless(null)
    const metered = meterStream(stream, { onChunk() {}, signal: abort.signal })
    const reading = readBytes(metered.stream)
    setTimeout(() => abort.abort(new Error('enough')), 1)
    await expect(reading).rejects.toThrow('enough')
    expect(cancelled).toHaveLength(1)
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
  it('respects the limit, runs large items alone, and ends with the first failure', async () => {
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
