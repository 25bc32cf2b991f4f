import { expect, it } from 'vitest'
import type { Channel, RpcMessage } from './json-rpc.ts'
import { relay } from './relay.ts'

function channel(): Channel & { sent: RpcMessage[] } {
  const sent: RpcMessage[] = []
  return {
    sent,
    async start() {},
    async send(message) {
      sent.push(message)
    },
    async close() {},
  }
}

it('asks a client nothing for a request that is cancelled already', async () => {
  const [client, server] = [channel(), channel()]
  const { promise: cancelled, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: told, resolve: tell } = Promise.withResolvers<RpcMessage>()
  const ended = relay(client, server, {
    handlers: {
      async work(request, { askClient }) {
        await cancelled
        tell(await askClient({ jsonrpc: '2.0', method: 'elicitation/create' }))
        return { jsonrpc: '2.0', id: request.id, result: {} }
      },
    },
    fromServer: (message) => message,
    whyEnded: () => 'gone',
  })
  client.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'work' })
  client.onmessage?.({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 1 },
  })
  goOn()
  expect(await told).toMatchObject({ error: { message: expect.any(String) } })
  expect(client.sent).toEqual([])
  server.onclose?.()
  expect(await ended).toBe('server')
})
