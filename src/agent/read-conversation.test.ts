import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { camera } from './fixtures/agent.ts'

describe('agent.conversation', () => {
  it('returns the messages, the assets and the data', async () => {
    const call = { name: 'camera', arguments: { _outputPath: '†state.shot' } }
    const agent = createAgent({
      model: scriptedModel([{ calls: [call] }, 'Done.']),
      tools: [camera],
    })
    const data = new TextEncoder().encode('a,b\n1,2\n')
    const file = { type: 'file', data, mediaType: 'text/csv', filename: 'rows.csv' } as const
    const said = ['Look', { role: 'user' as const, content: [file] }]
    await agent.run({ conversation: 'c', messages: said }).result
    const { messages = [], assets = [], board } = (await agent.conversation('c')) ?? {}
    expect(messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(['Look', 'Done.']),
    )
    const rows = assets.find(({ name }) => name === 'rows.csv')
    expect((await agent.assets.get(String(rows?.ref))).mime).toBe('text/csv')
    expect(board?.read('†state.shot.note')).toBe('smile')
  })

  it('leaves out deleted messages', async () => {
    const agent = createAgent({ model: scriptedModel([]) })
    const { messageIds } = await agent.add('c', ['one', 'two'])
    await agent.deleteMessage('c', String(messageIds[0]))
    const found = await agent.conversation('c')
    expect(found?.messages.map(({ content }) => content)).toEqual(['two'])
  })

  it('is null for a conversation that does not exist', async () => {
    const agent = createAgent({ model: scriptedModel([]), namespace: 'a' })
    await agent.add('c', 'one')
    expect(await agent.conversation('d')).toBeNull()
    expect(await agent.conversation('c', { namespace: 'b' })).toBeNull()
  })
})
