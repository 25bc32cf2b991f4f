import { describe, expect, it } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import type { AgentOptions } from '../agent/agent-contract.ts'
import { defineTool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createServer } from './create-server.ts'
import { openApi, refusal } from './fixtures/api.ts'

const post = (json: unknown) => ({ method: 'POST', json })

/** Two agents on one log. The second one needs an approval before it measures. */
function open() {
  const log = createMemoryLog()
  const agent = (name: string, options: Partial<AgentOptions> = {}) =>
    createAgent({ name, log, model: scriptedModel([]), ...options })
  const measure = defineTool({
    id: 'measure',
    description: 'measures',
    inputSchema: { type: 'object' },
    needsApproval: true,
    execute: () => 42,
  })
  const call = { calls: [{ id: 'c1', name: 'measure', arguments: {} }] }
  const writer = agent('writer', { model: scriptedModel(['one', 'two', 'three']) })
  const turns = [call, 'measured', 'again', 'and in a fork']
  const gauge = agent('gauge', { model: scriptedModel(turns), tools: [measure] })
  const api = openApi([], { agents: { writer, gauge } })
  const state = (id: string) => api.askJson(`/api/conversations/${id}`)
  return {
    ...api,
    log,
    measure,
    state,
    idle: (id: string) => expect.poll(async () => (await state(id)).status).toBe('idle'),
  }
}

describe('several agents', () => {
  it('continue their own conversations, whatever is requested', async () => {
    const { askJson, ask, state, idle } = open()
    const { id } = await askJson<{ id: string }>('/api/conversations', post({}))
    const at = `/api/conversations/${id}`
    const said = await askJson<{ messageId: string }>(
      `${at}/messages`,
      post({ content: 'a', agent: 'gauge' }),
    )
    await expect.poll(async () => (await state(id)).status).toBe('waiting')
    expect(await state(id)).toMatchObject({ agent: 'gauge' })

    const other = await ask(
      `${at}/messages`,
      post({ content: 'b', agent: 'writer', ifBusy: 'queue' }),
    )
    expect(await refusal(other)).toEqual({ status: 409, code: 'conversation_busy' })
    const unknown = await ask(`${at}/calls/c1/approval`, post({ approved: true, arguments: [] }))
    expect(await refusal(unknown)).toEqual({ status: 422, code: 'invalid_arguments' })
    await ask(`${at}/calls/c1/approval`, post({ approved: true }))
    await idle(id)
    const texts = async (conversation: string) => {
      const { messages } = await askJson<{ messages: { message: { content: unknown } }[] }>(
        `/api/conversations/${conversation}/messages`,
      )
      return messages.map(({ message }) => message.content)
    }
    expect((await texts(id)).at(-1)).toBe('measured')
    await askJson(`${at}/messages`, post({ content: 'more' }))
    await idle(id)
    expect((await texts(id)).at(-1)).toBe('again')
    const fork = await askJson<{ conversation: string }>(
      `${at}/messages/${said.messageId}/retry`,
      post({}),
    )
    await expect.poll(async () => (await texts(fork.conversation)).at(-1)).toBe('and in a fork')

    // Another agent may continue a conversation without an active run.
    await askJson(`${at}/messages`, post({ content: 'you', agent: 'writer' }))
    await idle(id)
    expect([(await texts(id)).at(-1), (await state(id)).agent]).toEqual(['one', 'writer'])
    await askJson(`${at}/messages`, post({ content: 'and then' }))
    await idle(id)
    expect((await texts(id)).at(-1)).toBe('two')
    expect(
      await refusal(await ask(`${at}/messages`, post({ content: 'x', agent: 'none' }))),
    ).toEqual({
      status: 404,
      code: 'agent_not_found',
    })
  })

  it('cancel their own runs, and leave the runs of others', async () => {
    const { askJson, log, measure, state, idle } = open()
    const { id } = await askJson<{ id: string }>('/api/conversations', post({}))
    const at = `/api/conversations/${id}`
    await askJson(`${at}/messages`, post({ content: 'a', agent: 'gauge' }))
    await expect.poll(async () => (await state(id)).status).toBe('waiting')
    const again = (name: string) =>
      createAgent({ name, log, model: scriptedModel([]), tools: [measure] })
    expect(await again('writer').resumeAll()).toBe(0)
    expect(await again('gauge').resumeAll()).toBe(1)
    expect(await askJson(`${at}/cancel`, post({}))).toEqual({ cancelled: true })
    await idle(id)
  })

  it('answer and cancel calls of sub-agents that the server does not have', async () => {
    const log = createMemoryLog()
    const pay = defineTool({
      id: 'pay',
      description: 'pays',
      inputSchema: { type: 'object' },
      needsApproval: true,
      execute: () => 'paid',
    })
    const turn = { calls: [{ id: 'p1', name: 'pay', arguments: {} }] }
    const clerk = createAgent({
      name: 'clerk',
      log,
      tools: [pay],
      model: scriptedModel([turn, 'It is paid.', turn]),
    })
    const ask = (id: string) => ({ calls: [{ id, name: 'clerk', arguments: { task: 'Pay' } }] })
    const boss = createAgent({
      name: 'boss',
      log,
      tools: [clerk.asTool({ id: 'clerk', description: 'pays' })],
      model: scriptedModel([ask('c1'), 'Done.', ask('c2'), 'Not done.']),
    })
    const writer = createAgent({ name: 'writer', log, model: scriptedModel([]) })
    const api = openApi([], { agents: { boss, writer } })
    const statusOf = async (id: string) =>
      (await api.askJson(`/api/conversations/${encodeURIComponent(id)}`)).status
    const waits = (id: string) => expect.poll(() => statusOf(id)).toBe('waiting')
    const idle = () => expect.poll(() => statusOf('c')).toBe('idle')
    await api.askJson('/api/conversations', post({ id: 'c' }))
    await api.ask('/api/conversations/c/messages', post({ content: 'Pay' }))
    await waits('c/c1')
    const answer = post({ approved: true })
    const answered = await api.ask('/api/conversations/c%2Fc1/calls/p1/approval', answer)
    expect(answered.status).toBe(202)
    await idle()
    await api.ask('/api/conversations/c/messages', post({ content: 'Again' }))
    await waits('c/c2')
    expect(await api.askJson('/api/conversations/c%2Fc2/cancel', post({}))).toEqual({
      cancelled: true,
    })
    await idle()
  })

  it('read and delete the conversations of agents that the server does not have', async () => {
    const { ask, askJson, log } = open()
    const old = createAgent({ name: 'old', log, model: scriptedModel(['first']) })
    const run = old.run({ conversation: 'c', messages: [{ role: 'user', content: 'a' }] })
    const { messages } = await run.result.then(() => run)
    const answer = messages.at(-1)?.id
    const at = '/api/conversations/c'
    for (const path of [
      ...['', '/messages', '/data', '/labels', '/export', `/lineage?ref=message:${answer}`],
      ...[`/messages/${answer}/debug`, `/prompts/${answer}`],
    ]) {
      expect([path, (await ask(at + path)).status]).toEqual([path, 200])
    }
    const more = await ask(`${at}/messages`, post({ content: 'b' }))
    expect(await refusal(more)).toEqual({ status: 404, code: 'agent_not_found' })
    const shown = await askJson<{ prompt: unknown[] }>(`${at}/prompts/${answer}`)
    expect(JSON.stringify(shown.prompt)).toContain('"a"')
    expect((await ask(at, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(at)).status).toBe(404)
  })

  it('are required', () => {
    const error = expect.objectContaining({ code: 'config_invalid' })
    expect(() => createServer(undefined as never)).toThrow(error)
  })

  it('have their own names as keys', () => {
    const agent = (name?: string) => createAgent({ name, model: scriptedModel([]) })
    const made = (options: object) => () => createServer({ ...options, app: null })
    expect(made({})).toThrow(
      'createServer needs an agent: { agent } or { agents: { name: agent } }',
    )
    expect(made({ agents: {} })).toThrow('createServer needs an agent')
    expect(made({ agent: agent(), agents: { a: agent('a') } })).toThrow(
      'createServer takes "agent" or "agents", not both',
    )
    expect(made({ agents: { a: agent('b') } })).toThrow('createServer.agents.a is named "b"')
    expect(made({ agents: { a: agent() } })).toThrow('createServer.agents.a has no name')
    expect(made({ agents: [agent('a')] })).toThrow(
      'createServer.agents must be an object of agents by name, such as { writer, gauge }, not an array',
    )
    expect(() => agent('a b')).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  it('continue runs of others if the server has only one agent', async () => {
    const log = createMemoryLog()
    const left = createAgent({ name: 'old', log, model: scriptedModel(['first']) })
    await left.run({ conversation: 'c', messages: [{ role: 'user', content: 'a' }] }).result
    const api = openApi(['second'], { agent: { log } })
    await api.askJson('/api/conversations/c/messages', post({ content: 'b' }))
    await expect.poll(async () => (await api.askJson('/api/conversations/c')).status).toBe('idle')
    expect(await api.askJson('/api/conversations/c')).toMatchObject({ messages: 4, agent: null })
  })
})
