import { describe, expect, it } from 'vitest'
import { readBytes } from '../bodies/body.ts'
import { WORTH_BYTES } from './has-duckdb.ts'
import { layAside } from './lay-aside.ts'

/** Chunks of one buffer that is filled anew for each. */
function reusing(chunks: number, size: number): ReadableStream<Uint8Array> {
  const buffer = new Uint8Array(size)
  let sent = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (sent === chunks) return controller.close()
        controller.enqueue(buffer.fill(sent++))
      },
    },
    { highWaterMark: 0 },
  )
}

describe('layAside', () => {
  it('has what passed by, also of a source that reuses its memory', async () => {
    const size = 100_000
    const chunks = Math.ceil(WORTH_BYTES / size) + 3
    const aside = layAside(reusing(chunks, size))
    let passed = 0
    for await (const chunk of aside.stream) passed += chunk.byteLength
    const spool = await aside.take()
    const bytes = spool && (await readBytes(spool.stream()))
    expect([passed, bytes?.byteLength]).toEqual([chunks * size, chunks * size])
    const seen = Array.from({ length: chunks }, (_, i) => bytes?.[i * size + size - 1])
    expect(seen).toEqual(seen.map((_, i) => i))
    await spool?.dispose()
  })

  it('keeps nothing of a small file', async () => {
    const aside = layAside(reusing(10, 1_000))
    await readBytes(aside.stream)
    expect(await aside.take()).toBe(null)
  })

  it('lets the stream pass where there is no room', async () => {
    const before = process.env.TMPDIR
    process.env.TMPDIR = '/nowhere'
    try {
      const aside = layAside(reusing(300, 100_000))
      expect((await readBytes(aside.stream)).byteLength).toBe(30_000_000)
      expect(await aside.take()).toBe(null)
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  })
})
