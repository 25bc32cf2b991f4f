import { describe, it } from 'vitest'
import { createAssets } from '../../../assets/create-assets.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { type PlainTool, testBoundary } from '../../../testing/boundary.ts'
import type { Channel, RpcMessage } from '../rpc/json-rpc.ts'
import { proxyMcp } from './proxy-mcp.ts'

describe('proxyMcp', () => {
  testBoundary(
    async (tools) => {
      const assets = createAssets()
      const answers = new Map<unknown, (message: RpcMessage) => void>()
      const client = channel((message) => answers.get(message.id)?.(message))
      const server: Channel = channel((message) => {
        server.onmessage?.(answerOf(tools, message))
      })
      proxyMcp(client, server, { assets }).catch(() => {})
      let id = 0
      return {
        assets,
        async call(name, args) {
          const params = { name, arguments: args }
          const { promise, resolve } = Promise.withResolvers<RpcMessage>()
          answers.set(++id, resolve)
          client.onmessage?.({ jsonrpc: '2.0', id, method: 'tools/call', params })
          return JSON.stringify((await promise).result)
        },
      }
    },
    it,
    { hasResults: false },
  )
})

function channel(send: (message: RpcMessage) => void): Channel {
  return { start: async () => {}, close: async () => {}, send: async (message) => send(message) }
}

function answerOf(tools: readonly PlainTool[], { id, method, params }: RpcMessage): RpcMessage {
  if (method === 'tools/list') {
    const list = tools.map(({ name, parameters }) => ({ name, inputSchema: parameters }))
    return { jsonrpc: '2.0', id, result: { tools: list } }
  }
  const { name, arguments: args } = Object(params)
  const result = tools.find((one) => one.name === name)?.run(args)
  return { jsonrpc: '2.0', id, result: { content: [blockOf(result)] } }
}

function blockOf(result: unknown): Record<string, unknown> {
  const image = isPlainObject(result) ? result.image : undefined
  if (!(image instanceof Uint8Array)) return { type: 'text', text: JSON.stringify(result) }
  return { type: 'image', mimeType: 'image/png', data: Buffer.from(image).toString('base64') }
}
