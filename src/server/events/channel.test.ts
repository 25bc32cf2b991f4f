import { describe, expect, it } from 'vitest'
import { Channel, type Frame, jsonFrame } from './channel.ts'

const decoder = new TextDecoder()

function frame(number: number, size = 10): Frame {
  return jsonFrame('x'.repeat(size), { number })
}

/** Reads events as they arrive. */
function collect(stream: ReadableStream<Uint8Array>): { text: string } {
  const got = { text: '' }
  void (async () => {
    for await (const chunk of stream) got.text += decoder.decode(chunk)
  })()
  return got
}

/** Returns all remaining events of a stream that is over. */
async function finished(stream: ReadableStream<Uint8Array>): Promise<{ text: string }> {
  return { text: await new Response(stream).text() }
}

function ids(text: string): number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
}

describe('Channel', () => {
  it('returns past, concurrent and future events, each once and in order', async () => {
    const channel = new Channel({ after: 0 })
    for (let n = 1; n <= 3; n++) channel.push(frame(n))
    let position = 0
    async function* before() {
      channel.push(frame(4))
      yield frame(1).bytes
      position = 1
      channel.push(frame(5))
    }
    const stream = channel.listen({
      before,
      now: () => channel.since(position) ?? [],
      onEnd() {},
    })
    const got = collect(stream)
    await expect.poll(() => ids(got.text)).toContain(5)
    channel.push(frame(6))
    channel.push(frame(7))
    await expect.poll(() => ids(got.text)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('disconnects only a slow reader, with a reason', async () => {
    const channel = new Channel({ after: 0, keepBytes: 10_000, readerBytes: 1000 })
    const ended: string[] = []
    const listen = (name: string) =>
      channel.listen({ now: () => [], onEnd: () => void ended.push(name) })
    const slow = listen('slow')
    const quick = collect(listen('quick'))
    await expect.poll(() => quick.text).toContain('retry')
    for (let n = 1; n <= 200; n++) {
      channel.push(frame(n, 100))
      await expect.poll(() => ids(quick.text).length, { interval: 1 }).toBe(n)
    }
    expect(ended).toEqual(['slow'])
    expect(ids(quick.text)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
    const { text: rest } = await finished(slow)
    expect(rest).toContain('event: cut\ndata: {"reason":"slow"')
    // The received events are complete: the last position says where to continue.
    const seen = ids(rest)
    expect(seen).toEqual(seen.map((_, i) => i + 1))
    expect(channel.readers).toBe(1)
  })

  it('reports events that it has not kept', () => {
    const channel = new Channel({ after: 5, keepBytes: 1000 })
    for (let n = 6; n <= 100; n++) channel.push(frame(n, 100))
    expect(channel.since(4)).toBeNull()
    expect(channel.since(50)).toBeNull()
    expect(channel.since(99)?.map(({ id }) => id)).toEqual([100])
    expect(channel.since(100)).toEqual([])
  })

  it('removes readers that leave', async () => {
    const channel = new Channel({ after: 0 })
    const stream = channel.listen({ now: () => [], onEnd() {} })
    expect(channel.readers).toBe(1)
    await stream.cancel()
    expect(channel.readers).toBe(0)
    channel.push(frame(1))
  })
})
