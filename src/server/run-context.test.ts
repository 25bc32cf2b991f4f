import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { openApi, SECRET, token } from './fixtures/api.ts'

const PATH = '/api/conversations/c/messages'
const eve = { user: 'eve' }

/** A server whose agent looks at its context in each run, and what it has seen. */
function looking(options: Parameters<typeof openApi>[1] = {}) {
  const seen: unknown[] = []
  const look = defineTool({
    id: 'look',
    description: 'Looks',
    inputSchema: { type: 'object' },
    execute: (_, { context }) => void seen.push(context),
  })
  const callLook = { calls: [{ name: 'look', arguments: {} }] }
  const model = scriptedModel([callLook, 'Done.', callLook, 'Done again.'])
  const api = openApi([], { auth: { secret: SECRET }, agent: { model, tools: [look] }, ...options })
  return { seen, ...api }
}

describe('contextOf', () => {
  it('decides about the context of runs, also when a message is sent again', async () => {
    const { seen, ask, askJson, agent } = looking({
      contextOf: ({ subject }) => ({ user: subject }),
    })
    const as = { method: 'POST', token: await token('member') }
    await ask('/api/conversations', { ...as, json: { id: 'c' } })
    const json = { content: 'Look' }
    const { messageId } = await askJson<{ messageId: string }>(PATH, { ...as, json })
    await agent.resume('c', { namespace: 'team' }).result
    const again = await askJson<{ conversation: string }>(`${PATH}/${messageId}/retry`, {
      ...as,
      json: {},
    })
    await agent.resume(again.conversation, { namespace: 'team' }).result
    expect(seen).toEqual(new Array(2).fill({ user: 'member of team' }))
  })

  it('keeps a message out of the run of somebody with another context', async () => {
    const gate = Promise.withResolvers<void>()
    const wait = defineTool({
      id: 'wait',
      description: 'Waits',
      inputSchema: { type: 'object' },
      execute: () => gate.promise,
    })
    const model = scriptedModel([{ calls: [{ name: 'wait', arguments: {} }] }, 'One.', 'Two.'])
    const { ask, agent } = looking({
      agent: { model, tools: [wait] },
      contextOf: ({ subject }) => ({ user: subject }),
    })
    const send = async (role: 'member' | 'owner', content: string) => {
      const json = { content, ifBusy: 'steer' }
      return (await ask(PATH, { method: 'POST', token: await token(role), json })).status
    }
    const owner = await token('owner')
    await ask('/api/conversations', { method: 'POST', token: owner, json: { id: 'c' } })
    expect(await send('owner', 'Begin')).toBe(202)
    await expect.poll(() => model.requests.length).toBe(1)
    expect(await send('member', 'Wait')).toBe(202)
    expect(await send('owner', 'Steer')).toBe(202)
    gate.resolve()
    const { log } = agent.scoped('team')
    await expect.poll(() => model.requests.length).toBe(3)
    await expect.poll(async () => (await log.find('c'))?.status).toBe('idle')
    const events = (await log.read('c', { limit: 1000 })).map(({ event }) => event)
    const contexts = events.flatMap((event) => (event.type === 'RUN_STARTED' ? event.context : []))
    expect(contexts).toEqual([{ user: 'owner of team' }, { user: 'member of team' }])
    const prompts = model.requests.map(({ prompt }) => JSON.stringify(prompt))
    expect(prompts.map((prompt) => /Steer/.test(prompt))).toEqual([false, true, true])
    expect(prompts.map((prompt) => /Wait"/.test(prompt))).toEqual([false, false, true])
  })

  it('is by default what callers send who may speak as others', async () => {
    const { seen, ask, agent } = looking()
    const json = { content: 'Look', context: eve }
    const send = async (role: 'member' | 'owner') =>
      (await ask(PATH, { method: 'POST', token: await token(role), json })).status
    await ask('/api/conversations', {
      method: 'POST',
      token: await token('owner'),
      json: { id: 'c' },
    })
    expect(await send('member')).toBe(403)
    expect(await send('owner')).toBe(202)
    await agent.resume('c', { namespace: 'team' }).result
    expect(seen).toEqual([eve])
  })
})
