import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi, refusal, SECRET, token } from '../fixtures/api.ts'
import type { ServerLogger } from '../pipeline.ts'
import type { JwksOptions } from './auth.ts'

const ISSUER = 'https://login.example'
const AUDIENCE = 'byref of the team'

/** An identity provider: its keys on loopback, and tokens signed by them. */
class Provider {
  status = 200
  asked = 0
  url = ''
  publicKey = {} as CryptoKey
  #privateKey = {} as CryptoKey
  readonly #server = createHttpServer(async (_, answer) => {
    this.asked++
    answer.statusCode = this.status
    const key = { ...(await exportJWK(this.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    answer.end(JSON.stringify({ keys: [key] }))
  })

  async open(): Promise<this> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    this.publicKey = publicKey
    this.#privateKey = privateKey
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/jwks.json`
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }

  sign(claims: JWTPayload = {}, { expiresIn = '1m', kid = 'one' } = {}): Promise<string> {
    return new SignJWT({ sub: 'anna', iss: ISSUER, aud: AUDIENCE, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setExpirationTime(expiresIn)
      .sign(this.#privateKey)
  }
}

function withKeysOf({ url }: Provider, more: Partial<JwksOptions> = {}, log?: ServerLogger) {
  const jwks = { url, issuer: ISSUER, audience: AUDIENCE, ...more }
  return openApi([], { auth: { secret: SECRET, jwks }, log })
}

function unsigned(head: object, claims: object): string {
  return [head, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
}

describe('tokens of an identity provider', () => {
  const provider = new Provider()
  const stranger = new Provider()
  beforeAll(() => Promise.all([provider.open(), stranger.open()]))
  afterAll(() => Promise.all([provider.close(), stranger.close()]))

  const callerOf = async (bearer: string) => {
    const answer = await withKeysOf(provider).ask('/api/info', { token: bearer })
    const body = (await answer.json()) as { caller?: object; error?: { code: string } }
    return answer.status === 200 ? body.caller : [answer.status, body.error?.code]
  }

  it('identify the user, with the given role or as a reader', async () => {
    const claims = { namespace: 'team', role: 'member' }
    expect(await callerOf(await provider.sign(claims))).toEqual({ subject: 'anna', ...claims })
    expect(await callerOf(await provider.sign())).toEqual({
      subject: 'anna',
      namespace: null,
      role: 'reader',
    })
    const named = withKeysOf(provider, { namespaceClaim: 'org', roleClaim: 'may' })
    const other = await provider.sign({ org: 'team', may: 'owner', role: 'reader' })
    expect(await named.askJson('/api/info', { token: other })).toMatchObject({
      caller: { namespace: 'team', role: 'owner' },
    })
  })

  it('must be for this server, by this issuer, within their time, and with a subject', async () => {
    const now = Math.floor(Date.now() / 1000)
    const wrong = {
      audience: await provider.sign({ aud: 'another server' }),
      noAudience: await provider.sign({ aud: undefined }),
      issuer: await provider.sign({ iss: 'https://evil.example' }),
      over: await provider.sign({}, { expiresIn: '-1s' }),
      notYet: await provider.sign({ nbf: now + 60 }),
      nobody: await provider.sign({ sub: undefined }),
      role: await provider.sign({ role: 'admin' }),
      namespace: await provider.sign({ namespace: ['team'] }),
      keyOfAnother: await stranger.sign(),
      unknownKey: await provider.sign({}, { kid: 'two' }),
    }
    for (const [name, bearer] of Object.entries(wrong)) {
      expect([name, await callerOf(bearer)]).toEqual([name, [401, 'unauthorized']])
    }
  })

  it('must be signed with the key of the issuer, not with a secret or unsigned', async () => {
    const claims = { sub: 'anna', iss: ISSUER, aud: AUDIENCE, role: 'owner', exp: 9999999999 }
    const jwk = JSON.stringify(await exportJWK(provider.publicKey))
    // A public key must not work as a secret.
    const bySecret = (key: string) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(Buffer.from(key))
    const cases = [
      `${unsigned({ alg: 'none' }, claims)}.`,
      `${unsigned({ alg: 'ES256', kid: 'one' }, claims)}.`,
      await bySecret(jwk),
      await bySecret(SECRET),
    ]
    for (const bearer of cases) expect(await callerOf(bearer)).toEqual([401, 'unauthorized'])
  })

  it('need the URL of the keys', () => {
    const jwks = { url: 'login.example', issuer: ISSUER, audience: AUDIENCE }
    expect(() => openApi([], { auth: { jwks } })).toThrow('auth.jwks.url must be a URL')
  })

  it('work together with those of byref token', async () => {
    expect(await callerOf(await token('owner'))).toMatchObject({ role: 'owner' })
  })
})

describe('an identity provider that does not answer', () => {
  it('is distinguished from an invalid token, with a line in the log', async ({
    onTestFinished,
  }) => {
    const provider = await new Provider().open()
    const { url } = provider
    const logged: Record<string, unknown>[] = []
    const log = { info() {}, error: (entry: Record<string, unknown>) => void logged.push(entry) }
    const bearer = await provider.sign()
    const api = withKeysOf(provider, {}, log)
    const ask = (one: string) => api.ask('/api/info', { token: one })

    provider.status = 503
    const refused = await ask(bearer)
    expect(await refused.clone().text()).not.toContain('127.0.0.1')
    expect(await refusal(refused)).toEqual({ status: 502, code: 'unreachable' })
    expect(logged).toMatchObject([{ err: { cause: { message: `No keys from ${url}` } } }])

    await provider.close()
    expect(await refusal(await ask(bearer))).toEqual({ status: 502, code: 'unreachable' })
    const session = { method: 'POST', json: { token: bearer } }
    expect(await refusal(await api.ask('/api/session', session))).toEqual({
      status: 502,
      code: 'unreachable',
    })
    expect(logged).toHaveLength(3)

    // None of these depends on the provider.
    const own = await ask(await token('reader'))
    expect(own.status).toBe(200)
    const foreign = await provider.sign({ iss: 'https://evil.example' })
    for (const one of ['not.a.token', `${unsigned({ alg: 'none' }, { iss: ISSUER })}.`, foreign]) {
      expect((await ask(one)).status).toBe(401)
    }
    expect(logged).toHaveLength(3)

    const back = await new Provider().open()
    onTestFinished(() => back.close())
    const again = withKeysOf(back)
    const signed = await back.sign()
    for (let n = 0; n < 5; n++) await again.ask('/api/info', { token: signed })
    expect(back.asked).toBe(1)
  })
})
