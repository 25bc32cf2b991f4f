import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from './byref-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = temporaryFolder()
const clients: Client[] = []
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})
afterAll(folder.remove)

const BYREF = [
  '--disable-warning=ExperimentalWarning',
  '--conditions=byref-source',
  join(root, 'src/cli.ts'),
]
const serverOf = (name: string, ...args: string[]) => ({
  command: process.execPath,
  args: [join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
})
const files = serverOf('filesystem', folder.path)
const everything = serverOf('everything', 'stdio')

function configOf(name: string, mcpServers: object): string {
  const path = join(folder.path, name)
  writeFileSync(path, `// The servers of a test.\n${JSON.stringify({ mcpServers })}`)
  return path
}

async function connect(config: string, ...args: string[]) {
  const command = process.execPath
  const line = [...BYREF, 'mcp', 'proxy', '--config', config, ...args]
  const { NODE_COMPILE_CACHE } = process.env
  const env = {
    ...getDefaultEnvironment(),
    TMPDIR: folder.path,
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
  }
  const transport = new StdioClientTransport({
    command,
    args: line,
    cwd: root,
    env,
    stderr: 'pipe',
  })
  let log = ''
  transport.stderr?.on('data', (chunk) => {
    log += chunk
  })
  const client = new Client({ name: 'test', version: '1' })
  clients.push(client)
  await client.connect(transport)
  return { client, pid: Number(transport.pid), log: () => log }
}

/** Returns the child processes of a process whose command line contains a word. */
function childOf(pid: number, word: string): number {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        const parent = / (\d+) /.exec(
          readFileSync(`/proc/${id}/stat`, 'utf8').replace(/^.*\) \w/s, ''),
        )
        return (
          Number(parent?.[1]) === pid && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(word)
        )
      } catch {
        return false
      }
    })
  return found[0] ?? 0
}

const refIn = (result: object) => /asset:\/\/\w+/.exec(JSON.stringify(result))?.[0] ?? ''

describe('byref mcp proxy --config', () => {
  it('passes what one server has read to another, as text and as a file', async () => {
    const two = { files, other: serverOf('filesystem', '/'), every: everything }
    const { client } = await connect(configOf('two.json', two))
    const text = 'word '.repeat(200_000)
    writeFileSync(join(folder.path, 'long.txt'), text)
    const read = await client.callTool({
      name: 'files_read_text_file',
      arguments: { path: join(folder.path, 'long.txt') },
    })
    const ref = refIn(read)
    const copy = join(folder.path, 'copy.txt')
    await client.callTool({ name: 'other_write_file', arguments: { path: copy, content: ref } })
    expect(readFileSync(copy, 'utf8')).toBe(text)
    // The path leads to a file with the content of the asset.
    const info = await client.callTool({ name: 'other_get_file_info', arguments: { path: ref } })
    expect(JSON.stringify(info)).toContain('size: 1000000')
    const echo = await client.callTool({
      name: 'every_echo',
      arguments: { message: `<|${ref}|>` },
    })
    expect(refIn(echo)).not.toBe('')
  })

  it('answers a call whose server is killed, and restarts that server', async () => {
    const { client, pid, log } = await connect(
      configOf('killed.json', { files, every: everything }),
    )
    await client.callTool({ name: 'every_echo', arguments: { message: 'hi' } })
    const long = { duration: 60, steps: 60 }
    const { promise: working, resolve } = Promise.withResolvers<void>()
    const waiting = client.callTool(
      { name: 'every_trigger-long-running-operation', arguments: long },
      { onprogress: () => resolve() },
    )
    await working
    process.kill(childOf(pid, 'server-everything'), 'SIGKILL')
    expect(await waiting).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('killed by SIGKILL') }],
    })
    const again = await client.callTool({ name: 'every_echo', arguments: { message: 'again' } })
    expect(JSON.stringify(again)).toContain('Echo: again')
    const other = await client.callTool({ name: 'files_list_allowed_directories', arguments: {} })
    expect(JSON.stringify(other)).toContain(folder.path)
    expect(log()).toMatch(/byref mcp: every: .*killed by SIGKILL/)
    const started = ['server-everything', 'server-filesystem'].map((word) => childOf(pid, word))
    expect(started).not.toContain(0)
    await client.close()
    const isAlive = (id: number) => existsSync(`/proc/${id}`)
    await expect.poll(() => [pid, ...started].filter(isAlive), { timeout: 10_000 }).toEqual([])
  })

  it('does not start itself as one of its servers', async () => {
    const path = join(folder.path, 'self.json')
    const args = [...BYREF, 'mcp', 'proxy', '--config', path]
    writeFileSync(
      path,
      JSON.stringify({ mcpServers: { files, self: { command: process.execPath, args } } }),
    )
    const { client, log } = await connect(path)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('files_read_text_file')
    expect(log()).toContain('has this proxy as one of its servers')
  })

  it('lists servers and tools, and fails if one cannot start', () => {
    const path = configOf('list.json', { files, gone: { command: 'no-such-command' } })
    const run = (...more: string[]) => {
      const line = [...BYREF, 'mcp', 'list', '--config', path, ...more]
      return spawnSync(process.execPath, line, { encoding: 'utf8', cwd: root })
    }
    const { status, stdout } = run()
    expect(status).toBe(1)
    expect(stdout).toMatch(/^files {2}14 tools, about \d+ tokens\n {2}files_read_file\n/)
    expect(stdout).toMatch(/\ngone {2}not running: The MCP server cannot be started .*ENOENT/)
    const [first, second] = JSON.parse(run('--json').stdout)
    expect(first).toMatchObject({ name: 'files', state: 'running', tools: { length: 14 } })
    expect(second).toMatchObject({ name: 'gone', state: 'ended' })
  })

  it('ends, even if it has retried a server that cannot start', () => {
    const { command, args } = files
    const wait = `setTimeout(() => { process.argv.splice(1, 1); import(process.argv[1]) }, 1500)`
    const slow = { command, args: ['-e', wait, '-', ...args] }
    const path = configOf('slow.json', { slow, gone: { command: 'no-such-command' } })
    const line = [...BYREF, 'mcp', 'list', '--config', path, '--json']
    const { stdout, signal } = spawnSync(process.execPath, line, {
      encoding: 'utf8',
      cwd: root,
      timeout: 20_000,
    })
    const states = JSON.parse(stdout).map(({ state }: { state: string }) => state)
    expect(states).toEqual(['running', 'ended'])
    expect(signal).toBeNull()
  }, 30_000)
})
