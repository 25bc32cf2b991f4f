import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonSchema } from '../../src/boundary/describe-schema.ts'

/** A published MCP server, and the settings without which it does not start. */
interface PublishedServer {
  name: string
  package: string
  version: string
  license: string
  command: string
  args?: readonly string[]
  env: Record<string, string>
}

/** A tool of a server. Its name begins with the name of the server. */
export interface ServerTool {
  name: string
  description: string
  inputSchema: JsonSchema
}

/** Where the servers are installed. */
export const SERVERS_FOLDER = fileURLToPath(
  new URL('../../node_modules/.cache/bench-tools', import.meta.url),
)
const TIME_LIMIT = 30_000

/** All servers, as `servers.json` lists them. */
export const servers: readonly PublishedServer[] = JSON.parse(
  readFileSync(new URL('servers.json', import.meta.url), 'utf8'),
)

/** Returns the tools of all servers. They are asked once, and their answers are kept outside of the repository. */
export async function serverTools(): Promise<ServerTool[]> {
  const kept = join(SERVERS_FOLDER, 'tools.json')
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  mkdirSync(SERVERS_FOLDER, { recursive: true })
  writeFileSync(join(SERVERS_FOLDER, 'package.json'), '{ "private": true }')
  const specs = servers.map((one) => `${one.package}@${one.version}`)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...specs], {
    cwd: SERVERS_FOLDER,
    stdio: 'inherit',
  })
  const tools: ServerTool[] = []
  for (const server of servers) {
    const own = await askForTools(server)
    for (const tool of own) tools.push({ ...tool, name: `${server.name}_${tool.name}` })
    console.log(`${server.package}@${server.version}: ${own.length} tools`)
  }
  writeFileSync(kept, JSON.stringify(tools))
  return tools
}

/** Starts a server on stdio, and returns its list of tools. */
async function askForTools({
  command,
  args = [],
  env,
  package: name,
}: PublishedServer): Promise<ServerTool[]> {
  const child = spawn(join('node_modules', '.bin', command), args, {
    cwd: SERVERS_FOLDER,
    env: { PATH: process.env.PATH, HOME: SERVERS_FOLDER, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ask = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const { promise, resolve, reject } = Promise.withResolvers<ServerTool[]>()
  const fail = () => reject(new Error(`${name} gave no list of tools`))
  const timer = setTimeout(fail, TIME_LIMIT)
  child.on('exit', fail)
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines.filter((one) => one.startsWith('{'))) {
      const { id, result } = JSON.parse(line)
      if (id === 1) ask({ method: 'notifications/initialized' })
      if (id === 1) ask({ id: 2, method: 'tools/list', params: {} })
      if (id === 2) resolve(result.tools)
    }
  })
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  ask({ id: 1, method: 'initialize', params })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.kill('SIGKILL')
  }
}
