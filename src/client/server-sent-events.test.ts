import { describe, expect, it } from 'vitest'
import { readEventStream, type ServerSentEvent } from './server-sent-events.ts'

describe('readEventStream', () => {
  it('reads ids, names and data, and joins several data lines', async () => {
    const text = 'id: 7\nevent: record\ndata: one\ndata: two\n\ndata:three\n\n'
    expect(await read(text)).toEqual([
      { id: '7', event: 'record', data: 'one\ntwo' },
      { data: 'three' },
    ])
  })

  it('accepts all three line endings, alone and mixed', async () => {
    expect(await read('data: a\r\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n')).toEqual([
      { data: 'a\nb' },
      { data: 'c' },
      { data: 'd' },
    ])
  })

  it('returns the same events wherever the bytes are split, even within a letter or a line ending', async () => {
    const text =
      '\uFEFF: hello\r\nid: 1\r\ndata: {"text":"†state — naïve 🌧"}\r\n\r\nid: 2\ndata: x\n\n'
    const whole = await read(text)
    expect(whole).toHaveLength(2)
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at <= bytes.length; at++) {
      expect(await readChunks([bytes.slice(0, at), bytes.slice(at)])).toEqual(whole)
    }
    expect(await readChunks([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(whole)
  })

  it('drops comments, events without data and an event that was cut off', async () => {
    expect(await read(': ping\n\nid: 3\n\ndata: whole\n\ndata: cut')).toEqual([{ data: 'whole' }])
  })

  it('keeps an empty data line as empty text and removes one leading space', async () => {
    expect(await read('data\n\ndata:  x\n\n')).toEqual([{ data: '' }, { data: ' x' }])
  })

  it('reports every chunk and releases the body when its reader stops early', async () => {
    let chunks = 0
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode('data: x\n\n')),
      cancel: () => {
        cancelled = true
      },
    })
    for await (const _ of readEventStream(body, () => chunks++)) {
      if (chunks === 3) break
    }
    expect(chunks).toBe(3)
    expect(cancelled).toBe(true)
  })
})

function read(text: string): Promise<ServerSentEvent[]> {
  return readChunks([new TextEncoder().encode(text)])
}

async function readChunks(chunks: Uint8Array[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = []
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  for await (const event of readEventStream(body)) events.push(event)
  return events
}
