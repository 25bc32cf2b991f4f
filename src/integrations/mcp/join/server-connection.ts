import type {
  Client,
  ClientCapabilities,
  CreateMessageResult,
  ElicitResult,
  ListRootsResult,
  Prompt,
  Resource,
  ResourceTemplateType,
  Tool,
  Transport,
} from '@modelcontextprotocol/client'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { errorMessage } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { version } from '../../../version.ts'
import type { ServerTrust } from '../mcp-labels.ts'
import { type Ask, readPages } from '../rpc/json-rpc.ts'
import { needsOldTask } from '../tools-of-servers.ts'
import { type ServerTransport, TASKS, withTasks } from './with-tasks.ts'

/** One of several servers, and how to reach it. */
export interface ServerSource {
  /** The name of the server for people and models, such as `github`. */
  name: string
  /** The prefix of the names of its tools and prompts. Default: its name and `_`. */
  prefix?: string
  /**
   * Whether the annotations of its tools are trusted. Otherwise, each tool counts as one that acts. Default `trusted`.
   */
  trust?: ServerTrust
  /** Whether it runs on another machine, so that no parameter gets the path of a file on this one. Default: false. */
  isRemote?: boolean
  /**
   * Opens a connection. Called again when it has ended. A connection that knows why it ended says so in `whyEnded`.
   */
  connect(): ServerTransport | Promise<ServerTransport>
  /** Called when connecting failed. Returns whether it is worth trying once more, for example after a login. */
  recover?(error: unknown): Promise<boolean>
}

/** Receives messages of a server while it runs. */
export interface ServerListener {
  /** The server is connected, and its lists are read; or one of its lists has changed. */
  changed(connection: ServerConnection): void
  /** The server asks the client: `sampling/createMessage`, `elicitation/create` or `roots/list`. */
  asks(connection: ServerConnection, method: string, params: unknown): Promise<object>
  /** A notification for the client. */
  notifies(connection: ServerConnection, method: string, params: object): void
  /** A line for the log. */
  logs(line: string): void
}

/** What a server offers. */
export interface Offers {
  tools: readonly Tool[]
  prompts: readonly Prompt[]
  resources: readonly Resource[]
  templates: readonly ResourceTemplateType[]
}

type Sdk = typeof import('@modelcontextprotocol/client')
export type ServerState = 'waiting' | 'starting' | 'running' | 'ended'

/** A schema that accepts any result. */
const ANY: StandardSchemaV1<unknown, Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'byref', validate: (value) => ({ value: Object(value) }) },
}

/**
 * Pauses before a server that has ended is started again, in milliseconds. After the last, only a request starts it.
 */
const PAUSES = [1_000, 2_000, 4_000, 8_000, 16_000]

/** A server that ran for this time before it ended is restarted without the longer pauses. */
const STABLE_MS = 60_000

/** Time without an answer after which a line is logged. */
const SLOW_MS = 10_000

/** Maximum time to connect. `npx` may have to install the server first. */
const CONNECT_MS = 300_000

/** A server on stdio that has not answered the first request after this time speaks an older protocol. */
const PROBE_MS = 3_000

/** The connection ended before it was open. */
const ENDED = new Error('The server has closed the connection')
const FORWARDED = ['notifications/message', 'notifications/resources/updated'] as const

/** The connection to one MCP server. It connects again when the server has ended. */
export class ServerConnection {
  readonly source: ServerSource
  /** What the server offers. A server that has ended keeps what it had. */
  offers: Offers = { tools: [], prompts: [], resources: [], templates: [] }
  readonly #listener: ServerListener
  readonly #sdk: Sdk
  #capabilities: ClientCapabilities = {}
  #client: Client | null = null
  #opening: Promise<Client> | null = null
  /** The transport that is being connected, or whose lists are being read. */
  #transport: ServerTransport | null = null
  #why = 'it was not started yet'
  #startedAt = 0
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #level: string | null = null
  /** The resources that the client is subscribed to. */
  readonly #subscribed = new Set<string>()

  constructor(source: ServerSource, listener: ServerListener, sdk: Sdk) {
    this.source = source
    this.#listener = listener
    this.#sdk = sdk
  }

  get name(): string {
    return this.source.name
  }

  get state(): ServerState {
    if (this.#client) return 'running'
    if (this.#opening) return 'starting'
    return this.#startedAt > 0 ? 'ended' : 'waiting'
  }

  /** Why the server is not running. */
  get why(): string {
    return this.#opening ? 'it has not answered yet' : this.#why
  }

  get instructions(): string | undefined {
    return this.#client?.getInstructions()
  }

  get protocolVersion(): string | undefined {
    return this.#client?.getNegotiatedProtocolVersion()
  }

  /** Declares the capabilities of the client, for connections that are opened from now on. */
  declare(capabilities: ClientCapabilities): void {
    this.#capabilities = capabilities
  }

  /**
   * Returns the client of the running server. Starts the server if it does not run.
   *
   * @throws Error that says why the server cannot be reached
   */
  async client(): Promise<Client> {
    if (this.#isClosed) throw new Error('The proxy is closed')
    if (this.#client) return this.#client
    clearTimeout(this.#timer)
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  /** Whether this client is still connected to the server. */
  isOpen(client: Client): boolean {
    return this.#client === client
  }

  /** Closes a connection that the server has forgotten. */
  async drop(client: Client): Promise<void> {
    if (this.#client === client) this.#client = null
    await client.close().catch(() => {})
  }

  /** Sets the level of the server's log messages, also of later connections. */
  async setLevel(level: string): Promise<void> {
    this.#level = level
    const client = this.#client
    if (client?.getServerCapabilities()?.logging && client.getProtocolEra() === 'legacy') {
      await client.setLoggingLevel(level as Parameters<Client['setLoggingLevel']>[0])
    }
  }

  /** Subscribes to a resource, also on later connections, or ends the subscription. */
  async subscribe(uri: string, isOn: boolean): Promise<void> {
    const client = await this.client()
    if (client.getProtocolEra() !== 'legacy') return
    await (isOn ? client.subscribeResource({ uri }) : client.unsubscribeResource({ uri }))
    if (isOn) this.#subscribed.add(uri)
    else this.#subscribed.delete(uri)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await (client ?? this.#transport)?.close().catch(() => {})
  }

  async #open(): Promise<Client> {
    const began = performance.now()
    this.#startedAt = Date.now()
    const slow = setTimeout(() => this.#log('has not answered yet'), SLOW_MS)
    slow.unref()
    try {
      const client = await this.#connect().catch(async (error) => {
        if (await this.source.recover?.(error)) return this.#connect()
        throw error
      })
      await this.#readOffers(client).catch(async (error) => {
        await client.close()
        throw error
      })
      if (this.#isClosed) throw new Error('The proxy is closed')
      this.#client = client
      this.#transport = null
      // A server that does not know the level sends messages of its own choice.
      if (this.#level !== null) await this.setLevel(this.#level).catch(() => {})
      if (client.getProtocolEra() === 'legacy') {
        const again = [...this.#subscribed].map((uri) => client.subscribeResource({ uri }))
        await Promise.allSettled(again)
      }
      const { tools } = this.offers
      const seconds = ((performance.now() - began) / 1_000).toFixed(1)
      this.#log(`running (${countOfTools(tools)}, MCP ${this.protocolVersion}, ${seconds} s)`)
      this.#listener.changed(this)
      return client
    } catch (error) {
      this.#why = errorMessage(error)
      if (!this.#isClosed) this.#log(this.#why)
      this.#retry()
      throw new Error(`The MCP server "${this.name}" is not running: ${this.#why}`, {
        cause: error,
      })
    } finally {
      clearTimeout(slow)
    }
  }

  /** Some servers exit if they receive a request before `initialize`. They are started again without it. */
  async #connect(mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
    const transport = await this.source.connect()
    try {
      return await this.#connectTo(transport, mode)
    } catch (error) {
      await transport.close().catch(() => {})
      if (!transport.whyEnded || error !== ENDED || this.#isClosed) throw error
      if (mode === 'auto') return this.#connect('legacy')
      throw new Error(transport.whyEnded())
    }
  }

  async #connectTo(transport: ServerTransport, mode: 'auto' | 'legacy'): Promise<Client> {
    const { Client: SdkClient } = this.#sdk
    this.#transport = transport
    if (this.#isClosed) throw ENDED
    const isLocal = transport.whyEnded !== undefined
    const refresh = { autoRefresh: false, debounceMs: 0, onChanged: () => this.#refresh() }
    const client = new SdkClient(
      { name: 'byref', version },
      {
        capabilities: { ...this.#capabilities, extensions: TASKS },
        versionNegotiation: { mode, probe: { timeoutMs: isLocal ? PROBE_MS : CONNECT_MS } },
        listChanged: { tools: refresh, prompts: refresh, resources: refresh },
        listMaxPages: 1_000,
      },
    )
    this.#answer(client)
    for (const method of FORWARDED) {
      client.setNotificationHandler(method, ({ params }) => {
        this.#listener.notifies(this, method, params)
      })
    }
    client.onclose = () => this.#ended(client, transport)
    const ended = Promise.withResolvers<never>()
    ended.promise.catch(() => {})
    // A process may end before the SDK listens. The SDK keeps this handler, and calls it, too.
    if (isLocal) transport.onclose = () => ended.reject(ENDED)
    const connected = client.connect(withTasks(transport) as Transport, { timeout: CONNECT_MS })
    await Promise.race([connected, ended.promise])
    return client
  }

  /** Passes the server's questions to the client of the proxy, which answers in the form of the method. */
  #answer(client: Client): void {
    const { sampling, elicitation, roots } = this.#capabilities
    const ask =
      <Answer>() =>
      ({ method, params }: { method: string; params?: unknown }) =>
        this.#listener.asks(this, method, params) as Promise<Answer>
    if (sampling) client.setRequestHandler('sampling/createMessage', ask<CreateMessageResult>())
    if (elicitation) client.setRequestHandler('elicitation/create', ask<ElicitResult>())
    if (roots) client.setRequestHandler('roots/list', ask<ListRootsResult>())
  }

  #ended(client: Client, transport: ServerTransport): void {
    if (this.#client !== client) return
    this.#client = null
    this.#why = transport.whyEnded?.() ?? 'it has closed the connection'
    if (this.#isClosed) return
    this.#log(this.#why)
    if (Date.now() - this.#startedAt > STABLE_MS) this.#failures = 0
    this.#retry()
  }

  #retry(): void {
    const pause = PAUSES[this.#failures++]
    if (this.#isClosed) return
    if (pause === undefined) {
      this.#log('restarts with the next request to it')
      return
    }
    this.#log(`restarts in ${pause / 1_000} s`)
    this.#timer = setTimeout(() => {
      // A failure was logged, and has its own retry.
      this.client().catch(() => {})
    }, pause)
    this.#timer.unref()
  }

  #refresh(): void {
    const client = this.#client
    if (!client) return
    const read = this.#readOffers(client).then(() => this.#listener.changed(this))
    inBackground(`Reading the lists of ${this.name}`, read)
  }

  async #readOffers(client: Client): Promise<void> {
    const has = client.getServerCapabilities() ?? {}
    const [listed, prompts, resources, templates] = await Promise.all([
      has.tools ? this.#tools(client) : [],
      has.prompts ? client.listPrompts().then((list) => list.prompts) : [],
      has.resources ? client.listResources().then((list) => list.resources) : [],
      has.resources ? this.#templates(client) : [],
    ])
    const tools = listed.filter((one) => !needsOldTask(one))
    const left = listed.filter(needsOldTask).map(({ name }) => name)
    if (left.length > 0) {
      this.#log(`tools that only run as tasks (MCP 2025-11-25) are skipped: ${left.join(', ')}`)
    }
    this.offers = { tools, prompts, resources, templates }
  }

  /** Returns the tools of the server. A tool with an invalid definition is left out: the SDK would take none then. */
  async #tools(client: Client): Promise<readonly Tool[]> {
    try {
      return (await client.listTools()).tools
    } catch (error) {
      if (Object(error).code !== this.#sdk.SdkErrorCode.InvalidResult) throw error
    }
    const { isSpecType } = this.#sdk
    const ask: Ask = async ({ method = '', params }) => {
      return { jsonrpc: '2.0', result: await client.request({ method, params }, ANY) }
    }
    const request = { jsonrpc: '2.0', method: 'tools/list' } as const
    const { items: found } = await readPages(request, ask, 'tools')
    const tools = found.filter((one) => isSpecType.Tool(one))
    const left = found.filter((one) => !isSpecType.Tool(one)).map((one) => Object(one).name)
    this.#log(`tools with an invalid definition are skipped: ${left.join(', ')}`)
    return tools
  }

  /** Not every server with resources has templates. */
  async #templates(client: Client): Promise<ResourceTemplateType[]> {
    const list = await client.listResourceTemplates().catch(() => null)
    return list?.resourceTemplates ?? []
  }

  #log(line: string): void {
    this.#listener.logs(`${this.name}: ${line}`)
  }
}

/** Returns a count with its noun: `1 tool`, `2 tools`. */
export function countOfTools({ length }: readonly unknown[]): string {
  return `${length} ${length === 1 ? 'tool' : 'tools'}`
}
