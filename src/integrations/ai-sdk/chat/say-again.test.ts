import { describe, expect, it } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import { prompts } from '../../../agent/fixtures/agent.ts'
import { PNG } from '../../../assets/fixtures/stores.ts'
import { defineTool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { type ScriptedTurn, scriptedModel } from '../../../testing/scripted-model.ts'
import { open, textIn } from '../fixtures/chats.ts'
import { calls } from '../fixtures/models.ts'
import { createChatHandler } from './chat-handler.ts'
import { uiMessages } from './ui-messages.ts'

const assetUrl = (ref: string): string => ref.replace('asset://', '/files/')

function setup(turns: readonly ScriptedTurn[]) {
  let made = 0
  const count = defineTool({
    id: 'count',
    description: 'Counts',
    inputSchema: { type: 'object' },
    outputPath: '†state.count',
    execute: () => ++made,
  })
  const model = scriptedModel(turns)
  const agent = createAgent({ model, tools: [count] })
  const handler = createChatHandler({ agent, assetUrl })
  return { model, agent, handler, chat: open(handler) }
}

const rolesOf = (messages: readonly { role: string }[]) => messages.map(({ role }) => role).join()

describe('a regenerated answer', () => {
  it('replaces the previous answer and everything that it did, under the same names', async () => {
    const { chat, agent, model, handler } = setup([
      ...[
        'Hello.',
        calls(['count', {}]),
        'It is one.',
        calls(['count', {}]),
        'It is two.',
        'Three!',
      ],
    ])
    await chat.sendMessage({ text: 'Hi' })
    await chat.sendMessage({ text: 'Count' })
    const asked = chat.messages.at(-2)?.id
    await chat.regenerate()
    expect(textIn(chat)).toBe('It is two.')
    expect(prompts(model)[3]).toContain('Hello.')
    expect(prompts(model)[3]).not.toContain('It is one.')
    expect(prompts(model)[3]?.split('"Count"')).toHaveLength(2)
    // Regenerates without a reload: the browser still uses its first id for the question.
    await chat.regenerate()
    expect(textIn(chat)).toBe('Three!')
    expect(prompts(model)[5]).not.toContain('It is two.')
    const saved = await uiMessages(agent, 'c', { assetUrl })
    expect(rolesOf(saved)).toBe('user,assistant,user,assistant')
    expect(saved.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id))
    expect(saved[2]?.id).toBe(asked)
    // And after a reload.
    const again = open(handler, saved)
    expect(textIn(again)).toBe('Three!')
  })

  it('to an earlier question removes what followed it', async () => {
    const { chat, model } = setup(['One.', 'Two.', 'Three.', 'Anew.'])
    for (const text of ['first', 'second', 'third']) await chat.sendMessage({ text })
    await chat.regenerate({ messageId: chat.messages[1]?.id ?? '' })
    expect(rolesOf(chat.messages)).toBe('user,assistant')
    expect(textIn(chat)).toBe('Anew.')
    expect(prompts(model)[3]).not.toMatch(/second|Two|third|Three|One/)
  })

  it('retries an answer that failed, or that never arrived', async () => {
    const { chat, handler, agent } = setup([new Error('The model is ill'), 'Better.', 'Fine.'])
    await chat.sendMessage({ text: 'Go' })
    expect(chat.error?.message).toContain('The model is ill')
    await chat.regenerate()
    expect(textIn(chat)).toBe('Better.')
    let tries = 0
    const lost = open((request) =>
      tries++ === 0 ? Promise.reject(new TypeError('offline')) : handler(request),
    )
    await lost.sendMessage({ text: 'Are you there?' })
    expect(lost.error?.message).toBe('offline')
    await lost.regenerate()
    expect(textIn(lost)).toBe('Fine.')
    expect(rolesOf(await uiMessages(agent, 'c'))).toBe('user,assistant,user,assistant')
  })

  it('receives the same files', async () => {
    const { chat, agent, model } = setup(['A cat.', 'A dog.'])
    const url = `data:image/png;base64,${Buffer.from(PNG).toString('base64')}`
    const file = { type: 'file' as const, mediaType: 'image/png', url, filename: 'pet.png' }
    await chat.sendMessage({ text: 'What is it?', files: [file] })
    await chat.regenerate()
    expect(textIn(chat)).toBe('A dog.')
    const names = /asset:\/\/[\w-]+/g
    expect(prompts(model)[1]?.match(names)?.[0]).toBe(prompts(model)[0]?.match(names)?.[0])
    expect((await agent.assets.list()).assets).toHaveLength(1)
  })

  it('is rejected during a run, and nothing is lost', async () => {
    const { chat, handler, agent } = setup(['Hello.', 'Late.'])
    await chat.sendMessage({ text: 'Hi' })
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = createAgent({
      model: scriptedModel([calls(['wait', {}]), 'Done.']),
      log: agent.log,
      tools: [
        defineTool({
          id: 'wait',
          description: 'Waits',
          inputSchema: { type: 'object' },
          execute: () => promise,
        }),
      ],
    })
    const run = slow.run({ conversation: 'c', messages: [{ role: 'user', content: 'Wait' }] })
    for await (const { type } of run) if (type === 'TOOL_STARTED') break
    const other = open(handler, await uiMessages(agent, 'c'))
    await other.regenerate({ messageId: other.messages[1]?.id ?? '' })
    expect(other.error?.message).toMatch(/run in progress/)
    // The message that waits for the end of this run, too.
    other.clearError()
    const sent = other.sendMessage({ text: 'Queued' })
    await expect
      .poll(async () => (await agent.log.read('c')).map(({ event }) => JSON.stringify(event)))
      .toContainEqual(expect.stringContaining('Queued'))
    await other.stop()
    await sent
    await other.regenerate()
    expect(other.error?.message).toMatch(/run in progress/)
    resolve()
    await run.result
    await expect
      .poll(async () => rolesOf(await uiMessages(agent, 'c')))
      .toBe('user,assistant,user,assistant,user,assistant')
  })
})

describe('an edited message', () => {
  it('replaces the previous one, with its files, and removes what followed it', async () => {
    const { chat, agent, model } = setup(['A cat.', 'You are welcome.', 'A white cat.'])
    const url = `data:image/png;base64,${Buffer.from(PNG).toString('base64')}`
    await chat.sendMessage({
      text: 'What is it?',
      files: [{ type: 'file', mediaType: 'image/png', url, filename: 'pet.png' }],
    })
    await chat.sendMessage({ text: 'Thanks' })
    const saved = await uiMessages(agent, 'c', { assetUrl })
    const again = open((request) => createChatHandler({ agent, assetUrl })(request), saved)
    const [question] = saved
    const files = question?.parts.filter((part) => part.type === 'file') ?? []
    await again.sendMessage({ text: 'Which colour?', files, messageId: question?.id ?? '' })
    expect(textIn(again)).toBe('A white cat.')
    expect(prompts(model)[2]).toContain('Which colour?')
    expect(prompts(model)[2]).not.toMatch(/What is it|Thanks|welcome/)
    expect((await agent.assets.list()).assets).toHaveLength(1)
    const now = await uiMessages(agent, 'c', { assetUrl })
    expect(now.map(({ id }) => id)).toEqual(again.messages.map(({ id }) => id))
    expect(now[0]?.parts).toMatchObject([
      { type: 'file', url: files[0]?.url },
      { type: 'text', text: 'Which colour?' },
    ])
  })

  it('is unchanged if the new one cannot be stored', async () => {
    const { chat, agent, handler } = setup(['Hello.'])
    await chat.sendMessage({ text: 'Hi' })
    const before = await uiMessages(agent, 'c')
    const again = open(handler, before)
    const { append } = agent.log
    agent.log.append = (id, events, options) => {
      if (!events.some(({ type }) => type === 'NEW_MESSAGE')) return append(id, events, options)
      return Promise.reject(new ByrefError('storage_full', 'The disk is full'))
    }
    await again.sendMessage({ text: 'Hey', messageId: before[0]?.id ?? '' })
    expect(again.error?.message).toMatch(/disk is full/)
    expect(await uiMessages(agent, 'c')).toEqual(before)
  })
})
