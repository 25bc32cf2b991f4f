import { serve as listen } from '@hono/node-server'
import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import {
  createMcpHandler,
  InMemoryTransport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../assets/create-assets.ts'
import { newServer } from '../../integrations/mcp/fixtures/proxied.ts'
import { proxyMcp } from '../../integrations/mcp/proxy/proxy-mcp.ts'
import type { Channel } from '../../integrations/mcp/rpc/json-rpc.ts'
import { httpChannel } from './http-channel.ts'

let cancelled = Promise.withResolvers<void>()
let begun = Promise.withResolvers<void>()

function makeServer() {
  const server = newServer()
  const place = z.object({ city: z.string().meta({ 'x-mcp-header': 'City' }) })
  const inputSchema = z.object({ place, n: z.int().meta({ 'x-mcp-header': 'N' }).optional() })
  server.registerTool('weather', { inputSchema }, ({ place: { city }, n }) => ({
    content: [{ type: 'text', text: `${city} ${n}` }],
  }))
  server.registerTool('wait', { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    await mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: 1 },
    })
    begun.resolve()
    await new Promise((go) => mcpReq.signal.addEventListener('abort', go))
    cancelled.resolve()
    return { content: [] }
  })
  return server
}

/** Whether the server ends each stream without an answer. */
let cuts = false
const STREAM = { 'content-type': 'text/event-stream' }

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

/** How servers answer a request of a session that they do not know. */
let unknown = { status: 404, text: 'Session not found' }

/** Like servers of 2025: with sessions. */
async function withSession(request: Request): Promise<Response> {
  const id = request.headers.get('mcp-session-id')
  const known = sessions.get(id ?? '')
  if (known) return known.handleRequest(request)
  if (id) return new Response(unknown.text, { status: unknown.status })
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  })
  await makeServer().connect(transport)
  return transport.handleRequest(request)
}

const handler = createMcpHandler(makeServer)
let url = ''
let seen: string | null = null
let server: ReturnType<typeof listen>

beforeAll(async () => {
  const fetch = (request: Request) => {
    seen = request.headers.get('x-key')
    const status = Number(/status=(\d+)/.exec(request.url)?.[1])
    if (status) return new Response('no', { status })
    if (cuts && request.method === 'POST') return new Response('', { headers: STREAM })
    return request.url.endsWith('/old') ? withSession(request) : handler.fetch(request)
  }
  const port = await new Promise<number>((resolve) => {
    server = listen(
      { fetch, hostname: '127.0.0.1', port: 0, overrideGlobalObjects: false },
      (info) => resolve(info.port),
    )
  })
  url = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  await handler.close()
  server.close()
})

async function connect(path: string, options: ClientOptions = {}) {
  const [toClient, mine] = InMemoryTransport.createLinkedPair()
  const channel = await httpChannel(url + path, { 'x-key': 'secret' })
  const ended = proxyMcp(toClient as Channel, channel, { assets: createAssets() })
  const client = new Client({ name: 'test', version: '1' }, options)
  await client.connect(mine)
  return { client, ended }
}

describe('httpChannel', () => {
  it.each([
    ['/old', '2025-11-25', 'legacy'],
    ['/new', '2025-11-25', 'legacy'],
    ['/new', '2026-07-28', 'auto'],
  ] as const)('connects to a server at %s, by %s', async (path, version, mode) => {
    begun = Promise.withResolvers()
    cancelled = Promise.withResolvers()
    const { client, ended } = await connect(path, { versionNegotiation: { mode } })
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(seen).toBe('secret')
    const large = JSON.stringify(await client.callTool({ name: 'rows', arguments: { n: 20_000 } }))
    const rows = /asset:\/\/\w+/.exec(large)?.[0]
    expect(await client.callTool({ name: 'take', arguments: { rows } })).toMatchObject({
      content: [{ text: '{"rows":20000}' }],
    })
    const weather = { name: 'weather', arguments: { place: { city: ' Tromsø' }, n: 7 } }
    expect(await client.callTool(weather)).toMatchObject({ content: [{ text: ' Tromsø 7' }] })
    const controller = new AbortController()
    const progress: number[] = []
    const onprogress = (one: { progress: number }) => void progress.push(one.progress)
    const waiting = client.callTool(
      { name: 'wait', arguments: {} },
      { signal: controller.signal, onprogress },
    )
    await begun.promise
    // Notifications before the cancellation arrive on the same stream.
    await expect.poll(() => progress).toEqual([1])
    controller.abort('enough')
    await expect(waiting).rejects.toThrow()
    // Without a session, nobody knows which request is meant.
    if (path === '/old' || version === '2026-07-28') await cancelled.promise
    await client.close()
    await ended
    await expect.poll(() => sessions.size).toBe(0)
  })

  it.each([
    { status: 404, text: 'Session not found' },
    { status: 400, text: 'Bad Request: No valid session ID provided' },
  ])('starts a new session if the server has forgotten the old one: $status', async (answer) => {
    unknown = answer
    const { client, ended } = await connect('/old')
    const echo = (text: string) => client.callTool({ name: 'echo', arguments: { text } })
    await echo('first')
    await Promise.all([...sessions.values()].map((one) => one.close()))
    sessions.clear()
    const answers = await Promise.all([echo('a'), echo('b')])
    expect(answers).toMatchObject([{ content: [{ text: 'a' }] }, { content: [{ text: 'b' }] }])
    expect(sessions.size).toBe(1)
    await client.close()
    await ended
    await expect.poll(() => sessions.size).toBe(0)
  })

  it('answers a request whose connection ends', async () => {
    const { client, ended } = await connect('/old')
    cuts = true
    onTestFinished(() => {
      cuts = false
    })
    await expect(client.callTool({ name: 'echo', arguments: { text: 'a' } })).rejects.toThrow(
      `${url}/old has closed the connection without an answer`,
    )
    cuts = false
    expect(await client.callTool({ name: 'echo', arguments: { text: 'b' } })).toMatchObject({
      content: [{ text: 'b' }],
    })
    await client.close()
    await ended
  })

  it.each([
    [401, /\?status=401 answered 401 \(no\)\. Pass a token with --header "Authorization: Bearer/],
    [405, /\?status=405 answered 405 \(no\)\. .*--config.*"type": "sse"/],
    [500, /\?status=500 answered 500 \(no\)$/],
  ])('reports what a server answered: %s', async (status, message) => {
    await expect(connect(`/?status=${status}`)).rejects.toThrow(message)
  })

  it('reports a server that does not exist for each request', async () => {
    const channel = await httpChannel('http://127.0.0.1:1/mcp', {})
    const [toClient, mine] = InMemoryTransport.createLinkedPair()
    const ended = proxyMcp(toClient as Channel, channel, { assets: createAssets() })
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'legacy' } },
    )
    await expect(client.connect(mine)).rejects.toThrow('http://127.0.0.1:1/mcp')
    await client.close()
    await ended
  })
})
