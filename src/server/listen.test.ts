import { once } from 'node:events'
import { Agent, type IncomingMessage, request, Server } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createServer } from './create-server.ts'
import type { Listening } from './listen.ts'

describe('listen', () => {
  let listening: Listening | undefined
  afterEach(() => listening?.close())

  it('leaves all methods of Response to the app that it runs in', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const stream = new Blob(['abc']).stream()
    expect(await new Response(stream).bytes()).toEqual(new Uint8Array([97, 98, 99]))
    expect(await new Response('abc').bytes()).toEqual(new Uint8Array([97, 98, 99]))
    const fetched = await fetch(`${listening.url}/healthz`)
    expect((await fetched.bytes()).length).toBeGreaterThan(0)
  })

  it('closes the connection of a request whose body it does not read to its end', async ({
    onTestFinished,
  }) => {
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const connections = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => connections.destroy())
    const post = async (body: string) => {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
      const options = { method: 'POST', agent: connections, headers }
      const sent = request(`${listening?.url}/api/conversations`, options).end(body)
      const [response]: IncomingMessage[] = await once(sent, 'response')
      response?.resume()
      return [response?.statusCode, response?.headers.connection]
    }
    expect(await post(' '.repeat(8_000_000))).toEqual([413, 'close'])
    expect(await post('{}')).toEqual([201, 'keep-alive'])
  })

  it('keeps the connection of a request that is rejected after its body has arrived', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const options = { method: 'POST', body: '{"a":1}' }
    const response = await fetch(`${listening.url}/api/nothing`, options)
    expect([response.status, response.headers.get('connection')]).toEqual([404, 'keep-alive'])
  })

  it('does not do what is asked after a request that closes the connection', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const { hostname, port } = new URL(listening.url)
    const socket = connect(Number(port), hostname)
    const post = (path: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    socket.write(post('/api/nothing', ' '.repeat(1_000_000)) + post('/api/conversations', '{}'))
    expect(await text(socket)).toMatch(/^HTTP.* 404 /)
    expect((await agent.log.list()).conversations).toEqual([])
  })

  it('lets a client that reads after it has sent everything read why it was rejected', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const { hostname, port } = new URL(listening.url)
    const socket = connect(Number(port), hostname).pause()
    const head = [
      'POST /api/conversations HTTP/1.1',
      `host: ${hostname}`,
      'content-length: 16000000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await new Promise((resolve) => socket.write(Buffer.alloc(16_000_000), resolve))
    expect(await text(socket)).toMatch(/^HTTP.* 413 /)
  })

  it('continues if a connection cannot be accepted', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen')
    const agent = createAgent({ model: scriptedModel([]) })
    listening = await createServer({ agent }).listen({ port: 0 })
    const server = listen.mock.contexts[0] as Server
    listen.mockRestore()
    const refused = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
    for (const _ of [1, 2]) server.emit('error', refused)
    expect((await fetch(`${listening.url}/healthz`)).status).toBe(200)
  })

  it('rejects an invalid port', () => {
    const server = createServer({ agent: createAgent({ model: scriptedModel([]) }) })
    for (const port of [65_536, Number.POSITIVE_INFINITY]) {
      expect(() => server.listen({ port })).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      )
    }
  })
})
