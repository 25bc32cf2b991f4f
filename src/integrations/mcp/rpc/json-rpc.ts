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

const METHOD_NOT_FOUND = -32601
const INTERNAL_ERROR = -32603

/** Returns whether a request is of protocol version 2026-07-28 or later. Since then each request names its version. */
export function isOfNewProtocol({ params }: RpcMessage): boolean {
  return Object(params?._meta)['io.modelcontextprotocol/protocolVersion'] !== undefined
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
  return {
    jsonrpc: '2.0',
    id,
    error: data === undefined ? { code, message } : { code, message, data },
  }
}

/** Returns whether a server does not know the method that it was asked for. */
export function isUnknownMethod({ error }: RpcMessage): boolean {
  return error?.code === METHOD_NOT_FOUND
}
