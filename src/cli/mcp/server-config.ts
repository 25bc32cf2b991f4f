import { homedir } from 'node:os'
import { sep } from 'node:path'
import stripJsonComments from 'strip-json-comments'
import { defined } from '../../core/defined.ts'
import { errorMessage } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import type { ServerSource } from '../../integrations/mcp/join/server-connection.ts'
import type { ServerTrust } from '../../integrations/mcp/mcp-labels.ts'
import { optionalPeer } from '../../optional-peer.ts'
import { UsageError } from '../terminal.ts'
import { OAuthLogin } from './oauth-login.ts'
import { processChannel } from './process-channel.ts'

/**
 * The fields that every server of a configuration may have. The first two are byref's own; other clients ignore them.
 */
interface CommonConfig {
  name: string
  prefix?: string
  trust?: ServerTrust
}

/** A server that is a command. */
export interface CommandConfig extends CommonConfig {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string
}

/** A server at a URL. */
export interface UrlConfig extends CommonConfig {
  url: URL
  headers: Readonly<Record<string, string>>
  /** Undefined if the file does not set it. */
  type?: 'http' | 'sse'
}

export type ServerConfig = CommandConfig | UrlConfig

/** The values of `${…}` in a configuration. */
interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  /** The value of `${workspaceFolder}`. */
  folder: string
}

const TYPES: ReadonlyMap<unknown, 'http' | 'sse'> = new Map([
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
])

/**
 * Reads the servers of an `mcp.json`, as Claude Desktop, Claude Code and Cursor (`mcpServers`) and VS Code (`servers`)
 * write it: JSON that may have comments. Disabled servers are left out, and those with a problem, which
 * names the server and the field.
 *
 * @param file The name of the file, for errors.
 * @throws UsageError if no server is left
 */
export function readServerConfig(
  text: string,
  { file, ...surroundings }: Surroundings & { file: string },
): { configs: ServerConfig[]; problems: string[] } {
  const fail = (message: string): never => {
    throw new UsageError(`${file}: ${message}`)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(stripJsonComments(text, { trailingCommas: true }))
  } catch (error) {
    return fail(`this is not JSON: ${errorMessage(error)}`)
  }
  const { mcpServers, servers } = Object(parsed)
  const found: unknown = mcpServers ?? servers
  if (!isPlainObject(found)) return fail('it has neither "mcpServers" nor "servers"')
  const problems: UsageError[] = []
  const configs = Object.entries(found).flatMap(([name, entry]) => {
    const where = (message: string): never => fail(`the server "${name}" ${message}`)
    try {
      if (!isPlainObject(entry)) return where('is not an object')
      if (entry.disabled === true || entry.enabled === false) return []
      return configOf(name, filled(entry, surroundings, where), where)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      problems.push(error)
      return []
    }
  })
  if (configs.length > 0) return { configs, problems: problems.map(({ message }) => message) }
  throw problems[0] ?? new UsageError(`${file}: it has no enabled server`)
}

type Entry = Readonly<Record<string, unknown>>
type Fail = (message: string) => never

function configOf(name: string, entry: Entry, fail: Fail): ServerConfig {
  const { command, args = [], env = {}, cwd, url, headers = {}, type, prefix, trust } = entry
  if (prefix !== undefined && typeof prefix !== 'string') fail('has a "prefix" that is not text')
  if (trust !== undefined && trust !== 'trusted' && trust !== 'untrusted') {
    fail('has a "trust" that is neither "trusted" nor "untrusted"')
  }
  const common = defined({ name, prefix, trust }) as CommonConfig
  if (typeof command === 'string' && command !== '') {
    if (url !== undefined) fail('has a "command" and a "url": keep one of them')
    if (!Array.isArray(args)) fail('has "args" that are not a list')
    const texts = { args: (args as unknown[]).map(String), env: textsIn(env, 'env', fail) }
    return { ...common, command, ...texts, ...(typeof cwd === 'string' && { cwd }) }
  }
  if (typeof url !== 'string') return fail('has neither a "command" nor a "url"')
  if (!/^https?:/.test(url) || !URL.canParse(url)) return fail(`has no valid "url": "${url}"`)
  if (type !== undefined && !TYPES.has(type)) {
    fail(`has the unknown "type" "${type}": valid are "http" and "sse"`)
  }
  const texts = { headers: textsIn(headers, 'headers', fail) }
  return defined({ ...common, url: new URL(url), ...texts, type: TYPES.get(type) })
}

function textsIn(value: unknown, field: string, fail: Fail): Record<string, string> {
  if (!isPlainObject(value)) return fail(`has "${field}" that is not an object`)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]))
}

/** Returns an entry with values in place of `${…}`: `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${userHome}`. */
function filled(entry: Entry, { env, folder }: Surroundings, fail: Fail): Entry {
  const own = new Map([
    ['userHome', homedir()],
    ['workspaceFolder', folder],
    ['pathSeparator', sep],
    ['/', sep],
  ])
  const variable = (name: string) => (Object.hasOwn(env, name) ? env[name] : undefined)
  const found = (expression: string): string => {
    const [, kind, name = '', usual] =
      /^(?:(\w+):(?!-))?([^:]*)(?::-(.*))?$/s.exec(expression) ?? []
    if (kind === 'input') {
      return fail(`asks for \${${expression}}, which only an editor can: use \${env:NAME} instead`)
    }
    const value = (kind === undefined ? own.get(name) : undefined) ?? variable(name)
    const known = value ?? usual
    if (known !== undefined && (kind === undefined || kind === 'env')) return known
    return fail(`needs \${${expression}}: set the environment variable ${name}`)
  }
  return JSON.parse(JSON.stringify(entry), (_, value) =>
    typeof value === 'string' ? value.replace(/\$\{([^}]+)\}/g, (_all, one) => found(one)) : value,
  )
}

/** Returns how to reach a server of a configuration. Its stderr and questions to the person go to the log. */
export function sourceOf(config: ServerConfig, log: (line: string) => void): ServerSource {
  const { name } = config
  const logged = (line: string) => log(`${name}: ${line}`)
  if ('url' in config) return remoteSource(config, logged)
  const { command, args, env, cwd, ...common } = config
  return { ...common, connect: () => processChannel(command, args, { env, cwd, log: logged }) }
}

/** HTTP errors after which a server without a `type` is tried by the older transport (SSE). */
const NOT_STREAMABLE = new Set([400, 404, 405, 406])

function remoteSource(
  { url, headers, type, ...common }: UrlConfig,
  log: (line: string) => void,
): ServerSource {
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  let isOld = type === 'sse'
  let login: OAuthLogin | undefined
  return {
    ...common,
    isRemote: true,
    async connect() {
      const { SSEClientTransport, StreamableHTTPClientTransport } = await optionalPeer(
        '@modelcontextprotocol/client',
        'An MCP server at a URL',
      )
      login ??= hasKey ? undefined : new OAuthLogin(url, log)
      const authProvider = await login?.provider()
      const options = { requestInit: { headers: { ...headers } }, authProvider }
      return isOld
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, options)
    },
    async recover(error) {
      const { UnauthorizedError } = await optionalPeer(
        '@modelcontextprotocol/client',
        'An MCP server at a URL',
      )
      if (error instanceof UnauthorizedError && login) return login.finish()
      const { status } = Object(error) as { status?: number }
      if (isOld || type !== undefined || !NOT_STREAMABLE.has(status ?? 0)) return false
      isOld = true
      return true
    },
  }
}
