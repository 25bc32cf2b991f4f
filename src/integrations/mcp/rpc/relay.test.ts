import { expect, it } from 'vitest'
import type { Channel, RpcMessage } from './json-rpc.ts'
import { type Handler, relay } from './relay.ts'

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

it('sends a client no question for a request that is already cancelled', async () => {
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
  expect(await told).toMatchObject({ error: { message: 'cancelled' } })
  expect(client.sent).toEqual([])
  server.onclose?.()
  expect(await ended).toBe('server')
})

it.each<[string, Handler]>([
  ['the client', (_, { askClient }) => askClient({ jsonrpc: '2.0', method: 'elicitation/create' })],
  ['the server', (request, { ask }) => new Promise(setImmediate).then(() => ask(request))],
])('ends when the server has ended while a handler asks %s', async (_, work) => {
  const [client, server] = [channel(), channel()]
  const ended = relay(client, server, {
    handlers: {
      async work(request, peers) {
        const { error } = await work(request, peers)
        return { jsonrpc: '2.0', id: request.id, error }
      },
    },
    fromServer: (message) => message,
    whyEnded: () => 'gone',
  })
  client.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'work' })
  server.onclose?.()
  expect(await ended).toBe('server')
  expect(client.sent.at(-1)).toMatchObject({ id: 1, error: { message: 'gone' } })
})
