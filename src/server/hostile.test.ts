import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { BASE, openApi, refusal } from './fixtures/api.ts'
import { operationsOf } from './fixtures/open-api.ts'

describe('requests of any form', () => {
  const api = openApi()
  const operations = operationsOf(api.server.openApi as Record<string, unknown>).filter(
    ({ path }) => !path.endsWith('/stream') && path !== '/api/events',
  )
  let id = ''
  beforeAll(async () => {
    id = (await api.askJson<{ id: string }>('/api/conversations', { method: 'POST', json: {} })).id
  })

  it.each(operations)(
    'never fail $method $path',
    async ({ method, path, parameters, requestBody }) => {
      const keys = keysOf(requestBody?.content['application/json']?.schema)
      const odd = fc.oneof(
        fc.jsonValue({ maxDepth: 3 }),
        fc.constantFrom('', 'asset://none', '†state.x', '__proto__', -1, 1e308, null, [], {}),
      )
      const body = fc.dictionary(fc.constantFrom(...keys, '__proto__', 'constructor', 'odd'), odd)
      const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      const query = fc.dictionary(fc.constantFrom(...names, 'odd'), fc.string())
      const segment = fc.oneof(fc.constant(id), fc.string({ minLength: 1 }))
      await fc.assert(
        fc.asyncProperty(body, query, segment, async (json, search, value) => {
          const filled = path.replace(/\{\w+\}/g, () => encodeURIComponent(value.toWellFormed()))
          const params = new URLSearchParams(
            Object.entries(search).map(([key, text]): [string, string] => [
              key,
              text.toWellFormed(),
            ]),
          )
          const takesBody = method !== 'GET' && method !== 'DELETE'
          const answer = await api.ask(`${filled}?${params}`, {
            method,
            ...(takesBody ? { json } : {}),
          })
          expect([answer.status, method, filled, await answer.text()][0]).toBeLessThan(500)
        }),
        { numRuns: 40 },
      )
    },
  )

  it('do not pollute prototypes', async () => {
    const body =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"title":"x"}'
    const headers = { 'content-type': 'application/json' }
    await api.ask('/api/conversations', { method: 'POST', body, headers })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('invalid requests', () => {
  const { ask } = openApi()
  const json = { 'content-type': 'application/json' }
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const cases: [string, () => Promise<Response>, number, string][] = [
    ['10 MB of JSON', () => post(`{"title":"${'x'.repeat(1e7)}"}`), 413, 'body_too_large'],
    ['100,000 levels', () => post(`{"title":${deep}}`), 413, 'too_deep'],
    ['no JSON', () => post('{'), 400, 'bad_request'],
    ['another type', () => post('{}', { 'content-type': 'text/plain' }), 400, 'bad_request'],
    ['an unknown key', () => post('{"titel":"x"}'), 400, 'bad_request'],
    ['a blank title', () => post('{"title":" "}'), 400, 'bad_request'],
    ['an id with a newline', () => post('{"id":"a\\nb"}'), 400, 'bad_request'],
    ['an id that no URL can have', () => post('{"id":".."}'), 400, 'bad_request'],
    [
      'an address that is too long',
      () => ask(`/api/info?x=${'y'.repeat(20_000)}`),
      400,
      'bad_request',
    ],
    ['an unknown path', () => ask('/api/nothing'), 404, 'not_found'],
    [
      'an unknown agent',
      async () => {
        await ask('/api/conversations', { method: 'POST', json: { id: 'x' } })
        return ask('/api/conversations/x/messages', {
          method: 'POST',
          json: { content: 'x', agent: 'none' },
        })
      },
      404,
      'agent_not_found',
    ],
  ]

  function post(body: string, headers: Record<string, string> = json): Promise<Response> {
    return ask('/api/conversations', { method: 'POST', body, headers })
  }

  it.each(cases)('%s', async (_, send, status, code) => {
    expect(await refusal(await send())).toEqual({ status, code })
  })

  const limited = operationsOf(openApi().server.openApi as Record<string, unknown>).flatMap(
    ({ path, parameters }) => {
      const { maximum } = parameters.find(({ name }) => name === 'limit')?.schema ?? {}
      return typeof maximum === 'number' ? [{ path, maximum }] : []
    },
  )

  it.each(limited)('limits of $path', async ({ path, maximum }) => {
    expect(maximum).toBeGreaterThan(99)
    await ask('/api/conversations', { method: 'POST', json: { id: 'x' } })
    for (const limit of [0, -1, maximum + 1, '"x"', 1.5, '', 'Infinity']) {
      const answer = await ask(`${path.replace('{id}', 'x')}?limit=${limit}`)
      const { error } = (await answer.clone().json()) as { error: { issues?: { path: string }[] } }
      expect([limit, error.issues?.[0]?.path]).toEqual([limit, 'limit'])
      expect(await refusal(answer)).toEqual({ status: 400, code: 'bad_request' })
    }
  })

  it('list the allowed methods', async () => {
    for (const [method, path, allow] of [
      ['PUT', '/api/conversations', 'GET, HEAD, POST'],
      ['DELETE', '/api/info', 'GET, HEAD'],
      ['PATCH', '/api/conversations/x/messages', 'GET, HEAD, POST'],
    ] as const) {
      const answer = await ask(path, { method })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    }
  })

  it('take duplicate keys as JSON does: the last one counts', async () => {
    const answer = await post('{"title":"a","title":"b"}')
    const { id } = (await answer.json()) as { id: string }
    expect(await (await ask(`/api/conversations/${id}`)).json()).toMatchObject({ title: 'b' })
  })

  it('do not reveal stack traces or folders', async () => {
    const broken = openApi()
    broken.agent.log.list = () => {
      throw new Error('at /home/secret/place.ts:12')
    }
    const answer = await broken.ask('/api/conversations')
    expect(answer.status).toBe(500)
    expect(await answer.text()).not.toContain('secret')
  })

  it('carry the id of the request', async () => {
    const given = await ask('/healthz', { headers: { 'x-request-id': 'proxy-17' } })
    expect(given.headers.get('x-request-id')).toBe('proxy-17')
    const odd = await ask('/healthz', { headers: { 'x-request-id': 'two words' } })
    expect(odd.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  })
})

describe('pages of other sites', () => {
  it('are refused unless they are allowed', async () => {
    const closed = openApi()
    const open = openApi([], { allowedOrigins: ['https://app.example'] })
    const from = (origin: string) => ({ headers: { origin } })
    expect((await closed.ask('/api/info', from('https://app.example'))).status).toBe(403)
    expect((await open.ask('/api/info', from('https://evil.example'))).status).toBe(403)
    expect((await open.ask('/api/info', from('null'))).status).toBe(403)
    const allowed = await open.ask('/api/info', from('https://app.example'))
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(allowed.headers.get('vary')).toBe('origin, accept-encoding')
    const preflight = await open.server.fetch(
      new Request(`${BASE}/api/conversations`, {
        method: 'OPTIONS',
        headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
      }),
    )
    expect(preflight.status).toBe(204)
  })

  it('may read the headers that resumable uploads and exports need', async () => {
    const { ask } = openApi([], { allowedOrigins: ['https://app.example'] })
    const answer = await ask('/api/info', { headers: { origin: 'https://app.example' } })
    const exposed = answer.headers.get('access-control-expose-headers')?.split(',')
    expect(exposed).toEqual(
      expect.arrayContaining([
        ...['upload-offset', 'upload-length', 'tus-resumable', 'location'],
        ...['content-disposition', 'byref-withheld', 'retry-after'],
      ]),
    )
  })
})

describe('on a socket', () => {
  it('pipelined requests are answered in order', async () => {
    const { server } = openApi()
    const { url, close } = await server.listen({ port: 0 })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`
    socket.write(one('/healthz') + one('/api/nothing') + one('/healthz'))
    await expect
      .poll(() => text.match(/HTTP\/1\.1 \d+/g))
      .toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200'])
    socket.destroy()
    await close()
  })

  it('a body that stalls is disconnected, on any route', async ({ onTestFinished }) => {
    const { agent, server } = openApi()
    const { url, close } = await server.listen({ port: 0, stalledMs: 50 })
    onTestFinished(close)
    const heads = [
      'POST /api/conversations HTTP/1.1\r\ncontent-type: application/json',
      'POST /api/assets HTTP/1.1\r\ncontent-type: text/plain',
      'POST /api/conversations/import HTTP/1.1\r\ncontent-type: application/x-ndjson',
      'POST /api/nothing HTTP/1.1',
    ]
    for (const [index, head] of heads.entries()) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      const closed = once(socket, 'close')
      const id = index === 0 ? 'x-request-id: proxy-17\r\n' : ''
      socket.write(`${head}\r\n${id}host: localhost\r\ncontent-length: 100\r\n\r\n{"title":`)
      await closed
      // An unauthorized client gets a response without delay.
      expect(text).toMatch(/^HTTP\/1\.1 (408|404) /)
      if (!head.includes('nothing')) expect(text).toContain('"code":"request_timeout"')
      expect(text).toMatch(
        index === 0 ? /^x-request-id: proxy-17\r$/m : /^x-request-id: [\w-]{36}\r$/m,
      )
    }
    expect(await agent.log.list()).toMatchObject({ conversations: [] })
    expect(await agent.assets.usage()).toMatchObject({ assets: 0 })
  })

  it('a client that waits for a response is not disconnected', async ({ onTestFinished }) => {
    const { agent, server } = openApi()
    const { url, close } = await server.listen({ port: 0, stalledMs: 20 })
    onTestFinished(close)
    const { create } = agent.log
    agent.log.create = async (id) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      return create(id)
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/api/conversations`, { method: 'POST', body: '{}', headers })
    expect(answer.status).toBe(201)
  })

  it('a server without tokens does not listen on other interfaces', async () => {
    const { server } = openApi()
    expect(() => server.listen({ port: 0, hostname: '0.0.0.0' })).toThrow('is open to everyone')
  })
})

/** Returns the keys that the schema of an object names. */
function keysOf(schema: Record<string, unknown> | undefined): string[] {
  if (!schema) return []
  const parts = [schema, ...((schema.anyOf as Record<string, unknown>[]) ?? [])]
  return parts.flatMap(({ properties }) => Object.keys(properties ?? {}))
}
