/** A JSON object of unknown form. */
export type Fields = { readonly [key: string]: unknown }

/** A message of JSON-RPC 2.0: a request has `method` and `id`, a notification no `id`, an answer no `method`. */
export interface RpcMessage {
  jsonrpc: '2.0'
  id?: string | number
  method?: string
  params?: Fields
  result?: Fields
  error?: RpcError
}

interface RpcError {
  code: number
  message: string
  data?: unknown
}

/** One end of a connection. It has the form of the MCP SDK's transports. */
export interface Channel {
  onmessage?: (message: RpcMessage) => void
  onclose?: () => void
  start(): Promise<void>
  send(message: RpcMessage): Promise<void>
  close(): Promise<void>
}

export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** The keys in the `_meta` of a request that describe its client, since 2026-07-28. */
export const CLIENT_VERSION = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** The fields of a protocol error in addition to its message. */
interface ErrorDetails {
  /** Default: -32602, invalid params. */
  code?: number
  data?: unknown
  cause?: unknown
}

/** An error with a code of the protocol. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(message: string, { code = INVALID_PARAMS, data, cause }: ErrorDetails = {}) {
    super(message, { cause })
    this.code = code
    this.data = data
  }
}

/** Returns whether a request is of protocol version 2026-07-28 or later. Since then each request names its version. */
export function isOfNewProtocol({ params }: RpcMessage): boolean {
  return Object(params?._meta)[CLIENT_VERSION] !== undefined
}

/** Returns the answer to a request. Since 2026-07-28 a result names its type. */
export function answerTo(request: RpcMessage, result: Fields): RpcMessage {
  const fields = isOfNewProtocol(request)
    ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    : {}
  return { jsonrpc: '2.0', id: request.id, result: { ...fields, ...result } }
}

/** Returns the answer to a request that failed. */
export function failureOf({ id }: RpcMessage, error: unknown): RpcMessage {
  const { code: given, message = 'failed', data } = Object(error) as Partial<RpcError>
  const code = Number.isInteger(given) ? Number(given) : INTERNAL_ERROR
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } }
}

/** Sends a request and resolves to the answer. */
export type Ask = (request: RpcMessage) => Promise<RpcMessage>

/** Maximum pages of a list that are read. */
const MAX_PAGES = 1_000

/**
 * Reads all items of a list of the server, and the other fields of its first page. A server without such a list has an
 * empty one.
 */
export async function readPages({ method, params }: RpcMessage, ask: Ask, key: string) {
  // A progress token belongs to the client's own request.
  const { progressToken: _, ...meta } = Object(params?._meta)
  const items: unknown[] = []
  let rest: Fields | null = null
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES && (page === 0 || cursor); page++) {
    const asking = { ...(cursor ? { cursor } : {}), ...(params?._meta ? { _meta: meta } : {}) }
    const id = `byref-${crypto.randomUUID()}`
    const answer = await ask({ jsonrpc: '2.0', id, method, params: asking })
    if (answer.error && !isUnknownMethod(answer)) throw answer.error
    const { [key]: found, nextCursor, ...others } = answer.result ?? {}
    if (Array.isArray(found)) items.push(...found)
    rest ??= others
    cursor = nextCursor
  }
  return { items, rest: rest ?? {} }
}

/**
 * Returns whether a server at a URL rejected a request because it does not know its session. It has not run the request
 * then. Some servers answer with 400 in place of 404.
 */
export function isUnknownSession(error: unknown, sessionId: string | undefined): boolean {
  const { status, message } = Object(error) as { status?: number; message?: string }
  if (status === 404) return true
  return status === 400 && sessionId !== undefined && /session/i.test(message ?? '')
}

/** What happened to a request whose connection ended, after the name of the server. */
export const CUT_OFF =
  'has closed the connection without an answer. The request may or may not have taken effect. Check before you repeat it'

/** Returns whether a server does not know the method that it was asked for. */
export function isUnknownMethod({ error }: RpcMessage): boolean {
  return error?.code === METHOD_NOT_FOUND
}
