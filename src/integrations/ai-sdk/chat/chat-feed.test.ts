import { describe, expect, it } from 'vitest'
import { createAgent } from '../../../agent/agent.ts'
import { createMemoryLog } from '../../../log/memory-log.ts'
import { scriptedModel } from '../../../testing/scripted-model.ts'
import { ChatFeeds } from './chat-feed.ts'

describe('ChatFeeds', () => {
  it('stops listening to a conversation that it cannot read a second time', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel(['Hi.']), log })
    await agent.run({ conversation: 'c', messages: 'Hello' }).result
    let listeners = 0
    const { subscribe, read } = log
    log.subscribe = (...given) => {
      const leave = subscribe(...given)
      listeners++
      return () => {
        listeners--
        leave()
      }
    }
    const begun: unknown[] = []
    log.read = async (id, options) => {
      if (!options?.after) begun.push(id)
      if (begun.length === 2) throw new Error('the disk is gone')
      return read(id, options)
    }
    const opened = new ChatFeeds({}).open(agent, 'c', () => false)
    await expect(opened).rejects.toThrow('the disk is gone')
    expect(listeners).toBe(0)
  })
})
