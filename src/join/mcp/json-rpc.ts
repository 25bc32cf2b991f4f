/** A message of JSON-RPC 2.0: a request has `method` and `id`, a notification no `id`, an answer no `method`. */
export interface RpcMessage {
  jsonrpc: '2.0'
  id?: string | number
  method?: string
  params?: Fields
  result?: Fields
  error?: { code: number; message: string; data?: unknown }
}

/** A JSON object of which little is known. */
export type Fields = { readonly [key: string]: unknown }

/** One end of a connection, in the shape of the MCP SDK's transports. */
export interface Channel {
  onmessage?: (message: RpcMessage) => void
  onclose?: () => void
  start(): Promise<void>
  send(message: RpcMessage): Promise<void>
  close(): Promise<void>
}

/** JSON-RPC's code for a method that there is not, and for what went wrong inside. */
export const METHOD_NOT_FOUND = -32601
export const INTERNAL_ERROR = -32603
