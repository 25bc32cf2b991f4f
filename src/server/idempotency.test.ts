import { describe, expect, it } from 'vitest'
import { ByrefError } from '../core/errors.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { openApi, refusal } from './fixtures/api.ts'

const keyed = (key: string, json: unknown) => ({
  method: 'POST',
  json,
  headers: { 'idempotency-key': key },
})

describe('a request with an Idempotency-Key', () => {
  const api = openApi(['one', 'two', 'three', 'four', 'five'])
  const idle = (id: string) =>
    expect.poll(async () => (await api.askJson(`/api/conversations/${id}`)).status).toBe('idle')
  const make = async () => {
    const { id } = await api.askJson<{ id: string }>('/api/conversations', {
      method: 'POST',
      json: {},
    })
    return id
  }
  /** Returns both responses to a request that is repeated during the first attempt, and that of a third attempt. */
  async function tried(path: string, json: unknown) {
    const both = await Promise.all([1, 2].map(() => api.ask(path, keyed('k', json))))
    const all = [...both, await api.ask(path, keyed('k', json))]
    const bodies = await Promise.all(all.map((answer) => answer.json()))
    expect(bodies[1]).toEqual(bodies[0])
    expect(bodies[2]).toEqual(bodies[0])
    expect(all.map(({ ok }) => ok)).toEqual([true, true, true])
    expect(all[2]?.status).toBe(200)
    return bodies[0] as Record<string, unknown>
  }
  const count = async () => {
    const { conversations } = await api.askJson<{ conversations: unknown[] }>('/api/conversations')
    return conversations.length
  }

  it('creates its result once, even while its first attempt is in progress', async () => {
    const { id } = (await tried('/api/conversations', { title: 'x' })) as { id: string }
    const at = `/api/conversations/${id}`
    const messages = [{ content: 'a' }, { content: 'b' }]
    const said = await tried(`${at}/messages`, { messages })
    expect(said.messageIds).toHaveLength(2)
    await idle(id)
    expect(await api.askJson(at)).toMatchObject({ messages: 3 })
    await tried(`${at}/data`, { kind: 'state', data: { total: 1 } })
    expect(await api.askJson(at)).toMatchObject({ messages: 4 })

    const before = await count()
    const fork = (await tried(`${at}/fork`, {})) as { id: string }
    expect(await api.askJson(`/api/conversations/${fork.id}`)).toMatchObject({ messages: 4 })
    const again = await tried(`${at}/messages/${said.messageId}/retry`, {})
    await idle(again.conversation as string)
    expect(await api.askJson(`/api/conversations/${again.conversation}`)).toMatchObject({
      messages: 2,
    })
    expect(await count()).toBe(before + 2)
  })

  it('is rejected with another body', async () => {
    const id = await make()
    const path = `/api/conversations/${id}/messages`
    expect((await api.ask(path, keyed('other', { content: 'a' }))).status).toBe(202)
    expect(await refusal(await api.ask(path, keyed('other', { content: 'b' })))).toEqual({
      status: 400,
      code: 'bad_request',
    })
    await idle(id)
  })

  it('does not use the id of another message', async () => {
    const id = await make()
    const path = `/api/conversations/${id}/messages`
    await api.ask(path, { method: 'POST', json: { id: 'mine', content: 'a' } })
    await idle(id)
    const taken = await api.ask(path, keyed('fresh', { id: 'mine', content: 'b' }))
    expect(await refusal(taken)).toEqual({ status: 409, code: 'message_exists' })
  })

  it('gets its title if the first attempt failed before it had one', async () => {
    const log = createMemoryLog()
    const { rename } = log
    let isDown = true
    log.rename = async (...given) => {
      if (isDown) throw new ByrefError('log_failed', 'The disk is gone')
      return rename(...given)
    }
    const { ask, askJson } = openApi([], { agent: { log }, log: { info() {}, error() {} } })
    const make = keyed('k', { title: 'Named' })
    expect((await ask('/api/conversations', make)).ok).toBe(false)
    isDown = false
    const { id } = await askJson<{ id: string }>('/api/conversations', make)
    expect(await askJson(`/api/conversations/${id}`)).toMatchObject({ title: 'Named' })
  })
})
