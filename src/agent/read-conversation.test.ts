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

  it('reads the references in an answer', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) => ({ i, text: 'long enough' }))
    const tool = {
      id: 'list',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => rows,
    }
    const agent = createAgent({
      model: scriptedModel([
        {
          calls: [
            { name: 'camera', arguments: {} },
            { name: 'list', arguments: {} },
          ],
        },
        '{"note":"†result#1.note","row":"†result#2[4999].i"}',
      ]),
      tools: [camera, tool],
    })
    const { output } = await agent.run({ conversation: 'c', messages: 'Look', output: {} }).result
    const found = await agent.conversation('c')
    expect(await found?.read(Object(output).note)).toBe('smile')
    expect(await found?.read(Object(output).row)).toBe(4999)
    await expect(found?.read('†result#3')).rejects.toThrow('†result#3')
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
