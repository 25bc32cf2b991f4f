import { describe, expect, it, vi } from 'vitest'
import { createClient } from './create-client.ts'
import { ApiError } from './transport.ts'

describe('createClient', () => {
  it('calls the routes of the API, with the token', async () => {
    const { client, seen } = fake(() => json({ conversations: [], assets: [], cancelled: true }))
    await client.conversations()
    await client.events('a/b', { after: 7, limit: 2 })
    await client.cancel('c')
    await client.assets({ limit: 3 })
    const { signal } = new AbortController()
    await client.rows('r', { columns: ['a'], limit: 2, signal })
    await client.labels('c', { after: 1 })
    await client.lineage('c', '†state')
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://x/api/conversations',
      'GET http://x/api/conversations/a%2Fb/events?after=7&limit=2',
      'POST http://x/api/conversations/c/cancel',
      'GET http://x/api/assets?limit=3',
      'GET http://x/api/assets/r/rows?limit=2&columns=%5B%22a%22%5D',
      'GET http://x/api/conversations/c/labels?after=1',
      'GET http://x/api/conversations/c/lineage?ref=%E2%80%A0state',
    ])
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer secret')
  })

  it('asks a function for the token of each request and each connection', async () => {
    const tokens = ['first', 'second', undefined, 'fourth']
    const seen: (string | null)[] = []
    const stop = new AbortController()
    const client = createClient({
      baseUrl: 'http://x',
      token: async () => tokens[seen.length],
      fetch: async (_, init) => {
        seen.push(new Headers(init?.headers).get('authorization'))
        if (seen.length === 4) stop.abort()
        return new Response('{}', { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    await client.info()
    await client.followConversations(() => {}, { signal: stop.signal })
    expect(seen).toEqual(['Bearer first', 'Bearer second', null, 'Bearer fourth'])
  })

  it('asks once more for a token if the server rejects it, and gives up on the same one', async () => {
    const tokens = ['old', 'new', 'bad', 'bad']
    const seen: (string | null)[] = []
    const client = createClient({
      baseUrl: 'http://x',
      token: () => tokens.shift(),
      fetch: async (_, init) => {
        const bearer = new Headers(init?.headers).get('authorization')
        seen.push(bearer)
        return json({}, bearer === 'Bearer new' ? 200 : 401)
      },
    })
    await client.info()
    await expect(client.info()).rejects.toMatchObject({ status: 401 })
    expect([seen, tokens]).toEqual([['Bearer old', 'Bearer new', 'Bearer bad'], []])
  })

  it('fails with the error of the function that returns the token', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>()
    const token = () => Promise.reject(new Error('Sign in first.'))
    const client = createClient({ baseUrl: 'http://x', token, fetch })
    await expect(client.info()).rejects.toThrow('Sign in first.')
    await expect(client.upload(new Blob(['a']))).rejects.toThrow('Sign in first.')
    expect(fetch).not.toHaveBeenCalled()
  })

  it('says that it needs the URL of the server outside of browsers', async () => {
    await expect(createClient().info()).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('createClient({ baseUrl })'),
    })
  })

  it('tells a wrong URL and a wrong token from a server that does not answer', async () => {
    for (const baseUrl of ['nope', 'ftp://x'])
      expect(() => createClient({ baseUrl })).toThrow('http URL')
    const client = createClient({ baseUrl: 'http://x', token: 'ab\n' })
    const failed = { code: 'config_invalid', transient: false }
    await expect(client.info()).rejects.toMatchObject(failed)
    const live = createClient().conversation('c')
    await vi.waitFor(() => expect(live.status).toBe('closed'))
    expect(live.error).toMatchObject(failed)
  })

  it('sends a message again to another agent', async () => {
    const { client, seen } = fake(() => json({}))
    await client.retry('c', 'm', { content: 'Again', agent: 'gauge' })
    expect(JSON.parse(String(seen[0]?.body))).toEqual({ content: 'Again', agent: 'gauge' })
  })

  it('follows the list of conversations, and continues after the last change', async () => {
    const streams = [
      'id: f-1\ndata: {"conversation":{"id":"a"}}\n\n',
      'id: f-2\ndata: {"deleted":"a"}\n\nevent: reset\ndata: {}\n\n',
    ]
    const { client, seen } = fake(
      () => new Response(streams.shift(), { headers: { 'content-type': 'text/event-stream' } }),
    )
    const stop = new AbortController()
    const changes: unknown[] = []
    await client.followConversations(
      (change) => {
        changes.push(change)
        if (changes.length === 4) stop.abort()
      },
      { signal: stop.signal },
    )
    expect(changes).toEqual([
      { type: 'reset' },
      { type: 'changed', conversation: { id: 'a' } },
      { type: 'deleted', id: 'a' },
      { type: 'reset' },
    ])
    expect(seen.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, 'f-1'])
  })

  it('ends the connection of a hidden page, and continues when the page is visible', async () => {
    const page = Object.assign(new EventTarget(), { hidden: true })
    vi.stubGlobal('document', page)
    try {
      let ended = 0
      const headers = { 'content-type': 'text/event-stream' }
      const { client, seen } = fake((_, init) => {
        const start = (stream: ReadableStreamDefaultController) =>
          init?.signal?.addEventListener('abort', () => {
            ended += 1
            stream.error(init.signal?.reason)
          })
        return new Response(new ReadableStream({ start }), { headers })
      })
      const stop = new AbortController()
      const following = client.followConversations(() => {}, {
        signal: stop.signal,
        whileVisible: true,
      })
      await vi.waitFor(() => expect([seen.length, ended]).toEqual([1, 1]))
      page.hidden = false
      page.dispatchEvent(new Event('visibilitychange'))
      await vi.waitFor(() => expect(seen.length).toBe(2))
      stop.abort()
      await following
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('rejects with an error of onChange', async () => {
    const headers = { 'content-type': 'text/event-stream' }
    const { client, seen } = fake(() => new Response('data: {"deleted":"a"}\n\n', { headers }))
    const stop = new AbortController()
    const following = client.followConversations(
      ({ type }) => {
        // Reconnecting would not help.
        if (seen.length > 1) stop.abort()
        if (type === 'deleted') throw new Error('a bug of the page')
      },
      { signal: stop.signal },
    )
    await expect(following).rejects.toThrow('a bug of the page')
  })

  it('shows how to pass a URL', () => {
    const code = () => createClient('http://127.0.0.1:4114' as never)
    expect(code).toThrow(`createClient({ baseUrl: 'http://127.0.0.1:4114' })`)
  })

  it('deletes a message', async () => {
    const { client, seen } = fake(() => new Response(null, { status: 204 }))
    await client.deleteMessage('c', 'm/1')
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'DELETE http://x/api/conversations/c/messages/m%2F1',
    ])
  })

  it('sends a message as JSON', async () => {
    const { client, seen } = fake(() => json({ messageId: 'm', runId: 'r' }, 202))
    const message = { content: 'hello', attachments: [{ assetRef: 'asset://a1' }] }
    expect(await client.send('c', message)).toEqual({ messageId: 'm', runId: 'r' })
    expect(seen[0]?.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(seen[0]?.body as string)).toEqual(message)
  })

  it('returns how a message is queued, answers about a call, and resumes', async () => {
    const { client, seen } = fake(() => json({ resumed: false }, 202))
    await client.send('c', { content: 'x' }, { ifBusy: 'steer' })
    await client.approve('c', 'call/1', { approved: false, reason: 'no' })
    expect(await client.resume('c')).toBe(false)
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST http://x/api/conversations/c/messages',
      'POST http://x/api/conversations/c/calls/call%2F1/approval',
      'POST http://x/api/conversations/c/resume',
    ])
    expect(seen.slice(0, 2).map(({ body }) => JSON.parse(body as string))).toEqual([
      { content: 'x', ifBusy: 'steer' },
      { approved: false, reason: 'no' },
    ])
  })

  it('throws errors of the server, with its code, message and status', async () => {
    const body = { error: { code: 'conversation_busy', message: 'A run is going on.' } }
    const { client } = fake(() => json(body, 409))
    await expect(client.send('c', { content: 'x' })).rejects.toMatchObject({
      name: 'ApiError',
      code: 'conversation_busy',
      message: 'A run is going on.',
      status: 409,
      transient: false,
    })
  })

  it('reports if the server cannot be reached, or is not a byref server', async () => {
    const gone = fake(() => {
      throw new TypeError('fetch failed')
    })
    await expect(gone.client.info()).rejects.toMatchObject({
      code: 'unreachable',
      status: 0,
      transient: true,
    })
    const other = fake(() => new Response('<html>', { status: 200 }))
    await expect(other.client.info()).rejects.toMatchObject({ code: 'unexpected_response' })
    const proxy = fake(() => new Response('Bad gateway', { status: 502 }))
    await expect(proxy.client.info()).rejects.toMatchObject({ status: 502, transient: true })
    const page = '<html><h1>413 Request Entity Too Large</h1></html>'
    const small = fake(() => new Response(page, { status: 413 }))
    const upload = small.client.upload(new Blob(['x']))
    await expect(upload).rejects.toThrow(/too large for a proxy .*\(status 413\)/)
  })

  it('reports a connection that is lost within an answer', async () => {
    const { client } = fake(() => new Response(cutAfter('{"version":')))
    const lost = { code: 'unreachable', transient: true }
    await expect(client.info()).rejects.toMatchObject(lost)
    await expect(client.upload(new Blob(['x']))).rejects.toMatchObject(lost)
    const stop = new AbortController()
    const stopped = fake(() => {
      stop.abort(new Error('enough'))
      return new Response(cutAfter('{"records":'))
    })
    await expect(stopped.client.events('c', { signal: stop.signal })).rejects.toThrow('enough')
  })

  it('returns null for an asset or debug data that does not exist', async () => {
    const missing = (code: string) =>
      fake(() => json({ error: { code, message: '…' } }, 404)).client
    expect(await missing('asset_not_found').asset('asset://a1')).toBeNull()
    expect(await missing('message_not_found').debug('c', 'm')).toBeNull()
    await expect(missing('conversation_not_found').debug('c', 'm')).rejects.toThrow(ApiError)
  })

  it('throws the reason of an abort, not an error of its own', async () => {
    const { client } = fake((_, init) => {
      throw init?.signal?.reason
    })
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.events('c', { signal })).rejects.toThrow('enough')
  })

  it('knows the URL of its server', () => {
    expect(createClient({ baseUrl: 'http://x/byref/' }).url).toBe('http://x/byref')
    expect(createClient().url).toBe('')
  })

  it('makes URLs of assets, their fields and downloads', () => {
    const { client } = fake(() => json({}))
    expect(client.assetUrl('asset://a1')).toBe('http://x/api/assets/a1/content')
    expect(client.assetUrl('a1', { download: true })).toBe(
      'http://x/api/assets/a1/content?download=1',
    )
    const field = new URL(client.assetUrl('asset://team/a1/content/rows/0/odd%2Fkey'))
    expect(field.pathname).toBe('/api/assets/a1/content')
    expect(field.searchParams.get('path')).toBe('/content/rows/0/odd%2Fkey')
    const other = new URL(client.assetUrl('asset://a1/content/x', { path: ['content', 'ä b', 2] }))
    expect(other.searchParams.get('path')).toBe('/content/%C3%A4%20b/2')
    expect(() => client.assetUrl('asset://content')).toThrow('content')
  })

  it('uploads a file unchanged, under its name and type', async () => {
    const { client, seen } = fake(() => json({ asset: { ref: 'asset://a1' }, table: null }, 201))
    const progress: number[] = []
    const file = new File(['a,b\n1,2\n'], 'två tal.csv', { type: 'text/csv' })
    const result = await client.upload(file, { onProgress: (fraction) => progress.push(fraction) })
    expect(result.asset.ref).toBe('asset://a1')
    expect(seen[0]?.url).toBe('http://x/api/assets?name=tv%C3%A5%20tal.csv')
    expect(seen[0]?.headers.get('content-type')).toBe('text/csv')
    expect(seen[0]?.body).toBe(file)
    expect(progress).toEqual([0, 1])
  })

  it('opens a conversation: first the pages, then the stream', async () => {
    const { client, seen } = fake((url) =>
      url.includes('/stream')
        ? new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
        : json({ records: [], next: null }),
    )
    const live = client.conversation('c')
    await new Promise<void>((resolve) => {
      live.subscribe(() => live.status === 'live' && resolve())
    })
    live.close()
    expect(seen.map(({ url }) => url)).toEqual([
      'http://x/api/conversations/c/events?after=0&limit=1000',
      'http://x/api/conversations/c/stream',
    ])
    expect(seen[1]?.headers.get('last-event-id')).toBe('0')
  })
})

interface Seen {
  method: string
  url: string
  headers: Headers
  body: unknown
}

function fake(answer: (url: string, init?: RequestInit) => Response) {
  const seen: Seen[] = []
  const client = createClient({
    baseUrl: 'http://x/',
    token: 'secret',
    fetch: async (input, init) => {
      const url = String(input)
      const { method = 'GET', body } = init ?? {}
      seen.push({ method, url, headers: new Headers(init?.headers), body })
      return answer(url, init)
    },
  })
  return { client, seen }
}

/** A body whose connection is lost after a text. */
function cutAfter(text: string): ReadableStream<Uint8Array> {
  const parts = [new TextEncoder().encode(text)]
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift()
      if (part) controller.enqueue(part)
      else controller.error(new TypeError('terminated'))
    },
  })
}

function json(value: unknown, status = 200): Response {
  return Response.json(value, { status })
}
