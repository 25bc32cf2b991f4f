import { describe, expect, it } from 'vitest'
import { openApi } from './fixtures/api.ts'

const CONVERSATION = '/api/conversations/c'

describe('unknown keys of a request', () => {
  it.each([
    ['GET', '/api/conversations?serach=x', undefined, 'serach'],
    ['GET', `${CONVERSATION}/messages?limt=1`, undefined, 'limt'],
    ['GET', '/api/assets?limt=1', undefined, 'limt'],
    ['POST', '/api/conversations', { titel: 'x' }, 'titel'],
    ['POST', `${CONVERSATION}/fork`, { att: 'm' }, 'att'],
    ['POST', `${CONVERSATION}/calls/x/approval`, { aproved: true }, 'aproved'],
    ['POST', `${CONVERSATION}/messages`, { messages: [{ content: 'x' }], ifBsy: 'steer' }, 'ifBsy'],
    ['POST', '/api/query', { sqll: 'SELECT 1' }, 'sqll'],
  ])('are rejected: %s %s %j', async (method, path, json, key) => {
    const { ask } = openApi()
    const answer = await ask(path, { method, json })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain(key)
  })

  it('are not the only ones that are rejected: a parameter may appear once', async () => {
    const { ask } = openApi()
    const answer = await ask('/api/assets?limit=1&limit=2')
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('limit: appears 2 times')
  })

  it('stay in a message, and in its metadata', async () => {
    const { ask, askJson } = openApi(['Hi'])
    await ask('/api/conversations', { method: 'POST', json: { id: 'c' } })
    const json = { content: 'x', topic: 'travel', metadata: { mood: 'good' } }
    expect((await ask(`${CONVERSATION}/messages`, { method: 'POST', json })).status).toBe(202)
    const { messages } = await askJson<{ messages: object[] }>(`${CONVERSATION}/messages`)
    expect(messages[0]).toMatchObject({ message: { topic: 'travel', metadata: { mood: 'good' } } })
  })
})
