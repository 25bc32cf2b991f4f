import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { proxyMcp } from '../../integrations/mcp/proxy/proxy-mcp.ts'
import { lineChannel } from './line-channel.ts'

it('lineChannel, on both sides of a proxy, changes no letter of what passes', async () => {
  const [fromClient, toClient, fromServer, toServer] = [1, 2, 3, 4].map(
    () => new PassThrough(),
  ) as [PassThrough, PassThrough, PassThrough, PassThrough]
  const client = lineChannel(fromClient, toClient)
  const ended = proxyMcp(client, lineChannel(fromServer, toServer), { assets: createAssets() })
  // Numbers that JavaScript cannot represent, white space, the order of fields, an escape.
  const asked = `{ "method":"x/y", "params": {"n": 12345678901234567890, "e":1e400}, "id": 7, "jsonrpc":"2.0" }`
  fromClient.write(`${asked}\n`)
  expect(String((await once(toServer, 'data'))[0])).toBe(`${asked}\n`)
  const answer = String.raw`{"id":7,"jsonrpc":"2.0","result":{"n":0.10,"text":"\u00e9"}}`
  fromServer.write(`${answer}\n`)
  expect(String((await once(toClient, 'data'))[0])).toBe(`${answer}\n`)
  fromClient.end()
  expect(await ended).toBe('client')
})

it('lineChannel ends a message only at a line feed, however its bytes arrive', async () => {
  const input = new PassThrough()
  const channel = lineChannel(input, new PassThrough())
  const seen: unknown[] = []
  channel.onmessage = (message) => seen.push(message.params)
  const closed = new Promise<void>((resolve) => {
    channel.onclose = resolve
  })
  await channel.start()
  const texts = ['a\u2028b', 'a\u2029b', 'a\u0085b', 'é漢😀', 'last']
  const lines = texts.map((text) => JSON.stringify({ method: 'x', params: { text } }))
  for (const byte of Buffer.from(lines.join('\r\n'))) input.write(Buffer.of(byte))
  input.end()
  await closed
  expect(seen).toEqual(texts.map((text) => ({ text })))
})

it('lineChannel closes if its input cannot be read', async () => {
  const input = new PassThrough()
  const channel = lineChannel(input, new PassThrough())
  const closed = new Promise<void>((resolve) => {
    channel.onclose = resolve
  })
  await channel.start()
  input.destroy(new Error('EIO'))
  await closed
})
