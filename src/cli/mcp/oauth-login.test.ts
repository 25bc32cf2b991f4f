import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Hono } from 'hono'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { joinServers } from '../../integrations/mcp/join/join-servers.ts'
import { sourceOf } from './server-config.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'byref-login-'))
  vi.stubEnv('BYREF_HOME', folder)
  // The browser of the test is `fetch`.
  vi.stubEnv('BROWSER', 'none')
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true, force: true })
  })
})

/** An MCP server with its own authorization server (OAuth 2.1 with PKCE and dynamic registration). */
async function protectedServer() {
  const challenges = new Map<string, string>()
  const tokens = new Set<string>()
  const counts = { registered: 0, logins: 0, refused: 0 }
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: 'wiki', version: '1' })
    server.registerTool('read', { description: 'Reads' }, () => ({
      content: [{ type: 'text', text: 'page' }],
    }))
    return server
  })
  const app = new Hono()
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app.get('/.well-known/oauth-protected-resource/mcp', (c) =>
    c.json({ resource: `${origin()}/mcp`, authorization_servers: [origin()] }),
  )
  app.get('/.well-known/oauth-authorization-server', (c) =>
    c.json({
      issuer: origin(),
      authorization_endpoint: `${origin()}/authorize`,
      token_endpoint: `${origin()}/token`,
      registration_endpoint: `${origin()}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    }),
  )
  app.post('/register', async (c) => {
    counts.registered++
    return c.json({ ...(await c.req.json()), client_id: 'client-1' }, 201)
  })
  app.get('/authorize', (c) => {
    counts.logins++
    const code = randomUUID()
    challenges.set(code, c.req.query('code_challenge') ?? '')
    const back = new URL(c.req.query('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', c.req.query('state') ?? '')
    return c.redirect(back.href)
  })
  app.post('/token', async (c) => {
    const { code, code_verifier } = await c.req.parseBody()
    const sum = createHash('sha256').update(String(code_verifier)).digest('base64url')
    if (challenges.get(String(code)) !== sum) return c.json({ error: 'invalid_grant' }, 400)
    const token = randomUUID()
    tokens.add(token)
    return c.json({ access_token: token, token_type: 'Bearer' })
  })
  app.all('/mcp', async (c): Promise<Response> => {
    const token = c.req.header('authorization')?.replace('Bearer ', '') ?? ''
    if (tokens.has(token)) return mcp.fetch(c.req.raw)
    counts.refused++
    const where = `${origin()}/.well-known/oauth-protected-resource/mcp`
    return c.body(null, 401, { 'www-authenticate': `Bearer resource_metadata="${where}"` })
  })
  // Other tests of this process use the global Response.
  const options = { hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false }
  const server = serve({ fetch: app.fetch, ...options })
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => void server.close())
  return { url: new URL(`${origin()}/mcp`), counts, tokens }
}

/** Connects, and logs in like a person whose browser is `fetch`. */
async function connect(url: URL, answer: (page: string) => unknown = fetch) {
  const log = (line: string) => {
    const [, page] = /log in at (\S+)/.exec(line) ?? []
    if (page) void answer(page)
  }
  const joined = joinServers([sourceOf({ name: 'wiki', url, headers: {} }, log)], { log })
  const [status] = await joined.connectAll()
  await joined.close()
  return status
}

describe('a server at a URL that asks for a login', () => {
  it('opens the browser once, and stores the tokens so that only their owner can read them', async () => {
    const { url, counts, tokens } = await protectedServer()
    expect(await connect(url)).toMatchObject({ state: 'running', tools: [{ name: 'wiki_read' }] })
    expect(await connect(url)).toMatchObject({ state: 'running' })
    expect(counts).toMatchObject({ registered: 1, logins: 1 })
    const [file = ''] = readdirSync(join(folder, 'mcp'))
    const path = join(folder, 'mcp', file)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(path, 'utf8')).tokens.access_token).toBe([...tokens][0])
  })

  it('logs in again when its tokens are not accepted any more', async () => {
    const { url, counts, tokens } = await protectedServer()
    await connect(url)
    tokens.clear()
    expect(await connect(url)).toMatchObject({ state: 'running' })
    expect(counts.logins).toBe(2)
  })

  it('ignores an answer with another state', async () => {
    const { url } = await protectedServer()
    const answers: number[] = []
    const status = await connect(url, async (page) => {
      const asked = new URL(page).searchParams
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.search = '?code=stolen&state=other'
      answers.push((await fetch(back)).status)
      await fetch(page)
    })
    expect(answers).toEqual([404])
    expect(status).toMatchObject({ state: 'running' })
  })

  it('continues after a request whose path is no URL', async () => {
    const { url } = await protectedServer()
    let answer = ''
    const status = await connect(url, async (page) => {
      const { port } = new URL(new URL(page).searchParams.get('redirect_uri') ?? '')
      const socket = createConnection(Number(port), '127.0.0.1')
      socket.end('GET // HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
      for await (const chunk of socket) answer += chunk
      await fetch(page)
    })
    expect(answer).toContain('HTTP/1.1 404')
    expect(status).toMatchObject({ state: 'running' })
  })

  it('needs no login with a key in its headers', async () => {
    const { url, tokens, counts } = await protectedServer()
    tokens.add('key')
    const headers = { Authorization: 'Bearer key' }
    const joined = joinServers([sourceOf({ name: 'wiki', url, headers }, () => {})])
    expect(await joined.connectAll()).toMatchObject([{ state: 'running' }])
    await joined.close()
    expect(counts).toEqual({ registered: 0, logins: 0, refused: 0 })
  })
})
