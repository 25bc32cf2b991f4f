import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Channel, RpcMessage } from '../rpc/json-rpc.ts'
import { TASKS, withTasks } from './with-tasks.ts'

type State = Record<string, unknown>

/** A server of 2026-07-28 that runs every call as a task with these states. */
function taskServer(states: (State | Error)[]) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = far as Channel
  const requests: RpcMessage[] = []
  const base = { taskId: 't1', createdAt: '2026-11-26T00:00:00Z', ttlMs: null, pollIntervalMs: 1 }
  const resultOf = ({ method }: RpcMessage): State | Error => {
    if (method === 'server/discover') {
      const serverInfo = { name: 'tasks', version: '1' }
      const capabilities = { tools: {}, extensions: TASKS }
      return { supportedVersions: ['2026-07-28'], serverInfo, capabilities }
    }
    if (method === 'tools/call') return { ...base, resultType: 'task', status: 'working' }
    if (method !== 'tasks/get') return {}
    const state = states.length > 1 ? states.shift() : states[0]
    return state instanceof Error ? state : { ...base, ...state }
  }
  server.onmessage = (message) => {
    if (message.id === undefined || message.method === undefined) return
    requests.push(message)
    const result = resultOf(message)
    const answer =
      result instanceof Error
        ? { error: { code: -32602, message: result.message } }
        : { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result } }
    void server.send({ jsonrpc: '2.0', id: message.id, ...answer } as RpcMessage)
  }
  return { near, server, requests }
}

async function connect(states: (State | Error)[]) {
  const { near, server, requests } = taskServer(states)
  await server.start()
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: 'auto' },
      capabilities: { elicitation: {}, extensions: TASKS },
    },
  )
  await client.connect(withTasks(near) as Transport)
  onTestFinished(() => client.close())
  const asked = (method: string) => requests.filter((one) => one.method === method)
  return { client, server, asked }
}

const done = (text: string) => ({
  status: 'completed',
  result: { content: [{ type: 'text', text }] },
})

describe('withTasks', () => {
  it('waits for the result of a task, and passes its status on as progress', async () => {
    const working = (statusMessage: string) => ({ status: 'working', statusMessage })
    const states = [working('reads'), working('reads'), working('writes'), done('ready')]
    const { client, asked } = await connect(states)
    const heard: unknown[] = []
    const result = await client.callTool(
      { name: 'work', arguments: {} },
      { onprogress: ({ message }) => heard.push(message) },
    )
    expect(result).toMatchObject({ content: [{ text: 'ready' }] })
    expect(heard).toEqual(['reads', 'writes'])
    expect(asked('tasks/get')).toHaveLength(4)
    const [first] = asked('tasks/get')
    expect(first?.params).toMatchObject({
      taskId: 't1',
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { extensions: TASKS } },
    })
  })

  it('passes the questions of a task to the client, and continues', async () => {
    const requestedSchema = { type: 'object', properties: { colour: { type: 'string' } } }
    const params = { mode: 'form', message: 'Which colour?', requestedSchema }
    const inputRequests = { q: { method: 'elicitation/create', params } }
    const { client, asked } = await connect([
      { status: 'input_required', inputRequests },
      done('painted'),
    ])
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { colour: 'red' },
    }))
    const result = await client.callTool({ name: 'paint', arguments: {} })
    expect(result).toMatchObject({ content: [{ text: 'painted' }] })
    expect(asked('tools/call')).toHaveLength(1)
    expect(asked('tasks/update')).toMatchObject([
      { params: { taskId: 't1', inputResponses: { q: { content: { colour: 'red' } } } } },
    ])
  })

  it.each<[State | Error, string]>([
    [{ status: 'failed', error: { code: -32000, message: 'disk full' } }, 'disk full'],
    [{ status: 'cancelled' }, 'The task is cancelled'],
    [new Error('no such task'), 'no such task'],
  ])('fails as the task does: %j', async (state, message) => {
    const { client } = await connect([state])
    await expect(client.callTool({ name: 'work', arguments: {} })).rejects.toThrow(message)
  })

  it('cancels the task of a cancelled call', async () => {
    const { client, asked } = await connect([{ status: 'working' }])
    const controller = new AbortController()
    const { promise: polled, resolve } = Promise.withResolvers<void>()
    const call = client.callTool(
      { name: 'work', arguments: {} },
      { signal: controller.signal, onprogress: () => {} },
    )
    const timer = setInterval(() => asked('tasks/get').length > 0 && resolve(), 5)
    await polled
    clearInterval(timer)
    controller.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => asked('tasks/cancel')).toHaveLength(1)
    const before = asked('tasks/get').length
    expect(asked('tasks/cancel')).toMatchObject([{ params: { taskId: 't1' } }])
    expect(asked('tasks/get').length).toBe(before)
  })

  it('does not follow a task that starts after its call was cancelled', async () => {
    const { client, server, asked } = await connect([{ status: 'working' }])
    const answer = server.onmessage
    const late: RpcMessage[] = []
    server.onmessage = (message) => {
      if (message.method === 'tools/call') late.push(message)
      else answer?.(message)
    }
    const controller = new AbortController()
    const call = client.callTool({ name: 'work', arguments: {} }, { signal: controller.signal })
    await expect.poll(() => late).toHaveLength(1)
    controller.abort()
    await expect(call).rejects.toThrow()
    for (const message of late) answer?.(message)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(asked('tasks/get')).toEqual([])
  })
})
