import type {
  CallToolResult,
  McpRequestContext,
  McpServer,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { Agent } from '../../../agent/agent-contract.ts'
import { readServedAgents, SERVED_AGENTS, type ServedAgents } from '../../../agent/served-agents.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { defined } from '../../../core/defined.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { JsonValue } from '../../../core/json/json.ts'
import { writeLabel } from '../../../core/labels/label.ts'
import { optionalPeer } from '../../../optional-peer.ts'
import { version } from '../../../version.ts'
import { assetTools } from '../../plain-tools.ts'
import { type RequestHandler, requestHandler } from '../../serving/request-handler.ts'
import {
  ASSET_TEMPLATE,
  assetAsResource,
  callAssetTool,
  clientToolOf,
  failedCall,
  newestAssets,
} from '../assets-for-clients.ts'
import { labelMeta, withLabel } from '../mcp-labels.ts'
import { INVALID_PARAMS } from '../rpc/json-rpc.ts'
import { askAgent, QUESTION, type Question } from './ask-agent.ts'
import { readableAssets, ServedLabels } from './served-labels.ts'

/**
 * Options of {@link createMcpServer}. Each agent becomes a tool with its name, or `ask` if it has none. The assets are
 * those of the first agent.
 */
export interface McpServerOptions extends ServedAgents {
  /** The descriptions of the agents for clients, by name. */
  descriptions?: Readonly<Record<string, string>>
  /**
   * Returns the namespace whose assets and conversations a request sees. Throw to reject the request (401). Default:
   * the agents' own.
   */
  namespace?(request: Request): string | null | Promise<string | null>
  /**
   * Returns the `context` of the runs that a request starts, as JSON, such as `{ user }`. Throw to reject the request
   * (401). Default: the agent's.
   */
  context?(request: Request): JsonValue | Promise<JsonValue>
  /**
   * Returns the sender's name in labels (docs/reference/trust.md). Values that only others may read are not sent. Default: a
   * sender whom labels do not name.
   */
  reader?(request: Request): string | null | Promise<string | null>
  /**
   * Whether the messages of clients are trusted, if agents have trust on. Default `untrusted`, because a client's model
   * may have been manipulated.
   */
  callers?: 'trusted' | 'untrusted'
  /** Whether clients get `edit_asset`, which makes new versions of assets. Default false. */
  editing?: boolean
  /** Hosts and origins that requests may name, in addition to those of this machine. */
  allowedHosts?: readonly string[]
  /**
   * Signs the state that clients send back after asking their person. At least 32 characters, and the same in all
   * processes. Default: random.
   */
  secret?: string
  /** Adds tools, resources and prompts of your own. Called for each connection; over HTTP, for each request. */
  extend?(server: McpServer, connection: McpConnection): unknown
}

/** The second argument of {@link McpServerOptions.extend}. */
export interface McpConnection extends McpRequestContext {
  /** Makes the `requestState` of an `inputRequired` result. Any other state is rejected. */
  mintState: RequestStateCodec['mint']
}

/**
 * An MCP server with agents, the tools that read their assets, and the assets as resources. As a function, it answers
 * one request of streamable HTTP. It is stateless, also for old clients: `app.all('/mcp', (c) => mcp(c.req.raw))`.
 */
export interface McpEndpoint extends RequestHandler {
  /** Serves this process's stdin and stdout. `closed` resolves when the client disconnects. */
  stdio(): Promise<{ closed: Promise<void> }>
  close(): Promise<void>
}

const OPTIONS: OptionTable<McpServerOptions> = {
  ...SERVED_AGENTS,
  descriptions: is.recordOf(is.string),
  namespace: is.callback(),
  context: is.callback(),
  reader: is.callback(),
  callers: is.oneOf('trusted', 'untrusted'),
  editing: is.boolean,
  allowedHosts: is.listOf(is.string),
  secret: is.string,
  extend: is.callback(),
}

/** Maximum time for a person's answer. */
const STATE_SECONDS = 24 * 60 * 60

/**
 * Creates an MCP server for agents. The package `@modelcontextprotocol/server` is loaded with the first request. If it
 * is missing, requests and `stdio` reject with `dependency_missing`.
 *
 * @throws ByrefError `config_invalid` for an unknown option, no agent, or an agent with the name of a reading tool
 */
export function createMcpServer(options: McpServerOptions): McpEndpoint {
  checkOptions('createMcpServer', options, OPTIONS)
  const agents = [...readServedAgents('createMcpServer', options).values()]
  const { editing = false } = options
  const taken = new Set(assetTools(editing).map(({ id }) => id))
  const clash = agents.map(nameOf).find((name) => taken.has(name))
  if (clash !== undefined) {
    const message = `createMcpServer has a tool "${clash}" of its own: give the agent another name`
    throw new ByrefError('config_invalid', message)
  }
  let opened: ReturnType<typeof openServer> | undefined
  const open = () => {
    opened ??= openServer(agents, options)
    return opened
  }
  return Object.assign(
    requestHandler(async (request) => (await open()).answer(request)),
    {
      stdio: async () => (await open()).stdio(),
      close: async () => (await opened?.catch(() => null))?.close(),
    },
  )
}

type Sdk = typeof import('@modelcontextprotocol/server')

async function openServer(agents: readonly Agent[], options: McpServerOptions) {
  const sdk = await optionalPeer('@modelcontextprotocol/server', 'createMcpServer')
  const { fromJsonSchema, McpServer: Server } = sdk
  const { descriptions = {}, namespace, allowedHosts = [], secret, editing = false } = options
  const { reader: readerOf, context: contextOf, callers = 'untrusted', extend } = options
  const codec = sdk.createRequestStateCodec({
    key: secret ?? crypto.getRandomValues(new Uint8Array(32)),
    ttlSeconds: STATE_SECONDS,
    bind: ({ http }) => JSON.stringify(http?.authInfo?.extra ?? null),
  })
  const served = new ServedLabels(agents)

  async function connect(context: McpRequestContext): Promise<McpServer> {
    const namespace = context.authInfo?.extra?.namespace as string | null | undefined
    const server = new Server(
      { name: 'byref', version },
      { requestState: { verify: codec.verify } },
    )
    const canAsk = ({ mcpReq }: ServerContext): boolean => {
      const capabilities: unknown = Object(mcpReq.envelope)[sdk.CLIENT_CAPABILITIES_META_KEY]
      return Object(capabilities ?? server.server.getClientCapabilities()).elicitation !== undefined
    }
    const own = context.authInfo?.extra?.context as JsonValue | undefined
    const mine = agents.map((agent) =>
      agent.scoped(namespace === undefined ? agent.log.namespace : namespace, { context: own }),
    )
    const reader = (context.authInfo?.extra?.reader as string | null | undefined) ?? null
    const { assets } = mine[0] as Agent
    const guard = readableAssets(served, { agents: mine, reader })
    for (const agent of mine) {
      const name = nameOf(agent)
      const description = descriptions[name] ?? 'Asks an agent, which remembers the conversation'
      const inputSchema = fromJsonSchema<Question>(QUESTION)
      server.registerTool(name, { description, inputSchema }, (input, ctx) =>
        askAgent(agent, input, {
          context: ctx,
          canAsk: canAsk(ctx),
          mint: codec.mint,
          served,
          sender: { reader, callers },
        }),
      )
    }
    registerAssets(sdk, server, { assets, guard, editing })
    await extend?.(server, { ...context, mintState: codec.mint })
    return withInvalidParams(server)
  }

  const handler = sdk.createMcpHandler(connect)
  const hosts = [...sdk.localhostAllowedHostnames(), ...allowedHosts]
  return {
    async answer(request: Request): Promise<Response> {
      const refused =
        sdk.hostHeaderValidationResponse(request, hosts) ??
        sdk.originValidationResponse(request, hosts)
      if (refused || !(namespace || contextOf || readerOf)) return refused ?? handler.fetch(request)
      try {
        const extra = defined({
          namespace: await namespace?.(request),
          context: await contextOf?.(request),
          reader: await readerOf?.(request),
        })
        return handler.fetch(request, { authInfo: { token: '', clientId: '', scopes: [], extra } })
      } catch (reason) {
        const error = reason instanceof ByrefError ? reason.message : 'unauthorized'
        return Response.json({ error }, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
      }
    },
    async stdio() {
      const { serveStdio, StdioServerTransport } = await optionalPeer(
        '@modelcontextprotocol/server/stdio',
        'createMcpServer',
      )
      const transport = new StdioServerTransport()
      const { close } = serveStdio(connect, { transport })
      const closed = new Promise<void>((resolve) => process.stdin.once('end', resolve))
      return { closed: closed.then(close) }
    },
    async close() {
      served.close()
      await handler.close()
    },
  }
}

type ServedAssets = { assets: Assets; guard: ReturnType<typeof readableAssets>; editing: boolean }

/** Adds the tools that read assets, and the assets as resources. */
function registerAssets(
  { fromJsonSchema, ResourceTemplate }: Sdk,
  server: McpServer,
  { assets, guard, editing }: ServedAssets,
): void {
  for (const tool of assetTools(editing)) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>({ ...tool.inputSchema })
    const config = { ...clientToolOf(tool, tool.id), inputSchema }
    server.registerTool(tool.id, config, async (input, { mcpReq }) => {
      const label = await guard.given(tool.id, input)
      if (label instanceof ByrefError) return failedCall(label) as CallToolResult
      // What the tool saves has the label of what it was given.
      const own = label ? assets.scoped({ label: () => writeLabel(label) }) : assets
      const result = await callAssetTool(tool, input, { assets: own, signal: mcpReq.signal })
      return (label ? withLabel(result, label) : result) as CallToolResult
    })
  }
  const list = async () => ({ resources: await guard.list(await newestAssets(assets)) })
  const read = async (uri: URL) => {
    const label = await guard.given('read', { uri: uri.href })
    if (label instanceof ByrefError) throw label
    const { contents } = await assetAsResource(assets, uri.href)
    return { contents: contents.map((one) => (label ? { ...one, _meta: labelMeta(label) } : one)) }
  }
  const { name: called, uriTemplate } = ASSET_TEMPLATE
  server.registerResource(called, new ResourceTemplate(uriTemplate, { list }), {}, read)
  const field = new ResourceTemplate('asset://{id}/{+path}', { list: undefined })
  server.registerResource('field', field, {}, read)
}

function nameOf({ name }: Agent): string {
  return name ?? 'ask'
}

/** The SDK answers invalid params with −32603 (internal error). The protocol defines −32602 for them. */
function withInvalidParams(server: McpServer): McpServer {
  const connect = server.connect.bind(server)
  server.connect = (transport) => {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => {
      const isMalformed = 'error' in message && isAboutParams(message.error.message)
      const error = isMalformed ? { ...message.error, code: INVALID_PARAMS } : null
      return send(error ? { ...message, error } : message, options)
    }
    return connect(transport)
  }
  return server
}

/** Returns whether an error is the SDK's list of issues with the params of a request. */
function isAboutParams(message: string): boolean {
  return /^\[\s*\{[\s\S]*"path": \[\s*"params"/.test(message)
}
