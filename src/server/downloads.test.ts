import { get as httpGet } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PNG } from '../assets/fixtures/stores.ts'
import { BASE, openApi, refusal } from './fixtures/api.ts'

/** A server with one file, and its URL. */
async function withFile(name: string, body: string | Uint8Array<ArrayBuffer>, type: string) {
  const api = openApi()
  const headers = { 'content-type': type }
  const { asset } = await api.askJson<{ asset: { assetId: string; digest: string } }>(
    `/api/assets?name=${encodeURIComponent(name)}`,
    { method: 'POST', body, headers },
  )
  const path = `/api/assets/${asset.assetId}/content`
  const get = (more: Record<string, string> = {}, method = 'GET', query = '') =>
    api.ask(path + query, { method, headers: more })
  return { ...api, path, get, etag: `"${asset.digest}"` }
}

/** Lets a server listen. Returns a function that gets responses from it as they are sent: `fetch` would unpack them. */
async function listening({ server }: ReturnType<typeof openApi>) {
  const { url, close } = await server.listen({ port: 0, graceMs: 100 })
  onTestFinished(close)
  return (path: string, headers: Record<string, string> = {}) =>
    new Promise<Response>((resolve, reject) => {
      const request = httpGet(url + path, { headers, agent: false }, async (answer) => {
        const { statusCode: status = 0, headers } = answer
        const body = status === 304 ? null : new Uint8Array(await buffer(answer))
        resolve(new Response(body, { status, headers: headers as Record<string, string> }))
      })
      request.on('error', reject)
    })
}

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(100)
const LARGE = new Uint8Array(300_000).map((_, n) => n % 251)

describe('ranges', () => {
  const bodies: [string, Uint8Array<ArrayBuffer>][] = [
    ['that is sent at once', LARGE.slice(0, 1000)],
    ['that streams', LARGE],
  ]

  it.each(bodies)('of a body %s', async (_, bytes) => {
    const { get } = await withFile('a.bin', bytes, 'application/x-any')
    const { length } = bytes
    const parts: [string, number, number][] = [
      ['bytes=0-0', 0, 1],
      ['bytes=0-99', 0, 100],
      [`bytes=${length - 1}-`, length - 1, length],
      [`bytes=${length - 5}-${length + 5}`, length - 5, length],
      ['bytes=-1', length - 1, length],
      [`bytes=-${length * 2}`, 0, length],
      ['bytes=10-', 10, length],
    ]
    for (const [range, start, end] of parts) {
      const answer = await get({ range })
      const { headers } = answer
      expect([
        range,
        answer.status,
        headers.get('content-range'),
        headers.get('content-length'),
      ]).toEqual([...[range, 206, `bytes ${start}-${end - 1}/${length}`, String(end - start)]])
      expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.slice(start, end))).toBe(true)
    }
  })

  it('that are invalid, multiple or in another unit return the whole body', async () => {
    const { get } = await withFile('a.txt', TEXT, 'text/plain')
    for (const range of [
      'bytes=0-1,5-6',
      'bytes=',
      'bytes=-',
      'bytes=9-2',
      'lines=0-1',
      'bytes=a-b',
      '0-1',
    ]) {
      const answer = await get({ range })
      expect([range, answer.status, await answer.text()]).toEqual([range, 200, TEXT])
    }
  })

  it('outside the body are rejected with its size', async () => {
    const { get } = await withFile('a.txt', 'text', 'text/plain')
    const { get: ofNothing } = await withFile('empty.bin', new Uint8Array(0), 'application/x-any')
    for (const range of ['bytes=4-', 'bytes=99-100', 'bytes=-0']) {
      const answer = await get({ range })
      expect(answer.headers.get('content-range')).toBe('bytes */4')
      expect(await refusal(answer)).toEqual({ status: 416, code: 'range_not_satisfiable' })
    }
    expect((await ofNothing({ range: 'bytes=0-' })).headers.get('content-range')).toBe('bytes */0')
    expect(await (await ofNothing()).text()).toBe('')
  })

  it('apply to the body that was requested, otherwise the whole is sent (If-Range)', async () => {
    const { get, etag } = await withFile('a.txt', TEXT, 'text/plain')
    const cases: [string, number][] = [
      [etag, 206],
      [`W/${etag}`, 200],
      ['"another"', 200],
      [`"another", ${etag}`, 200],
      ['Sun, 22 Nov 2026 00:00:00 GMT', 200],
    ]
    for (const [tag, status] of cases) {
      const answer = await get({ range: 'bytes=0-2', 'if-range': tag })
      expect([tag, answer.status, (await answer.text()).length]).toEqual([
        ...[tag, status, status === 206 ? 3 : TEXT.length],
      ])
    }
    // If the body is not the requested one, the range is ignored.
    expect((await get({ range: 'bytes=999999-', 'if-range': '"another"' })).status).toBe(200)
  })
})

describe('the metadata of a body', () => {
  it.each(['HEAD', 'GET'])('is sent with %s', async (method) => {
    const { get, etag } = await withFile('a.bin', LARGE, 'application/x-any')
    const whole = await get({}, method)
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      etag,
      'accept-ranges': 'bytes',
      'content-length': '300000',
      'content-type': 'application/x-any',
      'cache-control': 'private, max-age=31536000, immutable',
    })
    expect((await whole.arrayBuffer()).byteLength).toBe(method === 'HEAD' ? 0 : 300_000)
    const known = await get({ 'if-none-match': etag }, method)
    expect([known.status, known.headers.get('etag'), await known.text()]).toEqual([304, etag, ''])
    // RFC 9110, section 13.2.2: preconditions are evaluated before ranges.
    expect((await get({ 'if-none-match': etag, range: 'bytes=0-1' }, method)).status).toBe(304)
  })

  it('is the same for HEAD and for GET of a small body', async () => {
    const { get } = await withFile('a.txt', 'text', 'text/plain')
    const [head, whole] = [await get({}, 'HEAD'), await get()]
    expect(head.headers.get('content-length')).toBe('4')
    expect(whole.headers.get('content-length')).toBe('4')
    expect(head.headers.get('content-type')).toBe(whole.headers.get('content-type'))
  })
})

describe('compression', () => {
  const gzip = { 'accept-encoding': 'gzip, br' }

  it('makes text smaller for clients that accept it, under a weak ETag', async () => {
    const { etag, path, ...api } = await withFile('a.txt', TEXT, 'text/plain')
    const ask = await listening(api)
    const get = (headers: Record<string, string>) => ask(path, headers)
    const answer = await get(gzip)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(gunzipSync(bytes).toString()).toBe(TEXT)
    expect(bytes.length).toBeLessThan(TEXT.length / 4)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-encoding': 'gzip',
      vary: expect.stringMatching(/accept-encoding/i),
      etag: `W/${etag}`,
    })
    expect(answer.headers.get('content-length')).toBeNull()
    expect((await get({ ...gzip, 'if-none-match': `W/${etag}` })).status).toBe(304)

    for (const none of ['', 'gzip;q=0', 'identity', 'br']) {
      const plain = await get(none === '' ? {} : { 'accept-encoding': none })
      expect([plain.headers.get('content-encoding'), plain.headers.get('etag')]).toEqual([
        null,
        etag,
      ])
      expect(plain.headers.get('vary')).toMatch(/accept-encoding/i)
      expect(await plain.text()).toBe(TEXT)
    }
  })

  it('skips ranges, small bodies, pictures and bytes', async () => {
    const { path, ...api } = await withFile('a.txt', TEXT, 'text/plain')
    const ranged = await (await listening(api))(path, { ...gzip, range: 'bytes=0-1999' })
    expect([ranged.status, ranged.headers.get('content-encoding')]).toEqual([206, null])
    expect(await ranged.text()).toBe(TEXT.slice(0, 2000))
    const others: [string, string | Uint8Array<ArrayBuffer>, string][] = [
      ['small.txt', 'text', 'text/plain'],
      ['a.png', new Uint8Array([...PNG, ...LARGE.slice(0, 5000)]), 'image/png'],
      ['a.bin', LARGE, 'application/octet-stream'],
    ]
    for (const [name, body, type] of others) {
      const { path, ...api } = await withFile(name, body, type)
      const answer = await (await listening(api))(path, gzip)
      expect([name, answer.headers.get('content-encoding')]).toEqual([name, null])
      expect(answer.headers.get('etag')).toMatch(/^"/)
    }
  })

  it('skips short JSON responses, and sends their length', async () => {
    const api = openApi()
    const { ask } = api
    const made = await ask('/api/conversations', { method: 'POST', json: {}, headers: gzip })
    const text = await made.clone().text()
    expect([made.headers.get('content-encoding'), made.headers.get('content-length')]).toEqual([
      ...[null, String(text.length)],
    ])
    for (let n = 0; n < 20; n++) await ask('/api/conversations', { method: 'POST', json: {} })
    const list = await (await listening(api))('/api/conversations', gzip)
    expect(list.headers.get('content-encoding')).toBe('gzip')
    const whole = gunzipSync(Buffer.from(await list.arrayBuffer())).toString()
    expect(JSON.parse(whole).conversations).toHaveLength(21)
  })

  it('is left to the server that `fetch` is part of: Next.js would remove its header', async () => {
    const { get, server } = await withFile('a.txt', TEXT, 'text/plain')
    const answer = await get(gzip)
    expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual([null, TEXT])
    const request = new Request(`${BASE}/api/openapi.json`, { headers: gzip })
    expect(await (await server.fetch(request)).json()).toEqual(server.openApi)
  })
})

describe('active documents', () => {
  it.each([
    ['a.html', '<!doctype html><script>alert(1)</script>', 'text/html'],
    [
      'a.xhtml',
      '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
      'application/xhtml+xml',
    ],
    [
      'a.svg',
      '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      'image/svg+xml',
    ],
    ['a.xml', '<?xml-stylesheet href="a.xsl"?><a/>', 'application/xml'],
    ['a.pdf', '%PDF-1.4', 'application/pdf'],
    ['a.js', 'alert(1)', 'text/javascript'],
    ['a.weird', '<script>alert(1)</script>', 'text/html; charset=utf-7'],
  ])('%s cannot act in this origin, in any form', async (name, body, type) => {
    const { get } = await withFile(name, body, type)
    const forms = [
      await get(),
      await get({}, 'HEAD'),
      await get({ range: 'bytes=0-3' }),
      await get({ 'accept-encoding': 'gzip' }),
      await get({}, 'GET', '?download=1'),
      await get({ range: 'bytes=9999-' }),
    ]
    for (const { headers } of forms) {
      expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
      expect(headers.get('content-security-policy')).not.toContain('allow-')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    }
    expect(forms[4]?.headers.get('content-disposition')).toMatch(/^attachment; /)
  })
})

describe('names and fields', () => {
  it('are sent as an attachment on request', async () => {
    const { get } = await withFile('évil "x".html', 'text', 'text/html')
    const download = (await get({}, 'GET', '?download=1')).headers.get('content-disposition')
    expect(download).toBe("attachment; filename*=UTF-8''%C3%A9vil%20%22x%22.html")
    expect((await get()).headers.get('content-disposition')).toBeNull()
  })

  it.each([
    ['Sum of Amount by City', 'image/png', 'Sum of Amount by City.png'],
    [
      'Sum of Amount where Size is above 1.5',
      'image/png',
      'Sum of Amount where Size is above 1.5.png',
    ],
    ['photo.png', 'image/png', 'photo.png'],
    ['LICENSE', 'text/plain', 'LICENSE'],
    ['data.xyz', 'application/octet-stream', 'data.xyz'],
  ])('have the extension of their type in a download: %s (%s)', async (name, mime, saved) => {
    const content = mime === 'image/png' ? new Uint8Array(PNG) : 'text'
    const { get } = await withFile(name, content, mime)
    const header = (await get({}, 'GET', '?download=1')).headers.get('content-disposition') ?? ''
    expect(decodeURIComponent(header)).toBe(`attachment; filename*=UTF-8''${saved}`)
  })

  it('are available from the first level on', async () => {
    const { get } = await withFile('a.txt', 'text', 'text/plain')
    const field = await get({}, 'GET', '?path=img')
    expect(await field.clone().text()).toContain('did you mean content/img?')
    expect(await refusal(field)).toEqual({ status: 400, code: 'invalid_reference' })
  })
})
