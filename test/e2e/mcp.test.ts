import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from '@hono/node-server'
import { Client, type ClientOptions } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { McpServer } from '@modelcontextprotocol/server'
import { createAgent, createAssets } from 'byref'
import { createMcpServer } from 'byref/mcp'
import { scriptedModel } from 'byref/testing'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from './byref-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
const clients: Client[] = []
// Also after a failed test, so that the next attempt does not find its leftovers.
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})
afterAll(folder.remove)

const BYREF = [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  '--conditions=byref-source',
  join(root, 'src/cli.ts'),
]
const serverOf = (name: string) => [
  process.execPath,
  join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`),
]
const proxy = (...args: string[]) => [...BYREF, 'mcp', 'proxy', ...args]

async function connect(
  [command = '', ...args]: string[],
  { temporary = folder.path, ...options }: ClientOptions & { temporary?: string } = {},
) {
  const { NODE_COMPILE_CACHE } = process.env
  const env = {
    ...getDefaultEnvironment(),
    TMPDIR: temporary,
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
  }
  const transport = new StdioClientTransport({ command, args, cwd: root, env, stderr: 'ignore' })
  const client = new Client({ name: 'test', version: '1' }, options)
  clients.push(client)
  await client.connect(transport)
  return client
}

const textOf = (result: object) => JSON.stringify(result)
const refIn = (result: object) => /asset:\/\/\w+/.exec(textOf(result))?.[0] ?? ''

describe('docs/integrations/mcp.md', () => {
  it('has a configuration that works unchanged, except for its folder', async () => {
    const docs = readFileSync(join(root, 'docs/integrations/mcp.md'), 'utf8')
    const [, json = ''] =
      /In Claude Desktop or Cursor[\s\S]*?```json\n([\s\S]*?)```/.exec(docs) ?? []
    const { command, args } = JSON.parse(json).mcpServers.files
    expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'byref'])
    // Uses this clone instead of the package. npx finds the server here.
    const line = args.slice(2).map((arg: string) => (arg.startsWith('/Users') ? folder.path : arg))
    const client = await connect([...BYREF, ...line])
    const rows = Array.from({ length: 70_000 }, (_, id) => ({ id, text: 'x'.repeat(50) }))
    const [source, copy] = ['rows.json', 'copy.json'].map((name) => join(folder.path, name))
    writeFileSync(source as string, JSON.stringify(rows))
    expect(statSync(source as string).size).toBeGreaterThan(5_000_000)
    const read = await client.callTool({ name: 'read_text_file', arguments: { path: source } })
    expect(textOf(read).length).toBeLessThan(5_000)
    const content = refIn(read)
    const write = (path: unknown, what: string) =>
      client.callTool({ name: 'write_file', arguments: { path, content: what } })
    expect(textOf(await write(copy, content))).toContain('Successfully wrote')
    expect(readFileSync(copy as string, 'utf8')).toBe(JSON.stringify(rows))
    await write(copy, `The id is <|${content}/content/7/id|>.`)
    expect(readFileSync(copy as string, 'utf8')).toBe('The id is 7.')
    await client.close()
  })
})

describe('byref mcp proxy', () => {
  it.each(['command', 'config'])(
    'behaves like the server itself for small results: %s',
    async (way) => {
      const [command = '', ...args] = [...serverOf('everything'), 'stdio']
      const config = join(folder.path, 'everything.json')
      writeFileSync(config, JSON.stringify({ servers: { all: { command, args, prefix: '' } } }))
      const isJoined = way === 'config'
      const given = isJoined ? ['--config', config] : ['--', command, ...args]
      const [plain, through] = await Promise.all([
        connect([command, ...args]),
        connect(proxy('--max-bytes', '100000', ...given)),
      ])
      const both = async (ask: (client: Client) => Promise<unknown>) => {
        const [expected, found] = await Promise.all([ask(plain), ask(through)])
        expect(found).toEqual(expected)
        return found
      }
      const about = async (client: Client) => [
        client.getServerVersion(),
        client.getNegotiatedProtocolVersion(),
      ]
      if (!isJoined) await both(about)
      await both(async (client) => (await client.listPrompts()).prompts)
      await both(async (client) => (await client.listResources()).resources)
      const { tools } = await plain.listTools()
      const names = (await through.listTools()).tools.map(({ name }) => name)
      // With many servers, the proxy leaves out a tool that only runs as an older task.
      const passed = isJoined
        ? tools.filter(({ execution }) => execution?.taskSupport !== 'required')
        : tools
      expect(names.slice(0, passed.length)).toEqual(passed.map(({ name }) => name))
      expect(names).toContain('fetch_asset')
      const { resources } = await plain.listResources()
      for (const { uri } of resources.slice(0, 3))
        await both((client) => client.readResource({ uri }))
      for (const [name, args] of Object.entries({
        echo: { message: 'hi' },
        'get-sum': { a: 1, b: 2 },
        'get-tiny-image': {},
        'get-structured-content': { location: 'Chicago' },
        'get-annotated-message': { messageType: 'error', includeImage: true },
        'get-resource-links': { count: 2 },
      })) {
        await both((client) => client.callTool({ name, arguments: args }))
      }
      // With many servers, the proxy suggests the most similar tools.
      if (!isJoined)
        await both((client) => client.callTool({ name: 'unknown', arguments: {} }).catch(String))
      await both((client) => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo' } }))
      const argument = { name: 'department', value: 'E' }
      const ref = { type: 'ref/prompt' as const, name: 'completable-prompt' }
      await both((client) => client.complete({ ref, argument }))
      await both((client) => client.setLoggingLevel('debug'))
      await both((client) => client.subscribeResource({ uri: resources[0]?.uri ?? '' }))
      const long = {
        name: 'trigger-long-running-operation',
        arguments: { duration: 0.1, steps: 2 },
      }
      await both((client) => client.callTool(long, { onprogress() {} }))
      await Promise.all([plain.close(), through.close()])
    },
  )

  it('keeps assets apart, unless a folder and a namespace are shared', async () => {
    const temporary = mkdtempSync(join(folder.path, 'apart-'))
    const data = join(temporary, 'data')
    writeFileSync(join(temporary, 'long.txt'), 'word '.repeat(10_000))
    const files = ['--', ...serverOf('filesystem'), temporary]
    const kept = proxy('--data', data, '--namespace', 'a', ...files)
    const three = await Promise.all(
      [proxy(...files), kept, kept].map((line) => connect(line, { temporary })),
    )
    const read = { name: 'read_text_file', arguments: { path: join(temporary, 'long.txt') } }
    const refs = await Promise.all(three.map(async (client) => refIn(await client.callTool(read))))
    const found = await Promise.all(
      three.map(async (client) => {
        const fetch = (ref: string) => client.callTool({ name: 'fetch_asset', arguments: { ref } })
        const texts = (await Promise.all(refs.map(fetch))).map(textOf)
        return texts.map((text) => text.includes('word word') || text.match(/asset_not_found/)?.[0])
      }),
    )
    const no = 'asset_not_found'
    expect(found).toEqual([
      [true, no, no],
      [no, true, true],
      [no, true, true],
    ])
    expect(globSync(join(temporary, 'byref-mcp-*/assets'))).toHaveLength(1)
    await Promise.all(three.map((client) => client.close()))
    const config = { backend: 'fs', fs: { rootDir: join(data, 'assets') } } as const
    const assets = createAssets({
      namespace: 'a',
      config: { ...config, namespacing: { mode: 'context' } },
    })
    const [listed] = (await assets.list()).assets
    const days = (Date.parse(String(listed?.expiresAt)) - Date.now()) / 86_400_000
    expect([listed?.name, Math.round(days)]).toEqual(['read_text_file result', 30])
    const left = () => globSync(join(temporary, 'byref-mcp-*/assets'))
    await expect.poll(left).toEqual([])
  })

  it('connects to a server at a URL', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    const text = 'word '.repeat(10_000)
    const extend = (server: McpServer) =>
      server.registerTool('words', {}, () => ({ content: [{ type: 'text', text }] }))
    const mcp = createMcpServer({ agent, extend })
    let key: string | null = null
    const fetch = (request: Request) => {
      key = request.headers.get('x-key')
      return mcp.fetch(request)
    }
    const { promise: port, resolve } = Promise.withResolvers<number>()
    const server = serve({ fetch, hostname: '127.0.0.1', port: 0 }, (info) => resolve(info.port))
    const url = `http://127.0.0.1:${await port}/mcp`
    const client = await connect(proxy('--url', url, '--header', 'X-Key: secret'), {
      versionNegotiation: { mode: 'auto' },
    })
    expect([client.getNegotiatedProtocolVersion(), key]).toEqual(['2026-07-28', 'secret'])
    const ref = refIn(await client.callTool({ name: 'words', arguments: {} }))
    // The server reads its own assets with the tools of these names.
    const read = { name: 'byref_fetch_asset', arguments: { ref } }
    expect(textOf(await client.callTool(read))).toContain('word word')
    await client.close()
    server.close()
  })

  it('reports how the server ended, and ends with it', async () => {
    const script = `process.stdin.on('data', (line) => {
      const { id, method } = JSON.parse(line)
      if (method !== 'initialize') process.exit(3)
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`
    const [command = '', ...args] = proxy('--', process.execPath, '-e', script)
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] })
    const ended = once(child, 'close')
    const say = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.endsWith('"id":1}\n') || /"id":1.*\n$/.test(output)) say({ id: 2, method: 'ping' })
    })
    say({ id: 1, method: 'initialize', params: {} })
    expect(await ended).toEqual([1, null])
    expect(output).toMatch(/"id":2,"error":.*The MCP server has ended \(exit code 3\)/)
  })
})

describe('byref mcp serve', () => {
  it('serves the agent of the command line on stdio', async () => {
    const client = await connect([
      ...BYREF,
      'mcp',
      'serve',
      '--data',
      mkdtempSync(join(folder.path, 'serve-')),
    ])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('fetch_asset')
    const { content } = await client.callTool({ name: 'byref', arguments: { message: 'hello' } })
    expect(textOf(content)).toContain('demo model')
    await client.close()
  })
})
