import { beforeAll, describe, expect, it } from 'vitest'
import { signingKey, signToken } from './auth/tokens.ts'
import type { Role } from './caller.ts'
import { BASE, openApi, refusal, SECRET, token } from './fixtures/api.ts'
import { operationsOf } from './fixtures/open-api.ts'

const RANK: Role[] = ['reader', 'member', 'owner']

describe('access by role', () => {
  const api = openApi(['Hello!'], { auth: { secret: SECRET }, limits: { requestsPerMinute: 1e6 } })
  const operations = operationsOf(api.server.openApi as Record<string, unknown>)
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    const owner = await token('owner')
    const made = await api.askJson<{ id: string }>('/api/conversations', {
      method: 'POST',
      token: owner,
      json: {},
    })
    const said = await api.askJson<{ messageId: string }>(
      `/api/conversations/${made.id}/messages`,
      { method: 'POST', token: owner, json: { content: 'Hi' } },
    )
    const kept = await api.askJson<{ asset: { assetId: string } }>('/api/assets?name=a.txt', {
      method: 'POST',
      token: owner,
      body: 'text',
    })
    Object.assign(ids, {
      conversation: made.id,
      asset: kept.asset.assetId,
      message: said.messageId,
    })
  })

  function filled(path: string): string {
    const id = path.startsWith('/api/assets') ? ids.asset : ids.conversation
    return path
      .replace('{id}', id ?? '')
      .replace('{messageId}', ids.message ?? '')
      .replace(/\{\w+\}/g, 'none')
  }

  async function status(method: string, path: string, bearer?: string): Promise<number> {
    const answer = await api.ask(filled(path), {
      method,
      token: bearer,
      ...(method === 'GET' || method === 'DELETE' ? {} : { json: {} }),
    })
    await answer.body?.cancel()
    return answer.status
  }

  it('covers the routes of each role', () => {
    expect(operations.length).toBeGreaterThan(30)
    expect(new Set(operations.map(({ role }) => role))).toEqual(new Set([null, ...RANK]))
  })

  // Requests that remove something come last.
  const ordered = operations.toSorted(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  )
  it.each(ordered)('$method $path', async ({ method, path, role }) => {
    if (role === null) {
      expect(await status(method, path)).not.toBe(403)
      return
    }
    expect(await status(method, path)).toBe(401)
    expect(await status(method, path, 'wrong')).toBe(401)
    for (const has of RANK.slice(0, RANK.indexOf(role as Role))) {
      expect(await status(method, path, await token(has))).toBe(403)
    }
    // Whatever is wrong with these requests, they reveal nothing of another namespace.
    if (path.includes('{')) {
      const stranger = await status(method, path, await token('owner', 'other'))
      expect([400, 404]).toContain(stranger)
    }
    expect([401, 403]).not.toContain(await status(method, path, await token(role as Role)))
  })
})

describe('tokens', () => {
  const api = openApi([], { auth: { secret: SECRET } })

  it('are required, for this server, and within their time', async () => {
    const path = '/api/conversations'
    const cases: [string | undefined, number][] = [
      [undefined, 401],
      ['', 401],
      ['not.a.token', 401],
      [await token('owner', 'team', { secret: `${SECRET} of another server` }), 401],
      [await token('owner', 'team', { expiresIn: -1 }), 401],
      [await token('reader'), 200],
    ]
    for (const [bearer, expected] of cases) {
      expect([bearer, (await api.ask(path, { token: bearer })).status]).toEqual([bearer, expected])
    }
    const claims = { subject: 'a', namespace: null, role: 'owner' } as const
    for (const expiresIn of ['soon', '1 day ago', NaN]) {
      const signed = signToken(signingKey(SECRET), { ...claims, expiresIn })
      await expect(signed).rejects.toMatchObject({ code: 'config_invalid' })
    }
    const refused = await api.ask(path)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="byref"')
  })

  it('without a signature are rejected', async () => {
    const [, payload] = (await token('owner')).split('.')
    const head = Buffer.from('{"alg":"none"}').toString('base64url')
    expect((await api.ask('/api/conversations', { token: `${head}.${payload}.` })).status).toBe(401)
  })

  it('give each namespace its own conversations', async () => {
    const make = async (namespace: string | null) => {
      const made = await api.askJson<{ id: string }>('/api/conversations', {
        method: 'POST',
        json: {},
        token: await token('member', namespace),
      })
      return made.id
    }
    const mine = await make('mine')
    const none = await make(null)
    const seen = async (namespace: string | null) => {
      const page = await api.askJson<{ conversations: { id: string }[] }>('/api/conversations', {
        token: await token('reader', namespace),
      })
      return page.conversations.map(({ id }) => id)
    }
    expect(await seen('mine')).toEqual([mine])
    expect(await seen(null)).toEqual([none])
    expect(await seen('others')).toEqual([])
    const other = await token('owner', 'others')
    expect(await refusal(await api.ask(`/api/conversations/${mine}`, { token: other }))).toEqual({
      status: 404,
      code: 'conversation_not_found',
    })
  })

  it('become a cookie that scripts cannot read', async () => {
    const bearer = await token('reader')
    const answer = await api.ask('/api/session', { method: 'POST', json: { token: bearer } })
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^byref=.*HttpOnly.*SameSite=Strict/)
    const headers = { cookie: cookie.split(';')[0] ?? '' }
    expect((await api.ask('/api/conversations', { headers })).status).toBe(200)
    const wrong = await api.ask('/api/session', { method: 'POST', json: { token: 'x' } })
    expect(wrong.status).toBe(401)
  })

  it('are counted: too many requests are rejected for a while', async () => {
    const few = openApi([], { auth: { secret: SECRET }, limits: { requestsPerMinute: 3 } })
    const mine = await token('reader', 'mine')
    const statuses: number[] = []
    for (let n = 0; n < 5; n++) {
      statuses.push((await few.ask('/api/conversations', { token: mine })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    const other = await few.ask('/api/conversations', { token: await token('reader', 'other') })
    expect(other.status).toBe(200)
  })
})

describe('signed URLs of assets', () => {
  const api = openApi([], { auth: { secret: SECRET } })

  it('open that asset, that field, for that time, and nothing else', async () => {
    const owner = await token('owner')
    const upload = (body: string) =>
      api.askJson<{ asset: { assetId: string } }>('/api/assets?name=a.txt', {
        method: 'POST',
        token: owner,
        body,
        headers: { 'content-type': 'text/plain' },
      })
    const { asset } = await upload('one')
    const { asset: other } = await upload('two')
    const sign = (json: object) =>
      api.askJson<{ url: string }>(`/api/assets/${asset.assetId}/sign`, {
        method: 'POST',
        token: owner,
        json,
      })
    const { url } = await sign({})
    expect(await (await api.ask(url)).text()).toBe('one')
    const signature = new URL(url, BASE).search
    expect((await api.ask(`/api/assets/${other.assetId}/content${signature}`)).status).toBe(401)
    expect((await api.ask(`${url}&path=content`)).status).toBe(401)
    expect((await api.ask(`/api/assets/${asset.assetId}${signature}`)).status).toBe(401)
    expect((await api.ask(`${url}x`)).status).toBe(401)
    const field = await sign({ path: 'content' })
    expect(await (await api.ask(field.url)).json()).toBe('one')
  })

  it('are rejected by a server with tokens and without a secret', async () => {
    const verify = async () => ({ subject: 'ada', namespace: null, role: 'owner' }) as const
    const unsigned = openApi([], { auth: { verify } })
    const answer = await unsigned.ask('/api/assets/a1/sign', {
      method: 'POST',
      token: 'x:y',
      json: {},
    })
    expect(answer.status).toBe(403)
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringContaining('give createServer a secret in auth') },
    })
  })
})

describe('a check of tokens by the app', () => {
  const caller = { subject: 'ada', namespace: 'acme', role: 'member' }
  const listed = async (verified: unknown): Promise<number> => {
    const api = openApi([], { auth: { verify: () => verified as never } })
    return (await api.ask('/api/conversations', { token: 'any' })).status
  }

  it('fails closed if what it returns is incomplete', async () => {
    expect(await listed(caller)).toBe(200)
    expect(await listed({ ...caller, namespace: null, email: 'a@b.c' })).toBe(200)
    expect(await listed(null)).toBe(401)
    expect(await listed({ ...caller, expiresAt: Date.now() + 60_000 })).toBe(200)
    expect(await listed({ ...caller, expiresAt: Date.now() - 1 })).toBe(401)
    const wrong = [
      { namespace: undefined },
      { namespace: 12 },
      { subject: undefined },
      { role: 'x' },
    ]
    for (const part of wrong) expect(await listed({ ...caller, ...part })).toBe(500)
    expect(await listed(true)).toBe(500)
  })
})

it('tells a caller who sends too much when to send again', async () => {
  const api = openApi([], { auth: { secret: SECRET }, limits: { requestsPerMinute: 1 } })
  const as = { token: await token('reader') }
  expect((await api.ask('/api/conversations', as)).status).toBe(200)
  const refused = await api.ask('/api/conversations', as)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(30)
})

it('lets only those import conversations who may speak as others', async () => {
  const api = openApi([], { auth: { secret: SECRET }, speakAs: () => false })
  const request = {
    method: 'POST',
    token: await token('owner'),
    body: '{}\n',
    headers: { 'content-type': 'application/x-ndjson' },
  }
  const refused = await api.ask('/api/conversations/import', request)
  expect(await refusal(refused)).toEqual({ status: 403, code: 'forbidden' })
})
