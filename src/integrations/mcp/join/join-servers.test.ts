import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Client,
  type ClientOptions,
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createAgent } from '../../../agent/agent.ts'
import { createAssets } from '../../../assets/create-assets.ts'
import { scriptedModel } from '../../../testing/scripted-model.ts'
import { mcpTools } from '../client/mcp-tools.ts'
import { PNG } from '../fixtures/proxied.ts'
import { type ProxyOptions, proxyMcp } from '../proxy/proxy-mcp.ts'
import type { Channel } from '../rpc/json-rpc.ts'
import { joinServers } from './join-servers.ts'
import type { ServerSource } from './server-connection.ts'

type Version = 'old' | 'new'
const VERSIONS: readonly (readonly [client: Version, server: Version])[] = [
  ['old', 'old'],
  ['old', 'new'],
  ['new', 'old'],
  ['new', 'new'],
]

type Register = (server: McpServer) => unknown

/** A server in this process, of either version, and its connections. */
function serverOf(name: string, register: Register, version: Version = 'new') {
  const connections: InMemoryTransport[] = []
  const source: ServerSource = {
    name,
    connect() {
      const [near, far] = InMemoryTransport.createLinkedPair()
      connections.push(far)
      const info = { name, version: '1.0.0' }
      if (version === 'new') {
        serveStdio(
          () => {
            const server = new McpServer(info)
            register(server)
            return server
          },
          { transport: far as never },
        )
      } else {
        const server = new OldServer(info)
        register(server as never)
        void server.connect(far as never)
      }
      return near
    },
  }
  return { source, connections }
}

/** A server of 2025-11-25 with these results. It sends no response if the result is null. */
function answering(results: Readonly<Record<string, object | null>>) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = far as Channel
  const asked: string[] = []
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
    serverInfo: { name: 'a', version: '1' },
  }
  server.onmessage = ({ id, method = '' }) => {
    asked.push(method)
    const result = { initialize, 'resources/list': { resources: [] }, ...results }[method]
    if (id === undefined || result === null) return
    const answer = result ? { result } : { error: { code: -32601, message: 'unknown' } }
    void server.send({ jsonrpc: '2.0', id, ...answer } as never)
  }
  void server.start()
  return { near, server, asked }
}

/** The results of a server with one tool. */
const WORK = {
  'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}

/** A server that is started for each connection, and the started ones. */
function restartable(results: Parameters<typeof answering>[0]) {
  const started: ReturnType<typeof answering>[] = []
  const connect = () => {
    const one = answering(results)
    started.push(one)
    return one.near
  }
  return { started, connect }
}

/** A tool for servers of both SDKs. */
function tool(
  name: string,
  run: (args: Record<string, string>, context: never) => unknown = (args) => textOf(args),
  {
    version = 'new',
    params = ['text'],
    ...more
  }: { version?: Version; params?: string[] } & object = {},
): Register {
  const fields = Object.fromEntries(params.map((one) => [one, z.string().optional()]))
  const inputSchema = version === 'new' ? z.object(fields) : fields
  return (server) =>
    server.registerTool(
      name,
      { description: `${name} does it`, ...more, inputSchema } as never,
      run as never,
    )
}

const textOf = (value: unknown) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})

/** Connects a client to servers through the proxy. */
async function joined(
  sources: readonly ServerSource[],
  {
    version = 'new',
    client: options,
    startMs,
    log,
    ...rest
  }: Partial<ProxyOptions> & {
    version?: Version
    client?: ClientOptions
    startMs?: number
    log?(line: string): void
  } = {},
): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const servers = joinServers(sources, {
    ...(startMs === undefined ? {} : { startMs }),
    ...(log ? { log } : {}),
  })
  const ended = proxyMcp(far as Channel, servers, { assets: createAssets(), ...rest })
  const mode = version === 'new' ? 'auto' : 'legacy'
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, ...options },
  )
  await client.connect(near as Transport)
  onTestFinished(async () => {
    await client.close()
    await ended
  })
  return client
}

type Result = { content: { type: string; text: string }[]; isError?: boolean }

async function call(client: Client, name: string, args: object = {}): Promise<Result> {
  return (await client.callTool({ name, arguments: args as never })) as unknown as Result
}

const wordsOf = ({ content }: Result) => content.map(({ text }) => text).join('\n')
const refIn = (result: Result) => /asset:\/\/\w+/.exec(JSON.stringify(result))?.[0] ?? ''
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe('joinServers', () => {
  it.each(VERSIONS)(
    'passes a picture of one server to another, %s client and %s servers',
    async (client, version) => {
      const draw = tool(
        'draw',
        () => ({
          content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
        }),
        { version },
      )
      const measure = tool('measure', ({ image = '' }) => textOf(`${image.length}`), {
        version,
        params: ['image'],
      })
      const through = await joined(
        [serverOf('art', draw, version).source, serverOf('lab', measure, version).source],
        { version: client, maxBytes: 10 },
      )
      expect(through.getProtocolEra()).toBe(client === 'new' ? 'modern' : 'legacy')
      expect((await namesOf(through)).slice(0, 2)).toEqual(['art_draw', 'lab_measure'])
      const image = refIn(await call(through, 'art_draw'))
      expect(wordsOf(await call(through, 'lab_measure', { image }))).toBe(`${PNG.length}`)
    },
  )

  it('gives each tool a unique name that providers accept', async () => {
    const long = 'x'.repeat(80)
    const first = serverOf('a', (server) => {
      tool('b_c', () => textOf('first'))(server)
      tool('grö ße.m', () => textOf('size'))(server)
      tool(`${long}1`, () => textOf('long 1'))(server)
      tool(`${long}2`, () => textOf('long 2'))(server)
    })
    const second = serverOf(
      'a_b',
      tool('c', () => textOf('second')),
    )
    const bare = {
      ...serverOf(
        'bare',
        tool('plain', () => textOf('bare')),
      ).source,
      prefix: '',
    }
    const client = await joined([first.source, second.source, bare], { toolSearch: false })
    const names = (await namesOf(client)).slice(0, 6)
    expect(names).toEqual([
      'a_b_c',
      'a_gr___e_m',
      `a_${'x'.repeat(62)}`,
      `a_${'x'.repeat(60)}_2`,
      'a_b_c_2',
      'plain',
    ])
    const answers = await Promise.all(names.map(async (name) => wordsOf(await call(client, name))))
    expect(answers).toEqual(['first', 'size', 'long 1', 'long 2', 'second', 'bare'])
  })

  it('never reuses a name for another tool, even if a server is late', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = serverOf(
      'x_y',
      tool('z', () => textOf('slow')),
    ).source
    const late = { ...slow, connect: () => gate.promise.then(() => slow.connect()) }
    const changed = Promise.withResolvers<void>()
    const quick = serverOf(
      'x',
      tool('y_z', () => textOf('quick')),
    ).source
    const client = await joined([late, quick], {
      startMs: 1,
      toolSearch: false,
      client: {
        listChanged: { tools: { autoRefresh: false, onChanged: () => changed.resolve() } },
      },
    })
    await call(client, 'x_y_z').catch(() => {})
    await expect.poll(() => namesOf(client)).toContain('x_y_z')
    expect(wordsOf(await call(client, 'x_y_z'))).toBe('quick')
    gate.resolve()
    await changed.promise
    await expect.poll(() => namesOf(client)).toContain('x_y_z_2')
    expect(wordsOf(await call(client, 'x_y_z'))).toBe('quick')
    expect(wordsOf(await call(client, 'x_y_z_2'))).toBe('slow')
  })

  it('answers a call whose server ends, and restarts the server', async () => {
    let runs = 0
    const hanging = serverOf('one', (server) => {
      runs++
      tool('wait', () => new Promise(() => {}))(server)
      tool('echo')(server)
    })
    const other = serverOf('two', tool('echo'))
    const lines: string[] = []
    const client = await joined([hanging.source, other.source], { log: (line) => lines.push(line) })
    const waiting = call(client, 'one_wait')
    await call(client, 'two_echo')
    await hanging.connections.at(-1)?.close()
    const answer = await waiting
    expect(answer.isError).toBe(true)
    expect(wordsOf(answer)).toContain('"one" ended while it worked on the call')
    expect(await namesOf(client)).toContain('one_echo')
    const before = runs
    expect(wordsOf(await call(client, 'one_echo', { text: 'again' }))).toBe('{"text":"again"}')
    expect(runs).toBe(before + 1)
    expect(lines.join('\n')).toMatch(/one: running \(2 tools, MCP 2026-07-28.*one: it has closed/s)
  })

  it('gives an agent the tools of several servers, which survive a crash', async () => {
    const one = serverOf('one', tool('echo'))
    const two = serverOf('two', tool('echo'))
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(joinServers([one.source, two.source]))
    onTestFinished(() => client.close())
    const tools = await mcpTools(client, { needsApproval: () => false })
    expect(tools.map(({ id }) => id)).toEqual(['one_echo', 'two_echo'])
    await one.connections.at(-1)?.close()
    const calls = [{ name: 'one_echo', arguments: { text: 'again' } }]
    const agent = createAgent({ model: scriptedModel([{ calls }, 'Done.']), tools })
    const run = agent.run({ messages: 'Go' })
    await run.result
    const found = run.messages.find(({ metadata }) => metadata.tool_result)
    expect(found?.content).toEqual({ text: 'again' })
  })

  it('reports why a server is missing, and works without it', async () => {
    const failing: ServerSource = {
      name: 'broken',
      connect: () => {
        throw new Error('no such command')
      },
    }
    /** A process that ends at once. */
    const ending: ServerSource = {
      name: 'ends',
      connect: () => {
        const [near] = InMemoryTransport.createLinkedPair()
        const start = async () => void queueMicrotask(() => near.onclose?.())
        return Object.assign(near, { start, pid: 1, stderr: null, whyEnded: () => 'exit code 4' })
      },
    }
    const fine = serverOf('fine', tool('echo')).source
    // A server that has failed once is not waited for.
    const client = await joined([failing, ending, fine], { startMs: 3_600_000 })
    expect(client.getInstructions()).toContain('Not running yet: broken, ends')
    expect(await namesOf(client)).toContain('fine_echo')
    await expect(call(client, 'broken_echo')).rejects.toThrow(
      'There is no tool "broken_echo". The nearest names are: fine_echo. The server "broken" is not running: no such command. The server "ends" is not running: exit code 4.',
    )
  })

  describe('with a server at a URL', () => {
    /** A server of 2025 with sessions, and what it does with the next request. */
    function remote() {
      const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
      const state = { unknown: 404, isDown: false, cuts: false, calls: 0, sessions }
      async function fetch(url: string | URL, init?: RequestInit): Promise<Response> {
        const request = new Request(url, init)
        if (state.isDown) throw new TypeError('fetch failed', { cause: new Error('refused') })
        if (request.method === 'GET') return new Response(null, { status: 405 })
        if (state.cuts) {
          return new Response('', { headers: { 'content-type': 'text/event-stream' } })
        }
        const id = request.headers.get('mcp-session-id')
        const known = sessions.get(id ?? '')
        if (known) return known.handleRequest(request)
        if (id) return new Response('No valid session ID provided', { status: state.unknown })
        const transport = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: () => crypto.randomUUID(),
          onsessioninitialized: (one) => void sessions.set(one, transport),
        })
        const server = new McpServer({ name: 'remote', version: '1.0.0' })
        tool('count', () => textOf(`${++state.calls}`))(server)
        await server.connect(transport)
        return transport.handleRequest(request)
      }
      const connect = () =>
        new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch })
      return { state, source: { name: 'web', connect } }
    }

    it.each([404, 400])('connects again if the session is unknown: %s', async (status) => {
      const { state, source } = remote()
      state.unknown = status
      const client = await joined([source])
      expect(wordsOf(await call(client, 'web_count'))).toBe('1')
      state.sessions.clear()
      expect(wordsOf(await call(client, 'web_count'))).toBe('2')
      expect(state.sessions.size).toBe(1)
    })

    it('answers a call whose connection ends', async () => {
      const { state, source } = remote()
      const client = await joined([source])
      state.cuts = true
      await expect(call(client, 'web_count')).rejects.toThrow('closed the connection without an')
      state.cuts = false
      expect(wordsOf(await call(client, 'web_count'))).toBe('1')
    })

    it('connects again if the connection was lost, without repeating the call', async () => {
      const { state, source } = remote()
      const client = await joined([source])
      expect(wordsOf(await call(client, 'web_count'))).toBe('1')
      state.isDown = true
      const failed = await call(client, 'web_count')
      expect(failed.isError).toBe(true)
      expect(wordsOf(failed)).toMatch(/"web" could not be reached.*fetch failed.*refused/)
      state.isDown = false
      state.sessions.clear()
      expect(wordsOf(await call(client, 'web_count'))).toBe('2')
    })
  })

  it('adds the tools of a slow server when it is ready', async () => {
    const slow = serverOf('slow', tool('echo')).source
    const gate = Promise.withResolvers<void>()
    const late: ServerSource = {
      ...slow,
      connect: async () => {
        await gate.promise
        return slow.connect()
      },
    }
    const changed = Promise.withResolvers<void>()
    const client = await joined([serverOf('fast', tool('echo')).source, late], {
      startMs: 1,
      toolSearch: false,
      client: {
        listChanged: { tools: { autoRefresh: false, onChanged: () => changed.resolve() } },
      },
    })
    const before = await namesOf(client)
    expect(before).not.toContain('slow_echo')
    gate.resolve()
    await changed.promise
    expect(await namesOf(client)).toContain('slow_echo')
  })

  it.each(VERSIONS)(
    'asks the person for a server in a call, %s client and %s server',
    async (version, server) => {
      const question = {
        message: 'Which colour?',
        requestedSchema: {
          type: 'object' as const,
          properties: { colour: { type: 'string' as const } },
        },
      }
      const asking: Register =
        server === 'old'
          ? (target) => {
              const old = (target as unknown as OldServer).server
              tool('paint', async () => textOf(await old.elicitInput(question as never)), {
                version: server,
              })(target)
            }
          : tool('paint', (_, context) => {
              const { inputResponses } = (context as { mcpReq: { inputResponses?: object } }).mcpReq
              if (inputResponses) return textOf(inputResponses)
              const inputRequests = { q: { method: 'elicitation/create', params: question } }
              return { resultType: 'input_required', inputRequests }
            })
      const client = await joined([serverOf('art', asking, server).source], {
        version,
        client: { capabilities: { elicitation: {} } },
      })
      const asked: string[] = []
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message)
        return { action: 'accept', content: { colour: 'red' } }
      })
      expect(wordsOf(await call(client, 'art_paint'))).toContain('"colour":"red"')
      expect(asked).toEqual(['Which colour?'])
    },
  )

  it('names the server in progress and log messages', async () => {
    const source = serverOf(
      'lab',
      (server) => {
        ;(server as unknown as OldServer).server.registerCapabilities({ logging: {} })
        const old = (server as unknown as OldServer).server
        tool(
          'work',
          async (_, context) => {
            const { _meta, sendNotification } = context as {
              _meta: { progressToken: string }
              sendNotification(message: object): Promise<void>
            }
            const { progressToken } = _meta
            const params = { progressToken, progress: 1, total: 2, message: 'half' }
            await sendNotification({ method: 'notifications/progress', params })
            await old.sendLoggingMessage({ level: 'info', logger: 'disk', data: 'slow' })
            return textOf('done')
          },
          { version: 'old' },
        )(server)
      },
      'old',
    )
    const client = await joined([source.source], { version: 'old' })
    const heard: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => {
      heard.push(params.logger)
    })
    const onprogress = ({ message }: { message?: string }) => heard.push(message)
    await client.callTool({ name: 'lab_work', arguments: {} }, { onprogress })
    expect(heard).toEqual(['lab: half', 'lab/disk'])
  })

  it('reads a resource from its server', async () => {
    const withFile = (name: string, uri: string) =>
      serverOf(name, (server) =>
        server.registerResource('file', uri, {}, async () => ({
          contents: [{ uri, text: `of ${name}` }],
        })),
      ).source
    const client = await joined([withFile('a', 'file:///a'), withFile('b', 'file:///b')])
    const read = async (uri: string) => (await client.readResource({ uri })).contents
    expect(await read('file:///b')).toMatchObject([{ text: 'of b' }])
    expect(await read('file:///a')).toMatchObject([{ text: 'of a' }])
    await expect(read('file:///c')).rejects.toThrow()
  })

  it('cancels a call', async () => {
    const cancelled = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const source = serverOf(
      'one',
      tool('wait', (_, context) => {
        const { mcpReq } = context as { mcpReq: { signal: AbortSignal } }
        mcpReq.signal.addEventListener('abort', () => cancelled.resolve())
        started.resolve()
        return new Promise(() => {})
      }),
    )
    const client = await joined([source.source])
    const controller = new AbortController()
    const waiting = client.callTool(
      { name: 'one_wait', arguments: {} },
      { signal: controller.signal },
    )
    await started.promise
    controller.abort()
    await expect(waiting).rejects.toThrow()
    await cancelled.promise
  })

  it('leaves out a tool with an invalid definition, and takes the others', async () => {
    const { near } = answering({
      'tools/list': {
        tools: [
          { name: 'good', inputSchema: { type: 'object' } },
          { name: 'bad', inputSchema: {} },
        ],
      },
    })
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    const client = await joined([{ name: 'a', connect: () => near }], { log })
    expect((await namesOf(client))[0]).toBe('a_good')
    expect(await namesOf(client)).not.toContain('a_bad')
    expect(lines[0]).toBe('a: tools with an invalid definition are skipped: bad')
  })

  it('leaves out a tool that only runs as a task of the older kind', async () => {
    const inputSchema = { type: 'object' }
    const { near } = answering({
      'tools/list': {
        tools: ['required', 'optional'].map((name) => ({
          name,
          inputSchema,
          execution: { taskSupport: name },
        })),
      },
    })
    const lines: string[] = []
    const log = (line: string) => lines.push(line)
    const client = await joined([{ name: 'a', connect: () => near }], { log })
    expect(await namesOf(client)).toContain('a_optional')
    expect(await namesOf(client)).not.toContain('a_required')
    expect(lines[0]).toBe('a: tools that only run as tasks (MCP 2025-11-25) are skipped: required')
  })

  it('stops reading the tools of a server whose list never ends', async () => {
    const bad = { tools: [{ name: 'bad', inputSchema: {} }], nextCursor: 'more' }
    const { near, asked } = answering({ 'tools/list': bad })
    const servers = joinServers([{ name: 'a', connect: () => near }])
    expect(await servers.connectAll()).toMatchObject([{ name: 'a', state: 'running', tools: [] }])
    expect(asked.length).toBeLessThan(1_100)
    await servers.close()
  })

  it('restarts a server that rejects the level of its log messages', async () => {
    const { started, connect } = restartable(WORK)
    const client = await joined([{ name: 'a', connect }], { version: 'old' })
    await client.setLoggingLevel('debug')
    await started[0]?.server.close()
    expect(wordsOf(await call(client, 'a_work'))).toBe('done')
    expect(started[1]?.asked).toContain('logging/setLevel')
  })

  it('subscribes again at a restarted server', async () => {
    const uri = 'test://a'
    const results = {
      ...WORK,
      'resources/list': {
        resources: ['test://a', 'test://b'].map((one) => ({ uri: one, name: one })),
      },
      'resources/subscribe': {},
      'resources/unsubscribe': {},
    }
    const { started, connect } = restartable(results)
    const client = await joined([{ name: 'a', connect }], { version: 'old' })
    await client.subscribeResource({ uri })
    await client.subscribeResource({ uri: 'test://b' })
    await client.unsubscribeResource({ uri: 'test://b' })
    await started[0]?.server.close()
    expect(wordsOf(await call(client, 'a_work'))).toBe('done')
    expect(started[1]?.asked.filter((one) => one === 'resources/subscribe')).toHaveLength(1)
  })

  it('closes the connection to a server whose lists it is still reading', async () => {
    const { near, server, asked } = answering({ 'tools/list': null })
    const closed = new Promise<void>((resolve) => {
      server.onclose = resolve
    })
    const servers = joinServers([{ name: 'a', connect: () => near }])
    const found = servers.connectAll()
    await expect.poll(() => asked).toContain('tools/list')
    await servers.close()
    await closed
    expect(await found).toMatchObject([{ name: 'a', state: 'ended' }])
  })

  it('ends at once while a server is still starting', async () => {
    const [near, silent] = InMemoryTransport.createLinkedPair()
    const closed = new Promise<void>((resolve) => {
      silent.onclose = resolve
    })
    const servers = joinServers([{ name: 'silent', connect: () => near }])
    const found = servers.connectAll(Infinity)
    await new Promise<void>((resolve) => {
      silent.onmessage = () => resolve()
      void silent.start()
    })
    expect(await Promise.race([found, sleep(20)])).toBeUndefined()
    await servers.close()
    await closed
    expect(await found).toMatchObject([{ name: 'silent', state: 'ended' }])
  })

  it('does not trust the annotations of an untrusted server', async () => {
    const claims = { annotations: { readOnlyHint: true } }
    const send = tool('send', () => textOf('sent'), claims)
    const source = { ...serverOf('evil', send).source, trust: 'untrusted' as const }
    const reading = serverOf(
      'mail',
      tool('read', () => textOf('secret'), claims),
    ).source
    const client = await joined([source, reading], { trust: 'quarantine' })
    const text = `${refIn(await call(client, 'mail_read'))}`
    const answer = await call(client, 'evil_send', { text })
    expect(wordsOf(answer)).toContain('flow_denied')
  })

  it('gives no path of this machine to a server on another', async () => {
    const echoPath = tool('take', ({ path }) => textOf(path), { params: ['path'] })
    const files = mkdtempSync(join(tmpdir(), 'byref-files-'))
    onTestFinished(() => rmSync(files, { recursive: true, force: true }))
    const far = { ...serverOf('far', echoPath).source, isRemote: true }
    const long = serverOf(
      'long',
      tool('read', () => textOf('x'.repeat(40_000))),
    )
    const sources = [serverOf('near', echoPath).source, far, long.source]
    const client = await joined(sources, { files })
    const path = refIn(await call(client, 'long_read'))
    expect(wordsOf(await call(client, 'near_take', { path }))).toContain(files)
    expect(wordsOf(await call(client, 'far_take', { path }))).not.toContain(files)
  })

  it.each([
    [[], 'joinServers needs a server'],
    [['a', 'b', 'a'], 'Two MCP servers have the name "a"'],
  ])('rejects the servers %j', (names, message) => {
    const sources = names.map((name) => serverOf(name, tool('echo')).source)
    expect(() => joinServers(sources)).toThrow(message)
  })
})
