import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

/** A tool that runs until it is released. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<string>()
  let begun = (): void => {}
  const started = new Promise<void>((done) => {
    begun = done
  })
  const tool = defineTool({
    id: 'gate',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => {
      begun()
      return promise
    },
  })
  return { tool, open: resolve, started }
}

const callGate = { calls: [{ name: 'gate', arguments: {} }] }

describe('messages during a run', () => {
  it('get a run of their own, in order, with their own context', async () => {
    const { tool, open, started } = gate()
    const contexts: unknown[] = []
    const who = defineTool({
      id: 'who',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_, { context }) => void contexts.push(context),
    })
    const callWho = { calls: [{ name: 'who', arguments: {} }] }
    const model = scriptedModel([callGate, 'one', callWho, 'two', callWho, 'three'])
    const agent = createAgent({ model, tools: [tool, who] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const second = agent.run({ conversation: 'c', messages: say('b'), context: { n: 2 } })
    const third = agent.run({ conversation: 'c', messages: say('c'), context: { n: 3 } })
    open('go')
    expect((await first.result).text).toBe('one')
    expect((await second.result).text).toBe('two')
    expect((await third.result).text).toBe('three')
    expect(contexts).toEqual([{ n: 2 }, { n: 3 }])
    expect(second.messageIds).toHaveLength(1)
    expect(prompts(model)[1]).not.toContain('"b"')
    expect(new Set([first.id, second.id, third.id]).size).toBe(3)
  })

  it('are rejected, and not stored, if another agent has the run', async () => {
    const { tool, open, started } = gate()
    const log = createMemoryLog()
    const model = scriptedModel([callGate, 'first done'])
    const triage = createAgent({ name: 'triage', log, model, tools: [tool] })
    const billing = createAgent({ name: 'billing', log, model: scriptedModel(['billed']) })
    const first = triage.run({ conversation: 'c', messages: say('a') })
    await started
    const ask = { conversation: 'c', messages: say('b') }
    for (const ifBusy of ['queue', 'steer', 'reject'] as const) {
      const code = 'conversation_busy'
      await expect(billing.start({ ...ask, ifBusy })).rejects.toMatchObject({ code })
    }
    await expect(billing.send('c', say('b'))).rejects.toThrow('belongs to the agent "triage"')
    open('go')
    expect((await first.result).text).toBe('first done')
    expect((await billing.run(ask).result).text).toBe('billed')
    const { messages } = (await triage.conversation('c')) ?? { messages: [] }
    expect(messages.filter(({ content }) => content === 'b')).toHaveLength(1)
  })

  it('join the run at its next step', async () => {
    const { tool, open, started } = gate()
    const model = scriptedModel([callGate, 'changed course'])
    const agent = createAgent({ model, tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const steering = agent.run({ conversation: 'c', messages: say('left!'), ifBusy: 'steer' })
    await agent.send('c', { role: 'user', content: 'and up!' }, { mode: 'steer' })
    open('go')
    expect((await steering.result).text).toBe('changed course')
    expect(steering.id).toBe(first.id)
    expect(prompts(model)[1]).toMatch(/left!.*and up!/)
    expect(first.messages.map(({ content }) => content)).toEqual([
      'a',
      '',
      'go',
      'left!',
      'and up!',
      'changed course',
    ])
  })

  it('add a step after an answer that would have been the last', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['first', 'second'])
    const agent = createAgent({
      model,
      log,
      callbacks: {
        async onEvent(event) {
          if (event.type === 'TEXT_MESSAGE_START' && model.requests.length === 1) {
            await agent.send('c', { role: 'user', content: 'more' }, { mode: 'steer' })
          }
        },
      },
    })
    expect((await agent.run({ conversation: 'c', messages: say('a') }).result).text).toBe('second')
    expect((await log.find('c'))?.queued).toBe(0)
  })

  it('are rejected if the caller asks for that', async () => {
    const { tool, open, started } = gate()
    const agent = createAgent({ model: scriptedModel([callGate, 'one']), tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const refused = agent.run({ conversation: 'c', messages: say('b'), ifBusy: 'reject' })
    await expect(refused.result).rejects.toMatchObject({ code: 'conversation_busy' })
    open('go')
    await first.result
  })

  it('are added by send, which starts a run if none is active', async () => {
    const agent = createAgent({ model: scriptedModel(['Hello']) })
    const { messageIds } = await agent.send('c', say('Hi'))
    const { text } = await agent.resume('c').result
    expect(text).toBe('Hello')
    expect(messageIds).toHaveLength(1)
    await expect(
      agent.send('c', { role: 'user', content: 'x' }, { mode: 'later' } as never),
    ).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('are answered after a run that was cancelled', async () => {
    const { tool, started } = gate()
    const agent = createAgent({ model: scriptedModel([callGate, 'two']), tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const second = agent.run({ conversation: 'c', messages: say('b') })
    await second.messages
    await expect.poll(() => second.messageIds.length).toBe(1)
    first.cancel()
    expect((await first.result).reason).toBe('cancelled')
    expect((await second.result).text).toBe('two')
  })

  it('are deleted if their run is cancelled before it starts', async () => {
    const { tool, started, open } = gate()
    const agent = createAgent({ model: scriptedModel([callGate, 'one', 'three']), tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const abort = new AbortController()
    const ask = { conversation: 'c', messages: say('b') }
    const second = await agent.start({ ...ask, signal: abort.signal })
    const third = await agent.start({ conversation: 'c', messages: say('c') })
    abort.abort()
    expect(await second.result).toMatchObject({ reason: 'cancelled', text: '' })
    open('go')
    expect((await first.result).text).toBe('one')
    expect((await third.result).text).toBe('three')
    const texts = (await agent.conversation('c'))?.messages.map(({ content }) => content)
    expect(texts).not.toContain('b')
  })

  it('are deleted by a cancellation that discards them', async () => {
    const { tool, started } = gate()
    const agent = createAgent({ model: scriptedModel([callGate, 'three']), tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const second = await agent.start({ conversation: 'c', messages: say('b') })
    expect(await agent.cancel('c', { discardQueued: true })).toBe(true)
    expect((await first.result).reason).toBe('cancelled')
    expect((await second.result).reason).toBe('cancelled')
    expect(await agent.cancel('c', { discardQueued: true })).toBe(false)
    const third = await agent.run({ conversation: 'c', messages: say('c') }).result
    expect(third.text).toBe('three')
  })

  it('can be deleted while they are queued', async () => {
    const { tool, started, open } = gate()
    const agent = createAgent({ model: scriptedModel([callGate, 'one']), tools: [tool] })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    await started
    const second = await agent.start({ conversation: 'c', messages: say('b') })
    await agent.deleteMessage('c', second.messageIds[0] ?? '')
    expect((await second.result).reason).toBe('cancelled')
    const running = agent.deleteMessage('c', first.messageIds[0] ?? '')
    await expect(running).rejects.toMatchObject({ code: 'conversation_busy' })
    open('go')
    expect((await first.result).text).toBe('one')
  })
})
