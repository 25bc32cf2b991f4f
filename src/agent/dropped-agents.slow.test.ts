import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationLog, SubscribeOptions } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const hello = [{ role: 'user', content: 'Hello' }] as const

/** A log that shows who is subscribed. */
function observedLog(): { log: ConversationLog; subscribers: Set<SubscribeOptions> } {
  const subscribers = new Set<SubscribeOptions>()
  const log = createMemoryLog()
  const subscribe: ConversationLog['subscribe'] = (listener, options = {}) => {
    const unsubscribe = log.subscribe(listener, options)
    subscribers.add(options)
    return () => {
      subscribers.delete(options)
      unsubscribe()
    }
  }
  return { log: { ...log, subscribe }, subscribers }
}

describe('an agent that is dropped without being closed', () => {
  it('is collected when nothing runs, and is no longer subscribed to the log', async () => {
    const { log, subscribers } = observedLog()
    const runOnce = async () => {
      const agent = createAgent({ model: scriptedModel(['Hi']), log })
      expect((await agent.run({ conversation: 'c', messages: hello }).result).text).toBe('Hi')
    }
    for (let times = 0; times < 5; times++) await runOnce()
    // The engine is loaded by the first agent, and the stacks of its shared errors may keep that one.
    await expect
      .poll(() => {
        collect()
        return subscribers.size
      })
      .toBeLessThan(2)
  })

  it('delivers the result of a run that another agent continues', async () => {
    const { log, subscribers } = observedLog()
    const pay = defineTool({
      id: 'pay',
      description: 'Pays',
      inputSchema: { type: 'object' },
      needsApproval: true,
      execute: () => 'paid',
    })
    const call = { id: 'call', name: 'pay', arguments: {} }
    const texts: string[] = []
    const start = async () => {
      const agent = createAgent({ model: scriptedModel([{ calls: [call] }]), tools: [pay], log })
      const run = agent.run({ conversation: 'c', messages: hello })
      void run.result.then(({ text }) => texts.push(text))
      for await (const event of run) if (event.type === 'APPROVAL_REQUESTED') break
      while (!agent.isIdle()) await new Promise((resolve) => setTimeout(resolve))
    }
    await start()
    for (let turn = 0; turn < 10; turn++) {
      collect()
      await new Promise((resolve) => setTimeout(resolve))
    }
    expect(subscribers.size).toBe(1)
    const other = createAgent({ model: scriptedModel(['Done']), tools: [pay], log })
    await other.approve('c', 'call', { approved: true })
    await expect.poll(() => texts).toEqual(['Done'])
    await other.close()
  })
})

describe('an agent with many namespaces', () => {
  it('keeps few conversations open, with one subscription', async () => {
    const { log, subscribers } = observedLog()
    const agent = createAgent({ model: scriptedModel(() => 'Hi'), log })
    const users = Array.from({ length: 300 }, (_, i) => `user-${i}`)
    for (const user of users)
      await agent.scoped(user).run({ conversation: 'c', messages: hello }).result
    const [subscriber] = subscribers
    expect(subscribers.size).toBe(1)
    const open = users.filter((user) => subscriber?.wants?.('c', user))
    expect(open).toEqual(users.slice(-256))
    const again = agent.scoped('user-0').run({ conversation: 'c', messages: hello })
    expect((await again.result).text).toBe('Hi')
    expect((await agent.scoped('user-0').conversation('c'))?.messages).toHaveLength(4)
    await agent.close()
    expect(subscribers.size).toBe(0)
  })
})
