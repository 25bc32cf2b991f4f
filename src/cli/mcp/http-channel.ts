import type {
  JSONRPCMessage,
  StreamableHTTPClientTransport,
  TransportSendOptions,
} from '@modelcontextprotocol/client'
import { errorMessage } from '../../core/errors.ts'
import { shortened } from '../../core/json/cut.ts'
import { isPlainObject } from '../../core/json/json.ts'
import {
  type Channel,
  CUT_OFF,
  failureOf,
  isOfNewProtocol,
  isUnknownSession,
  type RpcMessage,
} from '../../integrations/mcp/rpc/json-rpc.ts'
import { optionalPeer } from '../../optional-peer.ts'

/**
 * Creates a channel to an MCP server at a URL (streamable HTTP), on the transport of `@modelcontextprotocol/client`. If
 * the server has forgotten the session, the channel starts a new one as the client did, and repeats the request.
 *
 * @throws ByrefError `dependency_missing` if that package is not installed
 */
export async function httpChannel(url: string, extra: Record<string, string>): Promise<Channel> {
  const { StreamableHTTPClientTransport } = await optionalPeer(
    '@modelcontextprotocol/client',
    'An MCP server at a URL',
  )
  const requestInit = { headers: extra }
  return new HttpChannel(url, new StreamableHTTPClientTransport(new URL(url), { requestInit }))
}

class HttpChannel implements Channel {
  onmessage?: (message: RpcMessage) => void
  onclose?: () => void
  readonly #url: string
  readonly #transport: StreamableHTTPClientTransport
  /** The requests without an answer. The new protocol cancels a request by ending its stream. */
  readonly #open = new Map<unknown, AbortController | null>()
  readonly #tools = new Map<unknown, ListedTool>()
  /** The client's request that started the session. */
  #opening: RpcMessage | null = null
  #version: string | null = null
  #hasAnswered = false
  #renewing: Promise<void> | null = null
  /** byref's own `initialize`. */
  #ownOpening: { id: string; answered(message: RpcMessage): void } | null = null

  constructor(url: string, transport: StreamableHTTPClientTransport) {
    this.#url = url
    this.#transport = transport
  }

  async start(): Promise<void> {
    this.#transport.onmessage = (message) => this.#received(message as RpcMessage)
    await this.#transport.start()
  }

  async send(message: RpcMessage): Promise<void> {
    const { id, method, params } = message
    const { requestId, name, arguments: args } = Object(params)
    if (method === 'initialize') this.#opening = message
    if (method === 'notifications/cancelled') {
      const stream = this.#open.get(requestId)
      this.#open.delete(requestId)
      if (stream) return stream.abort()
    }
    const isRequest = id !== undefined && method !== undefined
    const isNew = isRequest && isOfNewProtocol(message)
    const controller = isNew ? new AbortController() : null
    if (isRequest) this.#open.set(id, controller)
    const tool = isNew && method === 'tools/call' ? this.#tools.get(name) : undefined
    const headers = tool && parameterHeaders(tool, args)
    try {
      const onRequestStreamEnd = () => this.#ended(message)
      await this.#post(message, { requestSignal: controller?.signal, headers, onRequestStreamEnd })
    } catch (error) {
      this.#open.delete(id)
      if (controller?.signal.aborted) return
      throw this.#failure(error)
    }
  }

  async close(): Promise<void> {
    await this.#transport.terminateSession().catch(() => {})
    await this.#transport.close()
  }

  #received(message: RpcMessage): void {
    const { id, method, result } = message
    this.#hasAnswered = true
    if (id !== undefined && id === this.#ownOpening?.id) {
      this.#ownOpening.answered(message)
      return
    }
    if (method === undefined) this.#open.delete(id)
    const { protocolVersion, tools: listed } = Object(result)
    for (const tool of Array.isArray(listed) ? listed : []) this.#tools.set(tool?.name, tool)
    if (id !== undefined && id === this.#opening?.id && typeof protocolVersion === 'string') {
      this.#version = protocolVersion
      this.#transport.setProtocolVersion(protocolVersion)
    }
    this.onmessage?.(message)
  }

  /** Answers a request, if the server has not done so before the end of its stream. */
  #ended(request: RpcMessage): void {
    if (!this.#open.delete(request.id)) return
    const error = new Error(`${this.#url} ${CUT_OFF}`)
    this.onmessage?.(failureOf(request, error))
  }

  async #post(message: RpcMessage, options?: TransportSendOptions): Promise<void> {
    const { sessionId } = this.#transport
    try {
      await this.#transport.send(message as JSONRPCMessage, options)
    } catch (error) {
      const isLost = sessionId !== undefined && message.method !== 'initialize'
      if (!isLost || !isUnknownSession(error, sessionId)) throw error
      // Another request may have started a new session already.
      if (this.#transport.sessionId === sessionId) {
        this.#renewing ??= this.#renew().finally(() => {
          this.#renewing = null
        })
      }
      await this.#renewing
      await this.#transport.send(message as JSONRPCMessage, options)
    }
  }

  /** Starts a new session, with what the client said at its start. */
  async #renew(): Promise<void> {
    const id = `byref-${crypto.randomUUID()}`
    const { promise: answered, resolve } = Promise.withResolvers<RpcMessage>()
    this.#ownOpening = { id, answered: resolve }
    await this.#transport.send({ ...this.#opening, id } as JSONRPCMessage)
    const { result, error } = await answered
    if (error) throw new Error(error.message)
    const { protocolVersion } = Object(result)
    if (protocolVersion !== this.#version) {
      throw new Error(`its protocol version was ${this.#version} and is now ${protocolVersion}`)
    }
    await this.#transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  }

  /** Returns an error that says what the server answered, and what to do. */
  #failure(error: unknown): Error {
    const { status, data } = Object(error) as { status?: number; data?: { text?: unknown } }
    if (status === undefined) {
      const message = `No answer from ${this.#url}: ${errorMessage(error)}`
      return new Error(message, { cause: error })
    }
    const text = typeof data?.text === 'string' ? data.text.trim() : ''
    const words = text === '' ? '' : ` (${shortened(text, MAX_SHOWN)})`
    const advice = this.#hasAnswered && status !== 401 ? undefined : ADVICE[status]
    const message = `${this.#url} answered ${status}${words}${advice ? `. ${advice}` : ''}`
    return new Error(message, { cause: error })
  }
}

/** Maximum characters of a server's answer in an error. */
const MAX_SHOWN = 300

const NOT_HTTP =
  'Is it an SSE server? Then use --config with a file that has its "url" and "type": "sse"'

/** What to do after a status. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'Pass a token with --header "Authorization: Bearer …"',
  404: NOT_HTTP,
  405: NOT_HTTP,
}

/** A tool in the answer to `tools/list`. */
interface ListedTool {
  name?: unknown
  inputSchema?: unknown
}

/**
 * Returns the HTTP headers that repeat parameters of a call, where the tool has `x-mcp-header` (SEP-2243, since
 * 2026-07-28). Servers reject a call without them.
 */
function parameterHeaders({ inputSchema }: ListedTool, args: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  function visit(schema: unknown, value: unknown): void {
    if (!isPlainObject(schema)) return
    const name = schema['x-mcp-header']
    if (typeof name === 'string' && /^(string|boolean|number)$/.test(typeof value)) {
      headers[`Mcp-Param-${name}`] = encoded(String(value))
    }
    for (const [key, one] of Object.entries(Object(schema.properties))) {
      if (isPlainObject(value) && Object.hasOwn(value, key)) visit(one, value[key])
    }
  }
  visit(inputSchema, args)
  return headers
}

/** Returns a value for an HTTP header: base64 for text that is not plain, or that looks like base64. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value)
  return isPlain && !value.startsWith('=?base64?')
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
