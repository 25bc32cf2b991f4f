import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { errorMessage } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import {
  type Channel,
  isOfNewProtocol,
  type RpcMessage,
} from '../../integrations/mcp/rpc/json-rpc.ts'
import { optionalPeer } from '../../optional-peer.ts'

/**
 * Creates a channel to an MCP server at a URL (streamable HTTP), on the transport of `@modelcontextprotocol/client`.
 *
 * @throws ByrefError `dependency_missing` if that package is not installed
 */
export async function httpChannel(url: string, extra: Record<string, string>): Promise<Channel> {
  const { StreamableHTTPClientTransport } = await optionalPeer(
    '@modelcontextprotocol/client',
    'An MCP server at a URL',
  )
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: extra },
  })
  /** The new protocol cancels a request by ending its stream. */
  const streams = new Map<unknown, AbortController>()
  const tools = new Map<unknown, { name?: unknown; inputSchema?: unknown }>()
  let opening: unknown = null

  function received(message: RpcMessage): void {
    if (message.method === undefined) streams.delete(message.id)
    const { protocolVersion, tools: listed } = Object(message.result)
    for (const tool of Array.isArray(listed) ? listed : []) tools.set(tool?.name, tool)
    if (opening !== null && message.id === opening && typeof protocolVersion === 'string') {
      transport.setProtocolVersion(protocolVersion)
    }
    channel.onmessage?.(message)
  }

  const channel: Channel = {
    async start() {
      transport.onmessage = (message) => received(message as RpcMessage)
      await transport.start()
    },
    async send(message) {
      const { id, method, params } = message
      const { requestId, name, arguments: args } = Object(params)
      if (method === 'initialize') opening = id
      const stream = method === 'notifications/cancelled' ? streams.get(requestId) : undefined
      if (stream) {
        streams.delete(requestId)
        return stream.abort()
      }
      const isNew = id !== undefined && isOfNewProtocol(message)
      const controller = isNew ? new AbortController() : null
      if (controller) streams.set(id, controller)
      const tool = isNew && method === 'tools/call' ? tools.get(name) : undefined
      const headers = tool && parameterHeaders(tool, args)
      try {
        const requestSignal = controller?.signal
        await transport.send(message as JSONRPCMessage, { requestSignal, headers })
      } catch (error) {
        streams.delete(id)
        if (controller?.signal.aborted) return
        throw new Error(`No answer from ${url}: ${errorMessage(error)}${causeOf(error)}`, {
          cause: error,
        })
      }
    },
    async close() {
      await transport.terminateSession().catch(() => {})
      await transport.close()
    },
  }
  return channel
}

/** `fetch` describes a failure only in the cause of its error. */
function causeOf(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown }
  return cause === undefined ? '' : ` (${errorMessage(cause)})`
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
