import { Server } from 'node:http'
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
