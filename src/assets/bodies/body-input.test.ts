import { PassThrough, Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { webStream } from './body-input.ts'

describe('webStream', () => {
  it('gives the same bytes, as plain arrays', async () => {
    const chunks = await Array.fromAsync(
      webStream(Readable.from([Buffer.from('a'), Buffer.from('b')])),
    )
    expect(Buffer.concat(chunks).toString()).toBe('ab')
    expect(chunks.some((chunk) => Buffer.isBuffer(chunk))).toBe(false)
  })

  it('rejects with the error of the stream, also one from before it was read', async () => {
    const source = new PassThrough()
    const stream = webStream(source)
    source.destroy(new Error('the disk failed'))
    await new Promise((closed) => source.once('close', closed))
    await expect(stream.getReader().read()).rejects.toThrow('the disk failed')
  })

  it('destroys the stream when it is cancelled, read or not', async () => {
    for (const isRead of [true, false]) {
      const source = new PassThrough()
      source.write('a')
      const reader = webStream(source).getReader()
      if (isRead) await reader.read()
      await reader.cancel()
      expect(source.destroyed).toBe(true)
    }
  })

  it('ignores data that arrive after it was cancelled', async () => {
    const thrown: unknown[] = []
    const note = (error: unknown) => void thrown.push(error)
    process.on('uncaughtException', note)
    onTestFinished(() => void process.off('uncaughtException', note))
    /** A source that gives its next chunk although it was destroyed, like a file. */
    const source = new Readable({ read() {}, destroy: (_, end) => end(null) })
    const reader = webStream(source).getReader()
    const first = reader.read()
    source.push('a')
    await first
    const second = reader.read()
    await reader.cancel()
    source.emit('data', Buffer.from('b'))
    await second
    await turn()
    expect(thrown).toEqual([])
  })
})
