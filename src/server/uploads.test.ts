import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readEventStream } from '../client/server-sent-events.ts'
import { openApi, refusal, token } from './fixtures/api.ts'
import { listening, temporary } from './fixtures/listening.ts'

interface Uploaded {
  asset: { assetId: string; name: string; mime: string; size: number; digest: string; ref: string }
  table: { ref: string; table: { rows: number; source: string } } | null
}

describe('uploads as a body', () => {
  it.each([
    ['plain.txt', 'plain.txt'],
    ['two\r\nlines.txt', 'two\r\nlines.txt'],
    ['quote".txt', 'quote".txt'],
    ['../../etc/passwd', '../../etc/passwd'],
    ['🎉 fête.txt', '🎉 fête.txt'],
    ['', 'file'],
  ])('keep the name %j, which is not a path', async (name, kept) => {
    const { ask, askJson } = openApi()
    const { asset } = await askJson<Uploaded>(`/api/assets?name=${encodeURIComponent(name)}`, {
      method: 'POST',
      body: 'text',
      headers: { 'content-type': 'text/plain' },
    })
    expect(asset).toMatchObject({ name: kept, size: 4 })
    const download = await ask(`/api/assets/${asset.assetId}/content?download=1`)
    const header = download.headers.get('content-disposition') ?? ''
    expect(decodeURIComponent(header.replace("attachment; filename*=UTF-8''", ''))).toBe(kept)
    expect(header).toMatch(/^[\x20-\x7e]+$/)
  })

  it('accepts an empty file', async () => {
    const { askJson } = openApi()
    const { asset } = await askJson<Uploaded>('/api/assets?name=empty.bin', {
      method: 'POST',
      body: new Uint8Array(0),
      headers: { 'content-type': 'image/png' },
    })
    expect(asset.size).toBe(0)
  })

  it('detects the type of a body that curl sends without one', async () => {
    const { askJson } = openApi()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { asset, table } = await askJson<Uploaded>('/api/assets?name=rain.csv', {
      method: 'POST',
      body: 'day,rain\n1,2\n',
      headers,
    })
    expect(asset.mime).toBe('text/csv')
    expect(table).not.toBeNull()
  })

  it('rejects a body that is too large while it is read, and keeps nothing of it', async () => {
    const { agent, ask } = openApi([], {
      agent: { assets: { config: { limits: { bodyBytes: 1000 } } } },
    })
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 500
        controller.enqueue(new Uint8Array(500))
      },
    })
    const answer = await ask('/api/assets?name=endless.bin', { method: 'POST', body })
    expect(await refusal(answer)).toEqual({ status: 413, code: 'asset_too_large' })
    expect(sent).toBeLessThan(100_000)
    expect(await agent.assets.usage()).toEqual({ assets: 0, bytes: 0 })
  })

  it('reports the progress of the table import on request', async () => {
    const { ask } = openApi()
    const rows = Array.from({ length: 50_000 }, (_, n) => `${n},city ${n % 7}`).join('\n')
    const answer = await ask('/api/assets?name=t.csv', {
      method: 'POST',
      body: `n,city\n${rows}\n`,
      headers: { accept: 'text/event-stream', 'content-type': 'text/csv' },
    })
    const events: [string | undefined, Record<string, unknown>][] = []
    for await (const { event, data } of readEventStream(
      answer.body as ReadableStream<Uint8Array>,
    )) {
      events.push([event, JSON.parse(data)])
    }
    expect(events.at(-1)).toMatchObject(['done', { table: { table: { rows: 50_000 } } }])
    const refused = await ask('/api/assets?name=t.csv', {
      method: 'POST',
      body: 'a,a"b\n"1',
      headers: { accept: 'text/event-stream', 'content-type': 'text/csv' },
    })
    expect(await refused.text()).toMatch(/^event: (done|error)\n/m)
  })

  it('logs the cause of a failure that it reports as an event', async () => {
    const failures: unknown[] = []
    const log = { info() {}, error: ({ err }: { err?: unknown }) => failures.push(err) }
    const { agent, ask } = openApi([], { log })
    const cause = new Error('the disk is gone')
    agent.assets.importFile = () => Promise.reject(cause)
    const headers = { accept: 'text/event-stream' }
    const answer = await ask('/api/assets', { method: 'POST', body: 'x', headers })
    expect(await answer.text()).toContain('"code":"internal"')
    expect(failures).toEqual([cause])
  })
})

describe('uploads as a form', () => {
  it('accepts several files in their order', async () => {
    const { askJson } = openApi()
    const body = new FormData()
    body.set('note', 'of no interest')
    body.append('files', new File(['one'], 'a "quoted" näme.txt', { type: 'text/plain' }))
    body.append('files', new File(['a,b\n1,2\n'], 't.csv', { type: 'text/csv' }))
    const { files } = await askJson<{ files: Uploaded[] }>('/api/assets', { method: 'POST', body })
    expect(files.map(({ asset, table }) => [asset.name, asset.size, table?.table.rows])).toEqual([
      ['a "quoted" näme.txt', 3, undefined],
      ['t.csv', 8, 1],
    ])
  })

  it('responds for each of several files, even if one cannot be saved', async () => {
    const { agent, ask } = openApi([], {
      agent: { assets: { config: { limits: { bodyBytes: 300_000 } } } },
    })
    const body = new FormData()
    body.append('f', new File(['a\n1\n'], 'good.csv', { type: 'text/csv' }))
    body.append('f', new File([''], 'empty.csv', { type: 'text/csv' }))
    body.append('f', new File([new Uint8Array(1_000_000)], 'large.bin'))
    body.append('f', new File(['a\n1\n2\n'], 'later.csv', { type: 'text/csv' }))
    const answer = await ask('/api/assets', { method: 'POST', body })
    expect(answer.status).toBe(207)
    expect(await answer.json()).toMatchObject({
      files: [
        { asset: { name: 'good.csv' }, table: { table: { rows: 1 } } },
        { name: 'empty.csv', error: { code: 'table_invalid', asset: { name: 'empty.csv' } } },
        { name: 'large.bin', error: { code: 'asset_too_large' } },
        { asset: { name: 'later.csv' }, table: { table: { rows: 2 } } },
      ],
    })
    expect((await agent.assets.usage()).assets).toBe(5)
  })

  it('responds to the failure of its only file like to that of a body', async () => {
    const { ask } = openApi()
    const body = new FormData()
    body.append('f', new File([''], 'empty.csv', { type: 'text/csv' }))
    const answer = await ask('/api/assets', { method: 'POST', body })
    expect(await refusal(answer)).toEqual({ status: 422, code: 'table_invalid' })
  })

  it('logs the cause if the server could not save one of its files', async () => {
    const failures: unknown[] = []
    const log = { info() {}, error: ({ err }: { err?: unknown }) => failures.push(err) }
    const { agent, ask } = openApi([], { log })
    const { importFile } = agent.assets
    const cause = new Error('the disk is gone')
    agent.assets.importFile = (file, options) =>
      options.name === 'a.txt' ? Promise.reject(cause) : importFile(file, options)
    const body = new FormData()
    for (const name of ['a.txt', 'b.txt']) body.append('f', new File(['text'], name))
    const answer = await ask('/api/assets', { method: 'POST', body })
    expect(await answer.json()).toMatchObject({
      files: [{ name: 'a.txt', error: { code: 'internal' } }, { asset: { name: 'b.txt' } }],
    })
    expect(failures).toEqual([cause])
  })

  const part = (name: string, content: string) =>
    `--x\r\ncontent-disposition: form-data; name="f"; filename="${name}"\r\n\r\n${content}`

  it('keeps the files before its broken end, and nothing of the open one', async () => {
    const { agent, ask } = openApi()
    const body = `${part('whole.csv', 'a\n1\n')}\r\n${part('half.txt', 'half')}`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await ask('/api/assets', { method: 'POST', body, headers })
    expect(answer.status).toBe(207)
    expect(await answer.json()).toMatchObject({
      files: [
        { asset: { name: 'whole.csv' }, table: { table: { rows: 1 } } },
        { name: 'half.txt', error: { code: 'bad_request' } },
      ],
      error: { code: 'bad_request', message: 'The form is incomplete or malformed' },
    })
    expect((await agent.assets.usage()).assets).toBe(2)
  })

  it('closes its open file if the client is gone', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const { agent, url, close } = await listening(folder)
    onTestFinished(close)
    const { importFile } = agent.assets
    const imports: Promise<unknown>[] = []
    agent.assets.importFile = (...given) => {
      const importing = importFile(...given)
      imports.push(importing.catch(() => 'ended'))
      return importing
    }
    const bearer = await token('member', null)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /api/assets HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bearer}\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 1000000\r\n\r\n`,
    )
    socket.write(part('half.txt', 'half'))
    await expect.poll(() => imports.length).toBe(1)
    socket.destroy()
    expect(await Promise.all(imports)).toEqual(['ended'])
    expect((await agent.assets.usage()).assets).toBe(0)
  })

  it('keeps its first 100 files, and reports that it has more', async () => {
    const { agent, ask } = openApi()
    const parts = Array.from({ length: 102 }, (_, n) => part(`${n}.txt`, 'text'))
    const body = `${parts.join('\r\n')}\r\n--x--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await ask('/api/assets', { method: 'POST', body, headers })
    expect(answer.status).toBe(207)
    const { files, error } = (await answer.json()) as { files: Uploaded[]; error: object }
    expect(files.map(({ asset }) => asset.name)).toEqual(
      Array.from({ length: 100 }, (_, n) => `${n}.txt`),
    )
    expect(error).toMatchObject({ message: 'The form has more than 100 files' })
    expect((await agent.assets.usage()).assets).toBe(100)
  })

  it.each([
    ['no file', 'multipart/form-data; boundary=x', '--x--\r\n'],
    ['no boundary', 'multipart/form-data', '--x--\r\n'],
    [
      'an end in the middle',
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\nhalf',
    ],
  ])('rejects a form with %s', async (_, type, body) => {
    const { agent, ask } = openApi()
    const answer = await ask('/api/assets', {
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
    expect(await refusal(answer)).toEqual({ status: 400, code: 'bad_request' })
    expect((await agent.assets.usage()).assets).toBe(0)
  })
})

/** Returns everything that a server sends in response to raw bytes, until one side closes the connection. */
async function rawly(url: string, send: (socket: Socket) => Promise<void> | void): Promise<string> {
  const socket = connect({ port: Number(new URL(url).port), allowHalfOpen: true })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const ended = once(socket, 'close').catch(() => {})
  await send(socket)
  socket.end()
  await ended
  return text
}

describe('uploads on a socket', () => {
  const head = (bearer: string, length: number) =>
    `POST /api/assets?name=a.bin HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bearer}\r\ncontent-length: ${length}\r\n\r\n`

  it('are cut off at the declared length, and shorter ones are rejected', async ({
    onTestFinished,
  }) => {
    const folder = temporary(onTestFinished)
    const { agent, url, close } = await listening(folder)
    onTestFinished(close)
    const bearer = await token('member', null)
    const less = await rawly(url, (socket) => void socket.write(`${head(bearer, 1000)}half`))
    expect(less).not.toContain(' 201 ')
    await expect.poll(() => bodiesIn(folder)).toEqual([])
    expect((await agent.assets.usage()).assets).toBe(0)

    const more = await rawly(url, async (socket) => {
      socket.write(`${head(bearer, 4)}text, and what nobody asked for\r\n\r\n`)
      await once(socket, 'end')
    })
    // The connection is closed at once, possibly before the response for the complete file.
    expect(more.match(/^HTTP\/1\.1 \d+/gm)?.at(-1)).toBe('HTTP/1.1 400')
    expect([0, 4]).toContain((await agent.assets.usage()).bytes)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  it('can arrive in small pieces', async ({ onTestFinished }) => {
    const { agent, url, close } = await listening(temporary(onTestFinished))
    onTestFinished(close)
    const bearer = await token('member', null)
    const answer = await rawly(url, async (socket) => {
      socket.write(head(bearer, 20))
      for (let n = 0; n < 20; n++) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        socket.write(`${n % 10}`)
      }
      while (!socket.bytesRead) await new Promise((resolve) => setTimeout(resolve, 10))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    const { assets } = await agent.assets.list({ limit: 1 })
    const { bytes } = await agent.assets.get(assets[0]?.ref ?? '')
    expect(Buffer.from(bytes).toString()).toBe('01234567890123456789')
  })
})

describe('interrupted uploads', () => {
  it('leave nothing', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const { agent, url, close } = await listening(folder)
    const bearer = await token('member', null)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /api/assets?name=a.bin HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bearer}\r\ncontent-length: 1000000\r\n\r\n`,
    )
    socket.write(Buffer.alloc(300_000))
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await expect.poll(() => bodiesIn(folder)).toEqual([])
    expect((await agent.assets.usage()).assets).toBe(0)
    await close()
  })
})

/** Returns the files of bodies in a folder of assets. */
function bodiesIn(folder: string): string[] {
  if (!existsSync(join(folder, 'assets'))) return []
  return readdirSync(join(folder, 'assets'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/sqlite|secret|id$/.test(entry.name))
    .map(({ name }) => name)
}
