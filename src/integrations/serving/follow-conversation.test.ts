import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { followConversation } from './follow-conversation.ts'

describe('followConversation', () => {
  it('leaves data out that breaks its schema', async () => {
    const agent = createAgent({ model: scriptedModel(['Hello.']) })
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const first = { type: 'data' as const, kind: 'x', schema, data: { n: 1 } }
    await agent.run({ conversation: 'c', messages: [first, { role: 'user', content: 'Hi' }] })
      .result
    const wrong = toMessage({ type: 'data', kind: 'x', _path: 'n.deep', data: 2 })
    await agent.log.append('c', [{ type: 'NEW_MESSAGE', payload: wrong }])
    const { board, takeWritten, close } = await followConversation(agent, 'c')
    expect(board.read('†x')).toEqual({ n: 1 })
    expect(takeWritten()).toEqual(['x'])
    close()
  })

  it('stops listening to a conversation that cannot be read', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel([]), log })
    let listeners = 0
    const counting = <Listen extends (...given: never[]) => () => void>(listen: Listen) =>
      ((...given) => {
        const leave = listen(...given)
        listeners++
        return () => {
          listeners--
          leave()
        }
      }) as Listen
    log.subscribe = counting(log.subscribe)
    agent.onStream = counting(agent.onStream)
    const { close } = await followConversation(agent, 'c')
    expect(listeners).toBe(2)
    close()
    log.read = async () => {
      throw new Error('the disk is gone')
    }
    await expect(followConversation(agent, 'c')).rejects.toThrow('the disk is gone')
    expect(listeners).toBe(0)
  })
})
