import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonSchema } from '../../src/boundary/describe-schema.ts'

/**
 * The purpose of a server. The index of tools was developed with the `first` 13 and the `development` servers. It is
 * measured with the `held-out` ones, and with the `fresh` ones, which it was not changed for.
 */
type ServerSet = 'first' | 'development' | 'held-out' | 'fresh'

/** A published MCP server, and the settings that it needs to start. */
interface PublishedServer {
  set: ServerSet
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

/** The folder in which the servers are installed. */
const SERVERS_FOLDER = fileURLToPath(
  new URL('../../node_modules/.cache/bench-tools', import.meta.url),
)
const TIME_LIMIT = 30_000
const NAME_LENGTH = 64
const TOOLS_PER_SERVER = 33
const MEASURED_TOOLS = 1_000

// Three servers read the keys of a Google application at the start.
const NO_KEYS =
  '{"installed":{"client_id":"x","client_secret":"y","redirect_uris":["http://localhost"]}}'

/** All servers, as `servers.json` lists them. */
export const servers: readonly PublishedServer[] = JSON.parse(
  readFileSync(new URL('servers.json', import.meta.url), 'utf8'),
)

/** Returns the tools of a set of servers. Each is asked once, and its answer is stored outside of the repository. */
export async function serverTools(set: ServerSet): Promise<ServerTool[]> {
  const tools = await toolsByServer(set)
  return tools.flat()
}

/** Returns 1,000 tools of the 40 held-out servers: at most 33 of each server, taken evenly from its list. */
export async function heldOutTools(): Promise<readonly ServerTool[]> {
  return measuredTools('held-out')
}

/** Returns 1,000 tools of the 40 fresh servers, taken like those of `heldOutTools()`. */
export async function freshTools(): Promise<readonly ServerTool[]> {
  return measuredTools('fresh')
}

/** Returns this many items of a list, at even distances. */
export function evenly<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)] as T)
}

async function measuredTools(set: ServerSet): Promise<readonly ServerTool[]> {
  const tools = await toolsByServer(set)
  return evenly(
    tools.flatMap((own) => evenly(own, TOOLS_PER_SERVER)),
    MEASURED_TOOLS,
  )
}

async function toolsByServer(set: ServerSet): Promise<ServerTool[][]> {
  const lists: ServerTool[][] = []
  for (const server of servers.filter((one) => one.set === set)) {
    const own = await keptTools(server)
    lists.push(
      own.map((tool) => ({
        ...tool,
        name: `${server.name}_${tool.name}`.slice(0, NAME_LENGTH),
        // With some versions of its own packages, a server returns an empty schema.
        inputSchema: { type: 'object', ...tool.inputSchema },
      })),
    )
  }
  return lists
}

/** Returns the stored tools of a server. If there are none, installs the server and asks it. */
async function keptTools(server: PublishedServer): Promise<ServerTool[]> {
  const kept = join(SERVERS_FOLDER, server.name, `tools-${server.version}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const tools = await askForTools(server, installed(server))
  writeFileSync(kept, JSON.stringify(tools))
  console.log(`${server.package}@${server.version}: ${tools.length} tools`)
  return tools
}

/** Installs a server if necessary. Returns its folder. */
export function installed({ name, package: source, version, command }: PublishedServer): string {
  const folder = join(SERVERS_FOLDER, name)
  if (existsSync(join(folder, 'node_modules/.bin', command))) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  writeFileSync(join(folder, 'keys.json'), NO_KEYS)
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  execFileSync('npm', [...install, `${source}@${version}`], { cwd: folder, stdio: 'inherit' })
  return folder
}

/** Starts a server on stdio, and returns its list of tools. */
async function askForTools(
  { command, args = [], env, package: name }: PublishedServer,
  folder: string,
): Promise<ServerTool[]> {
  const child = spawn(join('node_modules', '.bin', command), args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ask = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const { promise, resolve, reject } = Promise.withResolvers<ServerTool[]>()
  const fail = () => reject(new Error(`${name} gave no list of tools`))
  const timer = setTimeout(fail, TIME_LIMIT)
  child.on('exit', fail)
  const tools: ServerTool[] = []
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines.filter((one) => one.startsWith('{'))) {
      const { id, result } = JSON.parse(line)
      if (id === 1) ask({ method: 'notifications/initialized' })
      if (id === 1) ask({ id: 2, method: 'tools/list', params: {} })
      if (id !== 2) continue
      tools.push(...result.tools)
      const cursor: unknown = result.nextCursor
      if (cursor) ask({ id: 2, method: 'tools/list', params: { cursor } })
      else resolve(tools)
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
