import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createAssets } from '../assets/create-assets.ts'
import { errorMessage } from '../core/errors.ts'
import { inBackground } from '../core/in-background.ts'
import type { JoinedServers } from '../integrations/mcp/join/join-servers.ts'
import type { ProxyOptions } from '../integrations/mcp/proxy/proxy-mcp.ts'
import type { Channel } from '../integrations/mcp/rpc/json-rpc.ts'
import { DEFAULT_DATA, openFolder } from './data-folder.ts'
import { stopSignal } from './stop-signal.ts'
import {
  chooseTask,
  note,
  oneOf,
  parseOptions,
  print,
  shown,
  UsageError,
  wholeNumber,
} from './terminal.ts'

/** What `byref mcp --help` prints. */
export const HELP = `byref mcp: pass-by-reference for MCP clients such as Claude Desktop and Cursor

  byref mcp proxy [options] -- <command> [args]   in front of a server that is a command
  byref mcp proxy [options] --url <url>           in front of a server at a URL (streamable HTTP)
  byref mcp proxy [options] --config <mcp.json>   in front of all servers of a configuration
  byref mcp list --config <mcp.json> [--json]     starts these servers, and prints their tools
  byref mcp serve [--data data] [--editing]       the agent of byref serve, as an MCP server on stdio

The proxy is an MCP server on stdio. Put it into the client's configuration in place of the other
server. Large results become references (asset://…) with a preview, and every tool parameter accepts
references. The tools fetch_asset, search_asset and, with @duckdb/node-api installed, query_tables
read them. Everything else passes unchanged.

  --config       a file that lists servers under "mcpServers" or "servers", as Claude Desktop, Cursor
                 and VS Code do. The names of tools begin with the name of their server. The proxy
                 restarts servers that end. Needs the packages @modelcontextprotocol/client and
                 @modelcontextprotocol/server
  --tool-search  auto, on or off: whether the client gets search_tools and call_tool in place of the
                 servers' tools. Default auto: on above 10000 tokens of tools
  --pinned       the name of a tool that stays in the list; may be repeated
  --max-chars    maximum length of text that passes unchanged; default 32768
  --max-bytes    maximum size of images, audio and files that pass unchanged; default 4096
  --show-images  keep images next to their references, so that the model sees them
  --editing      add edit_asset, so that the model changes parts of an asset and gets a new version
  --trust        off, track or quarantine; default off. In quarantine, every result is a reference
                 without a preview, and messages from the server do not pass. In both modes, the
                 client asks its user before a call acts on data from the server. See
                 node_modules/byref/docs/integrations/mcp.md
  --header       a header for requests to the URL, "Name: value"; may be repeated
  --data FOLDER --namespace NAME
                 keep assets there for 30 days, shared with byref assets and with proxies that have
                 the same two options. Without them, assets belong to one client and are deleted when
                 it ends

A server command inherits the environment and the stderr of the proxy. When it ends, each open request
gets an error, and the proxy ends, too. Clients then restart the proxy or report the error, as they
would without the proxy.
`

const DAY = 24 * 60 * 60 * 1000
const KEPT_DAYS = 30

/** `byref mcp`: an MCP server, or a proxy in front of one, until the client or the server ends. */
export async function command([name, ...args]: string[]): Promise<number> {
  if (name === '--') {
    throw new UsageError(
      '"proxy" is missing before --: byref mcp proxy -- <command> (byref mcp --help)',
    )
  }
  const task = chooseTask('mcp', HELP, { serve, proxy, list }, name)
  return task ? task(args) : 2
}

async function serve(args: string[]): Promise<number> {
  const { values } = parseOptions('mcp serve', args, {
    most: 0,
    options: {
      data: { type: 'string', default: DEFAULT_DATA },
      editing: { type: 'boolean', default: false },
    },
  })
  const stop = stopSignal()
  const { createMcpServer } = await import('../integrations/mcp/server/mcp-server.ts')
  const { openAgent } = await import('./open-agent.ts')
  const { agent, close } = await openAgent(values)
  try {
    await agent.resumeAll()
    const byref =
      'Asks an agent that reads files and tables, draws charts, and remembers the conversation'
    const { closed } = await createMcpServer({
      agent,
      descriptions: { byref },
      editing: values.editing,
    }).stdio()
    await Promise.race([closed, stop])
    process.stdin.destroy()
  } finally {
    await close()
  }
  return 0
}

async function proxy(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions('mcp proxy', args, {
    options: {
      url: { type: 'string' },
      config: { type: 'string' },
      header: { type: 'string', multiple: true, default: [] },
      'tool-search': { type: 'string', default: 'auto' },
      pinned: { type: 'string', multiple: true, default: [] },
      'max-chars': { type: 'string' },
      'max-bytes': { type: 'string' },
      'show-images': { type: 'boolean', default: false },
      editing: { type: 'boolean', default: false },
      trust: { type: 'string', default: 'off' },
      data: { type: 'string' },
      namespace: { type: 'string' },
    },
  })
  const { url, config, data, namespace } = values
  const given = [positionals.length > 0, url !== undefined, config !== undefined]
  if (given.filter(Boolean).length !== 1) {
    throw new UsageError(
      'byref mcp proxy takes one of -- <command>, --url and --config (byref mcp --help)',
    )
  }
  if (values.header.length > 0 && url === undefined) {
    throw new UsageError('--header needs --url. In a configuration, servers have "headers"')
  }
  if (url !== undefined && !URL.canParse(url))
    throw new UsageError(`--url takes a URL, not "${url}"`)
  if ((data === undefined) !== (namespace === undefined)) {
    throw new UsageError('--data and --namespace go together (byref mcp --help)')
  }
  const options = {
    maxChars: sizeOf('max-chars', values['max-chars']),
    maxBytes: sizeOf('max-bytes', values['max-bytes']),
    showImages: values['show-images'],
    editing: values.editing,
    trust: oneOf('--trust', values.trust, ['off', 'track', 'quarantine']),
    toolSearch: toolSearchOf(values['tool-search'], values.pinned),
  }
  if (options.showImages && options.trust === 'quarantine') {
    throw new UsageError('--show-images cannot be used with --trust quarantine, which hides images')
  }
  const headers = Object.fromEntries(values.header.map(headerOf))
  const open = () => {
    if (config !== undefined) return joinedServers(config)
    return url === undefined ? localServer(positionals) : remoteServer(url, headers)
  }
  const kept = data !== undefined && namespace !== undefined ? { data, namespace } : null
  const stop = stopSignal()
  return relayUntilEnd(open, { kept, stop, options })
}

interface ProxySettings {
  /** Where assets stay after the proxy has ended. */
  kept: { data: string; namespace: string } | null
  stop: Promise<unknown>
  options: Omit<ProxyOptions, 'assets'>
}

/** Runs the proxy between the client on stdio and a server, until one of them ends. */
async function relayUntilEnd(
  open: () => Promise<OpenedServer>,
  { kept, stop, options }: ProxySettings,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'byref-mcp-'))
  try {
    const rootDir = join(kept ? openFolder(kept.data) : folder, 'assets')
    const mode = kept ? 'context' : 'none'
    const assets = createAssets({
      namespace: kept?.namespace,
      config: { backend: 'fs', fs: { rootDir }, namespacing: { mode } },
    })
    if (kept) await assets.sweep()
    // A server that has started keeps this process alive, so everything that may fail comes first.
    const { server, whyEnded, isRemote = false } = await open()
    const files = isRemote ? undefined : join(folder, 'files')
    const { proxyMcp } = await import('../integrations/mcp/proxy/proxy-mcp.ts')
    const { lineChannel } = await import('./mcp/line-channel.ts')
    const client = lineChannel(process.stdin, process.stdout)
    const expiresAt = kept ? () => new Date(Date.now() + KEPT_DAYS * DAY) : undefined
    const ended = proxyMcp(client, server, { ...options, assets, files, expiresAt, whyEnded })
    // The signal may have come before the proxy listens to the client.
    inBackground(
      'Stopping',
      stop.then(() => client.onclose?.()),
    )
    const end = await ended
    process.stdin.destroy()
    return end === 'client' ? 0 : 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface OpenedServer extends Pick<ProxyOptions, 'whyEnded'> {
  server: Channel
  /** Whether the server runs on another machine, and cannot read this machine's files. */
  isRemote?: boolean
}

/** `byref mcp list`: starts the servers of a configuration, and prints what they offer. */
async function list(args: string[]): Promise<number> {
  const { values } = parseOptions('mcp list', args, {
    options: { config: { type: 'string' }, json: { type: 'boolean', default: false } },
    most: 0,
  })
  if (values.config === undefined) {
    throw new UsageError('byref mcp list needs --config <mcp.json> (byref mcp --help)')
  }
  const { CHARS_PER_TOKEN } = await import('../core/messages/metas-block.ts')
  const { countOfTools } = await import('../integrations/mcp/join/server-connection.ts')
  const { server, problems } = await joinedServers(values.config)
  const found = await server.connectAll()
  await server.close()
  const text = found.map(({ name, state, why, tools }) => {
    const tokens = Math.round(JSON.stringify(tools).length / CHARS_PER_TOKEN)
    if (state !== 'running') return `${shown(name)}  not running: ${shown(`${why}`)}`
    const names = tools.map((tool) => `  ${shown(tool.name)}`)
    return [`${shown(name)}  ${countOfTools(tools)}, about ${tokens} tokens`, ...names].join('\n')
  })
  print(values.json, found, text.join('\n'))
  const isFine = problems.length === 0 && found.every(({ state }) => state === 'running')
  return isFine ? 0 : 1
}

/** Tells servers that they run behind a proxy. Otherwise, a proxy among them would start itself endlessly. */
const BEHIND = 'BYREF_MCP_CONFIG'

async function joinedServers(
  file: string,
): Promise<OpenedServer & { server: JoinedServers; problems: string[] }> {
  const path = resolve(file)
  if (process.env[BEHIND] === path) {
    throw new UsageError(
      `${file} has this proxy as one of its servers. Give the proxy a file of its own`,
    )
  }
  process.env[BEHIND] = path
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new UsageError(`--config ${file} cannot be read: ${errorMessage(error)}`)
  })
  const { readServerConfig, sourceOf } = await import('./mcp/server-config.ts')
  const { joinServers } = await import('../integrations/mcp/join/join-servers.ts')
  const log = (line: string) => note(`byref mcp: ${shown(line)}`)
  const surroundings = { file, env: process.env, folder: process.cwd() }
  const { configs, problems } = readServerConfig(text, surroundings)
  for (const problem of problems) log(`${problem}. The server is skipped`)
  const sources = configs.map((one) => sourceOf(one, log))
  return { problems, server: joinServers(sources, { log }) }
}

async function localServer([command = '', ...args]: string[]): Promise<OpenedServer> {
  const { processChannel } = await import('./mcp/process-channel.ts')
  const server = processChannel(command, args)
  return { server, whyEnded: server.whyEnded }
}

async function remoteServer(url: string, headers: Record<string, string>): Promise<OpenedServer> {
  const { httpChannel } = await import('./mcp/http-channel.ts')
  return { server: await httpChannel(url, headers), isRemote: true }
}

function sizeOf(name: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : wholeNumber(`--${name}`, value)
}

function toolSearchOf(mode: string, pinned: readonly string[]): ProxyOptions['toolSearch'] {
  const word = oneOf('--tool-search', mode, ['auto', 'on', 'off'])
  if (word === 'off') return false
  return word === 'on' ? { pinned, above: 0 } : { pinned }
}

function headerOf(header: string): [string, string] {
  const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(header) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new UsageError(`--header takes "Name: value", not "${header}"`)
}
