import { describe, expect, it, vi } from 'vitest'
import { abortable, consume } from './abortable.ts'
import { readBytes } from './body.ts'

/** A stream that yields one byte and then nothing, and records the reason of its cancellation. */
function stalled() {
  const cancel = vi.fn()
  let given = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (given) return new Promise<void>(() => {})
        given = true
        controller.enqueue(new Uint8Array(1))
      },
      cancel(reason) {
        cancel(reason)
        return new Promise<void>(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, cancel }
}

describe('abortable', () => {
  it('ends a stream that is silent, and cancels its source', async () => {
    const { stream, cancel } = stalled()
    const abort = new AbortController()
    const reader = abortable(stream, abort.signal).getReader()
    expect((await reader.read()).value).toHaveLength(1)
    const next = reader.read()
    abort.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
    expect(cancel.mock.calls[0]?.[0]).toEqual(new Error('enough'))
  })

  it('fails at once with a signal that is already aborted', async () => {
    const { stream, cancel } = stalled()
    const reader = abortable(stream, AbortSignal.abort(new Error('before'))).getReader()
    await expect(reader.read()).rejects.toThrow('before')
    expect(cancel).toHaveBeenCalledOnce()
  })

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    await readBytes(abortable(new Blob(['abc']).stream(), signal))
    await abortable(new Blob(['abc']).stream(), signal).cancel()
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length)
    expect(added).toHaveBeenCalledTimes(2)
  })
})

describe('consume', () => {
  it('cancels the source of a save that fails before the end, read or not', async () => {
    for (const read of [true, false]) {
      const { stream, cancel } = stalled()
      const saving = consume(stream, undefined, async (body) => {
        if (read) await (body as ReadableStream).getReader().read()
        throw new Error('full')
      })
      await expect(saving).rejects.toThrow('full')
      expect(cancel.mock.calls[0]?.[0]).toEqual(new Error('full'))
    }
  })

  it('throws the error of the source, not the error of the save', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: () => Promise.reject(Object.assign(new Error('gone'), { code: 'ENOENT' })),
    })
    const saving = consume(broken, undefined, async (body) => {
      await readBytes(body).catch(() => {
        throw new Error('the disk failed')
      })
    })
    await expect(saving).rejects.toThrow('gone')
  })
})
