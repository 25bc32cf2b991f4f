import type {
  CallToolResult,
  Client,
  ClientCapabilities,
  Prompt,
  RequestOptions,
  Tool,
} from '@modelcontextprotocol/client'
import type { InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server'
import { inTime } from '../../../assets/bodies/abortable.ts'
import { noSuchTool } from '../../../boundary/tool-index.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { defined } from '../../../core/defined.ts'
import { ByrefError, errorMessage } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { onceResolved } from '../../../core/once-resolved.ts'
import { LONGEST_TIMER } from '../../../core/timer.ts'
import { optionalPeer } from '../../../optional-peer.ts'
import { version } from '../../../version.ts'
import { REMOTE } from '../reference-arguments.ts'
import {
  type Channel,
  CLIENT_CAPABILITIES,
  isUnknownSession,
  ProtocolError,
  type RpcMessage,
} from '../rpc/json-rpc.ts'
import { NOT_RUNNING } from '../tools-of-servers.ts'
import { OpenCalls } from './open-calls.ts'
import { ResourcePlaces } from './resource-places.ts'
import {
  ServerConnection,
  type ServerListener,
  type ServerSource,
  type ServerState,
} from './server-connection.ts'
import { SharedItems } from './shared-items.ts'

/** Options of {@link joinServers}. */
export interface JoinOptions {
  /**
   * How long the client waits for the servers at the start, in milliseconds. The tools of slower servers are
   * added later. Default 10,000.
   */
  startMs?: number
  /** Called with a line of text for each start, end and failure of a server. Default: nothing is logged. */
  log?(line: string): void
}

const OPTIONS: OptionTable<JoinOptions> = { startMs: is.positive, log: is.callback() }

/** The state of one of the servers. */
export interface ServerStatus {
  name: string
  state: ServerState
  /** Why it does not run. */
  why?: string
  protocolVersion?: string
  /** Its tools, as the client knows them. */
  tools: readonly Tool[]
}

/** Several servers as one. */
export type JoinedServers = Channel & {
  /**
   * Connects to all servers. Resolves when each is connected or has failed, or after this time in milliseconds.
   * Default 60,000.
   */
  connectAll(most?: number): Promise<ServerStatus[]>
}

/**
 * Combines several MCP servers into one. The names of tools and prompts begin with the name of their server. Client and
 * servers may use different versions of the protocol. A server that ends is restarted.
 *
 * It needs `@modelcontextprotocol/client` and `@modelcontextprotocol/server`, which `start` and `connectAll` load.
 *
 * @throws ByrefError `config_invalid` for an unknown option, no server, or two servers with one name
 */
export function joinServers(
  sources: readonly ServerSource[],
  options: JoinOptions = {},
): JoinedServers {
  checkOptions('joinServers', options, OPTIONS)
  if (sources.length === 0) throw new ByrefError('config_invalid', 'joinServers needs a server')
  const names = sources.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) {
    throw new ByrefError('config_invalid', `Two MCP servers have the name "${twice}"`)
  }
  return new Joined(sources, options)
}

/** The connection to the client. */
interface ConnectedClient {
  server: Server
  /** Whether its requests name their version, as since 2026-07-28. */
  isNew: boolean
}

class Joined implements JoinedServers {
  onmessage?: (message: RpcMessage) => void
  onclose?: () => void
  readonly #sources: readonly ServerSource[]
  readonly #options: JoinOptions
  #connections: ServerConnection[] = []
  readonly #calls = new OpenCalls()
  readonly #resources = new ResourcePlaces()
  #client: ConnectedClient | null = null
  /** Resolves when the client can be asked. */
  readonly #connected = Promise.withResolvers<void>()
  #toClient: Channel | null = null
  #ready: Promise<unknown> | null = null
  readonly #tools = new SharedItems<Tool>()
  readonly #prompts = new SharedItems<Prompt>()

  constructor(sources: readonly ServerSource[], options: JoinOptions) {
    this.#sources = sources
    this.#options = options
  }

  readonly start = onceResolved(async () => {
    const { server } = await this.#load()
    const { serveStdio } = await optionalPeer('@modelcontextprotocol/server/stdio', PURPOSE)
    const [near, far] = server.InMemoryTransport.createLinkedPair()
    const channel = near as Channel
    channel.onmessage = (message) => this.onmessage?.(message)
    channel.onclose = () => this.onclose?.()
    this.#toClient = channel
    serveStdio(({ era }) => this.#serve(era === 'modern'), { transport: far })
    await channel.start()
  })

  async send(message: RpcMessage): Promise<void> {
    // The client may send before the packages are loaded.
    await this.start()
    this.#ready ??= this.#startFor(message)
    await this.#toClient?.send(message)
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((one) => one.close()))
    await this.#toClient?.close()
  }

  async connectAll(most = 60_000): Promise<ServerStatus[]> {
    await this.#load()
    await this.#startAll(most)
    return this.#connections.map((connection) => {
      const { name, state, why, protocolVersion } = connection
      const own = [...this.#tools.current].filter(([, place]) => place.connection === connection)
      const tools = own.map(([shown, { item }]) => ({ ...item, name: shown }))
      return { name, state, ...(state === 'running' ? {} : { why }), protocolVersion, tools }
    })
  }

  /** Loads the packages, and prepares the connections. */
  readonly #load = onceResolved(async () => {
    const [client, server] = await Promise.all([
      optionalPeer('@modelcontextprotocol/client', PURPOSE),
      optionalPeer('@modelcontextprotocol/server', PURPOSE),
    ])
    this.#connections = this.#sources.map(
      (one) => new ServerConnection(one, this.#listener, client),
    )
    return { client, server }
  })

  /** Starts the servers with what the client can be asked for, which its first message says. */
  async #startFor({ params }: RpcMessage): Promise<void> {
    const isNew = params?.capabilities === undefined
    const declared = isNew ? Object(params?._meta)[CLIENT_CAPABILITIES] : params?.capabilities
    const { sampling, elicitation, roots } = Object(declared) as ClientCapabilities
    // Since 2026-07-28, roots can only be asked for within a request.
    const capabilities = defined({ sampling, elicitation, roots: isNew ? undefined : roots })
    for (const connection of this.#connections) connection.declare(capabilities)
    await this.#startAll(this.#options.startMs ?? 10_000)
  }

  /** Starts all servers. Waits at most `ms` milliseconds for them. */
  async #startAll(ms: number): Promise<void> {
    const all = () => Promise.allSettled(this.#connections.map((one) => one.client()))
    await inTime('Starting the servers', ms, all).catch(() => {})
  }

  async #serve(isNew: boolean): Promise<Server> {
    await this.#ready
    const { server: sdk } = await this.#load()
    const list = { listChanged: true }
    const server = new sdk.Server(
      { name: 'byref', version },
      {
        capabilities: {
          tools: list,
          prompts: list,
          resources: { ...list, subscribe: true },
          completions: {},
          logging: {},
        },
        instructions: this.#instructions(),
      },
    )
    this.#client = { server, isNew }
    server.oninitialized = () => this.#connected.resolve()
    if (isNew) this.#connected.resolve()
    server.setRequestHandler('tools/list', () => ({
      _meta: { [NOT_RUNNING]: this.#notRunning().map(({ name }) => name) },
      tools: [...this.#tools.current].map(([name, { item, connection }]) =>
        shownTool(item, name, connection),
      ),
    }))
    server.setRequestHandler('prompts/list', () => ({
      prompts: [...this.#prompts.current].map(([name, { item }]) => ({ ...item, name })),
    }))
    server.setRequestHandler('resources/list', () => ({
      resources: this.#connections.flatMap(({ offers }) => offers.resources),
    }))
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: this.#connections.flatMap(({ offers }) => offers.templates),
    }))
    server.setRequestHandler('tools/call', ({ params }, context) => this.#call(params, context))
    server.setRequestHandler('prompts/get', ({ params }, context) => {
      const place = this.#prompts.current.get(params.name)
      if (!place) throw new ProtocolError(`There is no prompt "${params.name}"`)
      const { connection, item } = place
      return this.#relay(connection, context, (client, options) =>
        client.getPrompt({ ...params, name: item.name }, options),
      )
    })
    server.setRequestHandler('resources/read', ({ params }, context) =>
      this.#resources.read(params.uri, this.#connections, (connection) =>
        this.#relay(connection, context, (client, options) =>
          client.readResource(params, { ...options, cacheMode: 'bypass' }),
        ),
      ),
    )
    const subscribing = (isOn: boolean) => {
      return async ({ params: { uri } }: { params: { uri: string } }) => {
        await this.#resources.placeOf(uri, this.#connections)?.subscribe(uri, isOn)
        return {}
      }
    }
    server.setRequestHandler('resources/subscribe', subscribing(true))
    server.setRequestHandler('resources/unsubscribe', subscribing(false))
    server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
      await Promise.allSettled(this.#connections.map((one) => one.setLevel(level)))
      return {}
    })
    server.setRequestHandler('completion/complete', async ({ params }) => {
      const { ref } = params
      const isPrompt = ref.type === 'ref/prompt'
      const prompt = isPrompt ? this.#prompts.current.get(ref.name) : undefined
      const place = isPrompt ? undefined : this.#resources.placeOf(ref.uri, this.#connections)
      const connection = prompt?.connection ?? place
      if (!connection) return { completion: { values: [] } }
      const own = prompt ? { ...params, ref: { ...ref, name: prompt.item.name } } : params
      return (await connection.client()).complete(own as typeof params)
    })
    return server
  }

  async #call(
    params: Parameters<Client['callTool']>[0],
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const place = this.#tools.current.get(params.name)
    if (!place) {
      const why = this.#notRunning().map(
        ({ name, why }) => ` The server "${name}" is not running: ${why}.`,
      )
      throw new ProtocolError(
        `${noSuchTool(params.name, [...this.#tools.current.keys()])}${why.join('')}`,
      )
    }
    const { connection, item } = place
    let client: Client | undefined
    try {
      const result = await this.#relay(connection, context, (current, options) => {
        client = current
        // Results are passed on as they are: the client validates them.
        const toolDefinition = { ...item, outputSchema: undefined }
        return current.callTool({ ...params, name: item.name }, { ...options, toolDefinition })
      })
      if (result.resultType === 'input_required') return result
      this.#resources.note(result, connection)
      return result as CallToolResult
    } catch (error) {
      const { name, why } = connection
      const isLost = isLostConnection(error)
      // The server refused the call, and its error says why.
      if (client && connection.isOpen(client) && !isLost) throw error
      const how = isLost
        ? `The MCP server "${name}" could not be reached, or the connection was lost: ${errorMessage(error)}`
        : `The MCP server "${name}" ended while it worked on the call: ${why}`
      const text = client
        ? `${how}. The call may or may not have taken effect. Check before you repeat it.`
        : errorMessage(error)
      return { content: [{ type: 'text', text }], isError: true }
    }
  }

  /** Passes a request on. Questions of the server in between go to the client. */
  async #relay<Result extends object>(
    connection: ServerConnection,
    { mcpReq }: ServerContext,
    work: (client: Client, options: RequestOptions) => Promise<Result>,
  ): Promise<(Result & { resultType?: undefined }) | InputRequiredResult> {
    const { signal } = mcpReq
    const state = mcpReq.requestState<string>()
    const progressToken = mcpReq._meta?.progressToken
    const onprogress: RequestOptions['onprogress'] = ({ message, ...progress }) => {
      const text = message === undefined ? {} : { message: `${connection.name}: ${message}` }
      const params = { ...progress, ...text, progressToken }
      // The client may have stopped waiting.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    }
    const reporting = progressToken === undefined ? {} : { onprogress }
    const run = async (cancelled: AbortSignal): Promise<Result> => {
      // The client has its own limit.
      const options = { ...reporting, signal: cancelled, timeout: LONGEST_TIMER }
      const client = await connection.client()
      try {
        return await work(client, options)
      } catch (error) {
        if (!isUnknownSession(error, client.transport?.sessionId)) throw error
        await connection.drop(client)
        return work(await connection.client(), options)
      }
    }
    const [response] = Object.values(mcpReq.inputResponses ?? {})
    const round =
      state === undefined
        ? await this.#calls.begin(connection, run, signal)
        : await this.#calls.goOn<Result>(state, response, signal)
    if ('result' in round) return round.result
    const { method, params } = round.question
    const inputRequests = { [method]: { method, params } } as InputRequiredResult['inputRequests']
    return { resultType: 'input_required', inputRequests, requestState: round.state }
  }

  readonly #listener: ServerListener = {
    changed: () => {
      this.#tools.update(this.#connections, ({ offers }) => offers.tools)
      this.#prompts.update(this.#connections, ({ offers }) => offers.prompts)
      const { server } = this.#client ?? {}
      if (!server) return
      const sent = [
        server.sendToolListChanged(),
        server.sendPromptListChanged(),
        server.sendResourceListChanged(),
      ]
      inBackground('Notifying the client of other lists', Promise.all(sent))
    },
    asks: async (connection, method, params) => {
      await this.#connected.promise
      const { server, isNew } = this.#client as ConnectedClient
      if (isNew) return Object(await this.#calls.ask(connection, { method, params }))
      const given = Object(params)
      const options = { timeout: LONGEST_TIMER }
      if (method === 'roots/list') return server.listRoots(given, options)
      if (method === 'elicitation/create') return server.elicitInput(given, options)
      return server.createMessage(given, options)
    },
    notifies: (connection, method, params) => {
      const { server } = this.#client ?? {}
      const { logger } = Object(params)
      const named = logger === undefined ? connection.name : `${connection.name}/${logger}`
      const own = method === 'notifications/message' ? { ...params, logger: named } : params
      const sent = server?.notification({ method, params: own as Record<string, unknown> })
      // A client that cannot take the notification misses it.
      sent?.catch(() => {})
    },
    logs: (line) => this.#options.log?.(line),
  }

  #notRunning(): ServerConnection[] {
    return this.#connections.filter(({ state }) => state !== 'running')
  }

  #instructions(): string | undefined {
    const parts = this.#connections.flatMap(({ name, instructions }) =>
      instructions ? `# ${name}\n\n${instructions}` : [],
    )
    const down = this.#notRunning()
    if (down.length > 0) parts.push(`Not running yet: ${down.map(({ name }) => name).join(', ')}`)
    return parts.join('\n\n') || undefined
  }
}

const PURPOSE = 'A proxy for several MCP servers'

/** Returns a tool under its name for the client. Annotations of a server that is not believed are left out. */
function shownTool(tool: Tool, name: string, { source }: ServerConnection): Tool {
  const { annotations, ...rest } = tool
  const isBelieved = source.trust !== 'untrusted'
  return {
    ...rest,
    name,
    ...(isBelieved && isPlainObject(annotations) ? { annotations } : {}),
    ...(source.isRemote ? { _meta: { ...rest._meta, [REMOTE]: true } } : {}),
  }
}

/** Returns whether `fetch` could not reach the server, or lost the connection. Only then, its error has a cause. */
function isLostConnection(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined
}
