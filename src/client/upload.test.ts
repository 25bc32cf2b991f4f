import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Transport } from './transport.ts'
import { upload } from './upload.ts'

const transport: Transport = {
  baseUrl: '',
  fetch,
  native: true,
  authorization: async () => ({ authorization: 'Bearer t' }),
}

describe('upload, with XMLHttpRequest', () => {
  afterEach(() => vi.unstubAllGlobals())

  it('reports the progress and returns the asset that the server made of the file', async () => {
    const xhr = stubXhr()
    const progress: number[] = []
    const file = new File(['x'.repeat(10)], 'a.csv', { type: 'text/csv' })
    const sent = upload(transport, file, { onProgress: (fraction) => progress.push(fraction) })
    await xhr.started
    xhr.upload.onprogress?.({ loaded: 5, total: 10 })
    xhr.upload.onprogress?.({ loaded: 10, total: 10 })
    xhr.answer(201, { asset: { ref: 'asset://a1' }, table: null })
    expect((await sent).asset.ref).toBe('asset://a1')
    expect(progress).toEqual([0, 0.5, 1])
    expect(xhr.opened).toEqual(['POST', '/api/assets?name=a.csv'])
    expect(xhr.headers).toEqual({ authorization: 'Bearer t', 'content-type': 'text/csv' })
  })

  it('sends a large file in pieces, and reports the progress within each', async () => {
    const begun = new Response(null, { status: 201, headers: { location: '/api/uploads/u1' } })
    const made = Response.json({ asset: { ref: 'asset://a1' }, table: null }, { status: 201 })
    const answers = [begun, made]
    const fetch = vi.fn(async () => answers.shift() as Response)
    const xhr = stubXhr()
    const progress: number[] = []
    const file = new File(['x'.repeat(10)], 'a.bin')
    const sent = upload({ ...transport, fetch }, file, {
      pieceBytes: 6,
      onProgress: (fraction) => progress.push(fraction),
    })
    for (const [loaded, offset] of [
      [3, 6],
      [4, 10],
    ] as const) {
      await expect.poll(() => xhr.sent, { interval: 2 }).toBeGreaterThan(0)
      expect(xhr.opened).toEqual(['PATCH', '/api/uploads/u1'])
      xhr.sent = 0
      xhr.upload.onprogress?.({ loaded, total: 6 })
      xhr.answerHeaders = { 'upload-offset': String(offset) }
      xhr.answer(204, undefined, '')
    }
    expect((await sent).asset.ref).toBe('asset://a1')
    expect(progress).toEqual([0, 0.3, 1])
    expect(xhr.headers).toMatchObject({ authorization: 'Bearer t', 'upload-offset': '6' })
  })

  it('asks for the asset again if the connection is lost while the server makes a table', async () => {
    const progress = 'event: progress\ndata: {"phase":"reading","bytes":1,"size":2}\n\n'
    const parts = [new TextEncoder().encode(progress)]
    const cut = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift()
        if (part) controller.enqueue(part)
        else controller.error(new TypeError('terminated'))
      },
    })
    const answers = [
      new Response(null, { status: 201, headers: { location: '/api/uploads/u1' } }),
      new Response(null, { status: 204, headers: { 'upload-offset': '2' } }),
      new Response(cut),
      new Response('event: done\ndata: {"asset":{"ref":"asset://a1"},"table":null}\n\n'),
    ]
    const fetch = async () => answers.shift() as Response
    const read: number[] = []
    const made = await upload({ ...transport, fetch, native: false }, new Blob(['xy']), {
      pieceBytes: 1,
      retryDelay: 1,
      onImport: ({ bytes }) => read.push(bytes),
    })
    expect([made.asset.ref, read]).toEqual(['asset://a1', [1]])
  })

  it('gives up at once and deletes its upload if the disk of the server is full', async () => {
    const full = { error: { code: 'storage_full', message: 'Free some space' } }
    const answers = [
      new Response(null, { status: 201, headers: { location: '/api/uploads/u1' } }),
      Response.json(full, { status: 507 }),
      new Response(null, { status: 204 }),
    ]
    const seen: string[] = []
    const fetch = async (url: unknown, { method = 'GET' }: RequestInit = {}) => {
      seen.push(`${method} ${url}`)
      return answers.shift() as Response
    }
    const sent = upload(
      { ...transport, fetch: fetch as typeof globalThis.fetch, native: false },
      new Blob(['xy']),
      { pieceBytes: 1 },
    )
    await expect(sent).rejects.toMatchObject({ status: 507, code: 'storage_full' })
    await expect
      .poll(() => seen)
      .toEqual(['POST /api/uploads', 'PATCH /api/uploads/u1', 'DELETE /api/uploads/u1'])
  })

  it('rejects a string, which may be the path of a file', async () => {
    const invalid = { code: 'asset_invalid', message: expect.stringContaining('openAsBlob(path)') }
    const path = 'big.bin' as unknown as Blob
    await expect(upload(transport, path)).rejects.toMatchObject(invalid)
  })

  it('throws errors of the server', async () => {
    const xhr = stubXhr()
    const sent = upload(transport, new Blob(['x']))
    await xhr.started
    xhr.answer(422, { error: { code: 'table_invalid', message: 'line 3 is broken' } })
    await expect(sent).rejects.toMatchObject({ code: 'table_invalid', status: 422 })
  })

  it('throws if the connection is cut or the response is not from byref', async () => {
    const cut = stubXhr()
    const sent = upload(transport, new Blob(['x']))
    await cut.started
    cut.onerror?.()
    await expect(sent).rejects.toMatchObject({ code: 'unreachable' })
    const other = stubXhr()
    const strange = upload(transport, new Blob(['x']))
    await other.started
    other.answer(200, undefined, '<html>')
    await expect(strange).rejects.toMatchObject({ code: 'unexpected_response' })
  })

  it('stops when aborted, before and during the upload', async () => {
    const xhr = stubXhr()
    const controller = new AbortController()
    const sent = upload(transport, new Blob(['x']), { signal: controller.signal })
    await xhr.started
    controller.abort(new Error('never mind'))
    await expect(sent).rejects.toThrow('never mind')
    expect(xhr.aborted).toBe(true)
    await expect(upload(transport, new Blob([]), { signal: controller.signal })).rejects.toThrow(
      'never mind',
    )
  })

  it('deletes an upload that the server starts after the abort, and does not wait for it', async () => {
    const seen: string[] = []
    const begin = Promise.withResolvers<Response>()
    const fetch = async (url: unknown, { method = 'GET', signal }: RequestInit = {}) => {
      seen.push(`${method} ${url}`)
      if (method !== 'POST') return new Response(null, { status: 204 })
      return new Promise<Response>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
        begin.promise.then(resolve)
      })
    }
    const controller = new AbortController()
    const sent = upload(
      { ...transport, fetch: fetch as typeof globalThis.fetch },
      new Blob(['xy']),
      {
        pieceBytes: 1,
        signal: controller.signal,
      },
    )
    await expect.poll(() => seen).toEqual(['POST /api/uploads'])
    controller.abort(new Error('never mind'))
    await expect(sent).rejects.toThrow('never mind')
    expect(seen).toEqual(['POST /api/uploads'])
    begin.resolve(new Response(null, { status: 201, headers: { location: '/api/uploads/u1' } }))
    await expect.poll(() => seen).toEqual(['POST /api/uploads', 'DELETE /api/uploads/u1'])
  })

  it('sends nothing when it is aborted at the first progress', async () => {
    const xhr = stubXhr()
    const controller = new AbortController()
    const sent = upload(transport, new Blob(['x']), {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('never mind')),
    })
    await expect(sent).rejects.toThrow('never mind')
    expect(xhr.opened).toEqual([])
  })
})

function stubXhr() {
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const xhr = {
    started,
    status: 0,
    responseText: '',
    upload: { onprogress: null as ((event: { loaded: number; total: number }) => void) | null },
    onload: null as (() => void) | null,
    onerror: null as (() => void) | null,
    onabort: null as (() => void) | null,
    opened: [] as string[],
    headers: {} as Record<string, string>,
    aborted: false,
    sent: 0,
    answerHeaders: {} as Record<string, string>,
    getResponseHeader: (name: string) => xhr.answerHeaders[name] ?? null,
    open: (...parts: string[]) => {
      xhr.opened = parts
    },
    setRequestHeader: (name: string, value: string) => {
      xhr.headers[name] = value
    },
    send: (body: Blob) => {
      xhr.sent = body.size
      resolve()
    },
    abort: () => {
      xhr.aborted = true
      xhr.onabort?.()
    },
    answer: (status: number, body: unknown, text = JSON.stringify(body)) => {
      xhr.status = status
      xhr.responseText = text
      xhr.onload?.()
    },
  }
  vi.stubGlobal('XMLHttpRequest', function Xhr() {
    return xhr
  })
  return xhr
}
