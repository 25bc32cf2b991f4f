import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import { foldAll } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

const look = defineTool({
  id: 'look',
  description: '',
  inputSchema: { type: 'object', properties: { of: {} } },
  execute: ({ of }) => ({ seen: of }),
})
const asks = defineTool({
  id: 'asks',
  description: '',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'done',
})
const calls = (name: string, args: Record<string, unknown>) => ({
  calls: [{ name, arguments: args }],
})

describe('a run whose messages replace others', () => {
  it('deletes them in the append that adds the new ones', async () => {
    const model = scriptedModel(['One.', 'Two.', 'Three.'])
    const agent = createAgent({ model })
    const first = agent.run({ conversation: 'c', messages: 'first' })
    await first.result
    await agent.run({ conversation: 'c', messages: 'second' }).result
    const before = (await agent.log.find('c'))?.position ?? 0
    const [replaces] = first.messageIds
    await agent.run({ conversation: 'c', messages: 'anew', replaces }).result
    const after = (await agent.log.read('c')).filter(({ position }) => position > before)
    expect(after.slice(0, 6).map(({ event }) => event.type)).toEqual([
      ...Array(4).fill('MESSAGE_DELETED'),
      ...['NEW_MESSAGE', 'RUN_STARTED'],
    ])
    expect(new Set(after.slice(0, 6).map(({ timestamp }) => timestamp)).size).toBe(1)
    expect(prompts(model)[2]).toContain('anew')
    expect(prompts(model)[2]).not.toMatch(/first|second|One|Two/)
  })

  it('deletes nothing if the new messages are invalid, or the old one is unknown', async () => {
    const agent = createAgent({ model: scriptedModel(['One.']) })
    const first = agent.run({ conversation: 'c', messages: 'first' })
    await first.result
    const before = await agent.log.read('c')
    const [replaces] = first.messageIds
    for (const options of [
      { messages: [{ role: 'user' } as never], replaces },
      { messages: 'anew', replaces: 'nobody' },
    ])
      await expect(agent.run({ conversation: 'c', ...options }).result).rejects.toThrow()
    expect(await agent.log.read('c')).toEqual(before)
  })

  it('rejects during another run, and for a message that another process has just added', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['One.', calls('asks', {}), 'Done.'])
    const agent = createAgent({ model, log, tools: [asks] })
    const other = createAgent({ model, log, tools: [asks] })
    await agent.run({ conversation: 'c', messages: 'first' }).result
    const { messageIds } = await other.start({ conversation: 'c', messages: 'second' })
    await expect.poll(async () => (await log.find('c'))?.status).toBe('waiting')
    const replacing = { conversation: 'c', messages: 'anew', replaces: messageIds[0] }
    await expect(agent.run(replacing).result).rejects.toMatchObject({ code: 'conversation_busy' })
    await agent.cancel('c')
    expect((await agent.run(replacing).result).text).toBe('Done.')
  })
})

describe('agent.deleteMessage', () => {
  it('removes a message from prompts, for every process that has the conversation open', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['Noted.', 'Which?', 'Which one?'])
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('The word is xyzzy.') })
    await run.result
    const other = createAgent({ model, log })
    await other.deleteMessage('c', run.messageIds[0] as string)
    await agent.run({ conversation: 'c', messages: say('What is it?') }).result
    await other.run({ conversation: 'c', messages: say('And now?') }).result
    expect(prompts(model)[0]).toContain('xyzzy')
    expect(model.requests[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(prompts(model).slice(1).join()).not.toContain('xyzzy')
    expect((await log.find('c'))?.title).toBe('Noted.')
    expect(JSON.stringify(await log.read('c'))).toContain('xyzzy')
  })

  it('rejects during a run, while a call waits for a person, and for unknown messages', async () => {
    const model = scriptedModel([calls('asks', {}), 'Done.'])
    const agent = createAgent({ model, tools: [asks] })
    const run = agent.run({ conversation: 'c', messages: say('Go') })
    const id = async (): Promise<string> => {
      const [record] = await agent.log.read('c')
      return record?.event.type === 'NEW_MESSAGE' ? record.event.payload.id : ''
    }
    await expect.poll(async () => (await agent.log.find('c'))?.status).toBe('waiting')
    await expect(agent.deleteMessage('c', await id())).rejects.toMatchObject({
      code: 'conversation_busy',
    })
    const call = Object.keys((await stateIn(agent)).calls)[0] as string
    await agent.approve('c', call, { approved: true })
    await run.result
    await agent.deleteMessage('c', await id())
    for (const gone of [await id(), 'nobody']) {
      await expect(agent.deleteMessage('c', gone)).rejects.toMatchObject({
        code: 'message_not_found',
      })
    }
    await expect(agent.deleteMessage('nowhere', 'x')).rejects.toMatchObject({
      code: 'message_not_found',
    })
    expect(await agent.log.deleted('c')).toEqual([await id()])
  })

  it('frees the id of a message that waited for a run, and no other id', async () => {
    const agent = createAgent({ model: scriptedModel([calls('asks', {})]), tools: [asks] })
    const message = { id: 'm1', content: 'first' }
    await agent.start({ conversation: 'c', messages: [message] })
    await expect.poll(async () => (await agent.log.find('c'))?.status).toBe('waiting')
    const queued = { id: 'm2', content: 'next' }
    await agent.send('c', [queued])
    const taken = { code: 'message_exists' }
    await expect(agent.send('c', [queued])).rejects.toMatchObject(taken)
    const both = [
      agent.send('c', [{ ...queued, id: 'm3' }]),
      agent.send('c', [{ ...queued, id: 'm3' }]),
    ]
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
    ])
    await agent.deleteMessage('c', 'm2')
    await agent.send('c', [queued])
    await agent.cancel('c', { discardQueued: true })
    await agent.deleteMessage('c', 'm1')
    await expect(agent.send('c', [message])).rejects.toMatchObject(taken)
  })

  it('removes data from the board, as if it had never been written', async () => {
    const model = scriptedModel([calls('look', { of: '†state.n' }), 'Done.'])
    const agent = createAgent({ model, tools: [look] })
    const { messageIds } = await agent.add('c', [
      { type: 'state', state: { n: 'old', list: [1] } },
      { type: 'state', state: { n: 'new' } },
      { type: 'state', state: 2, _path: 'list', _outputMethod: 'push' },
    ])
    await agent.deleteMessage('c', messageIds[1] as string)
    const { result } = agent.run({ conversation: 'c', messages: say('Look') })
    await result
    expect(prompts(model)[1]).toContain('{"seen":"old"}')
    expect(prompts(model)[0]).not.toContain('new')
    await agent.deleteMessage('c', messageIds[0] as string)
    // It was based on the list of the first one.
    const again = createAgent({
      model: scriptedModel([calls('look', { of: '†state.list' }), 'x']),
      log: agent.log,
      tools: [look],
    })
    const second = again.run({ conversation: 'c', messages: say('Again') })
    await second.result
    expect(errorsIn(second.messages)).toEqual([])
    expect(second.messages.some(({ content }) => JSON.stringify(content) === '{"seen":[2]}')).toBe(
      true,
    )
  })

  it('keeps the numbers of results, and reports that a deleted one does not exist', async () => {
    // So long that the model sees it with its name.
    const second = 'second '.repeat(40)
    const model = scriptedModel([
      calls('look', { of: 'first' }),
      calls('look', { of: second }),
      'Done.',
      {
        calls: [
          { name: 'look', arguments: { of: '†result#2.seen' } },
          { name: 'look', arguments: { of: '†result#1' } },
        ],
      },
      'Done.',
    ])
    const agent = createAgent({ model, tools: [look] })
    const run = agent.run({ conversation: 'c', messages: say('Look') })
    await run.result
    const first = run.messages.find(({ content }) => JSON.stringify(content) === '{"seen":"first"}')
    await agent.deleteMessage('c', first?.id as string)
    const next = agent.run({ conversation: 'c', messages: say('Again') })
    await next.result
    const last = next.messages.filter((message) => readMetadata(message).result).slice(-2)
    expect(last[0]?.content).toEqual({ seen: second })
    expect(errorsIn(next.messages)).toEqual([
      expect.stringContaining('There is no result †result#1'),
    ])
    expect(prompts(model)[3]).toContain('interrupted: The call has no result')
    expect(prompts(model)[3]).not.toContain('{"seen":"first"}')
    expect(prompts(model)[3]).toContain('†result#2\\n')
    expect(prompts(model)[3]).not.toContain('†result#1\\n')
  })

  it('keeps the data that a deleted answer wrote, and shows it', async () => {
    const model = scriptedModel([
      { text: 'Secretly', ...calls('look', { of: 'kept', _outputPath: '†state.found' }) },
      'Done.',
      'Again.',
    ])
    const agent = createAgent({ model, tools: [look] })
    const run = agent.run({ conversation: 'c', messages: say('Look') })
    await run.result
    const answer = run.messages.find((message) => readMetadata(message).calls.length > 0)
    await agent.deleteMessage('c', answer?.id as string)
    await agent.run({ conversation: 'c', messages: say('What was found?') }).result
    const prompt = prompts(model)[2] as string
    expect(prompt).not.toContain('Secretly')
    expect(prompt).not.toContain('tool-result')
    expect(prompt).toContain('## Data: ¶state')
  })

  it('removes the debug data of a step, and of no other', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two']) })
    const run = agent.run({ conversation: 'c', messages: say('a') })
    await run.result
    const next = agent.run({ conversation: 'c', messages: say('b') })
    await next.result
    const [one, two] = [next.messages[1], next.messages[3]].map((message) => message?.id as string)
    expect(await agent.debug('c', one as string)).not.toBeNull()
    await agent.deleteMessage('c', one as string)
    expect(await agent.debug('c', one as string)).toBeNull()
    // The log still has what the model saw then.
    expect(JSON.stringify(await agent.debug('c', two as string))).toContain('one')
  })

  it('applies in a fork, even in one made before the deletion', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['one', 'two', 'three', 'four'])
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('xyzzy') })
    await run.result
    await agent.run({ conversation: 'c', messages: say('b') }).result
    await agent.deleteMessage('c', run.messageIds[0] as string)
    for (const at of [run.messages[1]?.id, undefined]) {
      const fork = await agent.fork('c', { at })
      expect(await log.deleted(fork)).toEqual(run.messageIds)
      await agent.run({ conversation: fork, messages: say('c') }).result
    }
    expect(prompts(model).slice(2).join()).not.toContain('xyzzy')
  })
})

async function stateIn({ log }: ReturnType<typeof createAgent>) {
  return foldAll(emptyConversation, await log.read('c'))
}

function errorsIn(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => readMetadata(message).result?.error?.message ?? [])
}
