import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import { defineTool } from '../boundary/tool.ts'
import { ByrefError } from '../core/errors.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createServer, type Server } from './create-server.ts'
import { openApi, refusal } from './fixtures/api.ts'
import { temporary } from './fixtures/listening.ts'

describe('a server that is about to stop', () => {
  it('reports that it hands over its runs, starts nothing, and then stops', async () => {
    const gate = Promise.withResolvers<void>()
    let began = false
    const slow = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      async execute() {
        began = true
        await gate.promise
      },
    })
    const { agent, server } = openApi([{ calls: [{ name: 'slow', arguments: {} }] }], {
      agent: { tools: [slow] },
    })
    // The hand-over takes as long as a run needs.
    const { close: handOver } = agent
    agent.close = async () => {
      await handOver()
      await gate.promise
    }
    const { url, close } = await server.listen({ port: 0 })
    const { id } = (await (await fetch(`${url}/api/conversations`, { method: 'POST' })).json()) as {
      id: string
    }
    const say = () =>
      fetch(`${url}/api/conversations/${id}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"content":"go"}',
      })
    const stream = (await fetch(`${url}/api/conversations/${id}/stream`)).text()
    expect((await say()).status).toBe(202)
    await expect.poll(() => began).toBe(true)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)

    const closed = close()
    expect(await stream).toContain('TOOL_CALL')
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    for (const ask of [() => fetch(`${url}/readyz`), say]) {
      const answer = await ask()
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await refusal(answer)).toEqual({ status: 503, code: 'shutting_down' })
    }
    // An EventSource reconnects after this; after an error status, it would not.
    for (const path of [`/api/conversations/${id}/stream`, '/api/events']) {
      const answer = await fetch(url + path)
      expect(answer.headers.get('content-type')).toBe('text/event-stream')
      expect(await answer.text()).toBe('retry: 1000\n\n')
    }
    gate.resolve()
    await closed
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    expect((await agent.log.find(id))?.status).not.toBe('idle')
  })
})

describe('a server whose agent is closed', () => {
  it('asks clients to retry', async () => {
    const { agent, ask } = openApi([])
    await agent.close()
    const said = await ask(`/api/conversations/${await agent.log.create()}/messages`, {
      method: 'POST',
      json: { content: 'go' },
    })
    expect(said.headers.get('retry-after')).toBe('1')
    expect(await refusal(said)).toEqual({ status: 503, code: 'interrupted' })
  })
})

describe('a server whose storage is unavailable', () => {
  it('asks clients to retry', async () => {
    const { agent, ask } = openApi([])
    agent.assets.list = () => Promise.reject(new ByrefError('storage_failed', 'No server there'))
    const listed = await ask('/api/assets')
    expect(listed.headers.get('retry-after')).toBe('1')
    expect(await refusal(listed)).toEqual({ status: 503, code: 'storage_failed' })
  })
})

describe('a server whose log does not respond', () => {
  it('is up and not ready', async () => {
    const logged: object[] = []
    const log = { info() {}, error: (entry: object) => void logged.push(entry) }
    const { agent, ask } = openApi([], { log })
    expect((await ask('/readyz')).status).toBe(200)
    agent.log.renew = () => Promise.reject(new Error('the disk is gone'))
    expect(await refusal(await ask('/readyz'))).toEqual({ status: 503, code: 'log_failed' })
    expect((await ask('/healthz')).status).toBe(200)
    expect(logged).toMatchObject([{ err: { cause: { message: 'the disk is gone' } } }])
  })
})

describe('a server that can store nothing', () => {
  const ready = async (server: Server) => server.fetch(new Request('http://127.0.0.1/readyz'))
  const quiet = { app: null, log: { info() {}, error() {} } }

  it('is not ready when the file of its log is gone', async ({ onTestFinished }) => {
    const folder = temporary(onTestFinished)
    const log = createSqliteLog(join(folder, 'log.sqlite'))
    const agent = createAgent({ model: scriptedModel([]), log })
    onTestFinished(() => agent.close())
    const server = createServer({ agent, ...quiet })
    expect((await ready(server)).status).toBe(200)
    renameSync(join(folder, 'log.sqlite'), join(folder, 'aside.sqlite'))
    expect(await refusal(await ready(server))).toEqual({ status: 503, code: 'log_failed' })
  })
})

it('a server inside another server stops accepting work when it is closed', async () => {
  const { server } = openApi()
  // As apps pass it to a server, or mount it.
  const { fetch: handle } = server
  const ready = async () => (await handle(new Request('http://127.0.0.1/readyz'))).status
  expect(await ready()).toBe(200)
  server.close()
  expect(await ready()).toBe(503)
})
