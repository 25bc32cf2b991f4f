import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

const ODD: Record<string, unknown[]> = {
  attribution: [7, {}, []],
  href: [{}, 5, 'javascript:alert(1)'],
  debug: ['text', 5, []],
  footer_items: ['one', 5, [1, null]],
  tool_calls: ['x', 5, {}, [null], [{ id: 5 }], [{ id: 'a' }]],
  tool_result: [5, 'x', [], {}, { tool_call_id: 5 }, { tool_call_id: 'a', error: 'broke' }],
  attachments: [{}, 'x', [null], [{ assetRef: 5 }], [{ assetRef: 'asset://gone' }]],
  reasoning: ['deep', [5], [{ text: 5 }]],
  has_debug_data: ['yes', 5],
  incomplete: ['yes', {}],
}
const cases = Object.entries(ODD).flatMap(([key, values]) =>
  values.map((value) => [key, JSON.stringify(value), value] as const),
)

describe('a conversation with malformed metadata', () => {
  it.each(cases)('continues with %s: %s', async (key, _, value) => {
    const log = createMemoryLog()
    const messages = ['user', 'assistant', 'tool', 'system'].map((role): Message => {
      const message = toMessage({ role, content: `said by ${role}` })
      return { ...message, metadata: { [key]: value } }
    })
    const events = messages.map((payload): ConversationEvent => ({ type: 'NEW_MESSAGE', payload }))
    await log.append('c', events)
    const model = scriptedModel(['Fine.'])
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('Go on') })
    expect((await run.result).text).toBe('Fine.')
    expect(prompts(model)[0]).toContain('Go on')
    const forked = await agent.fork('c')
    expect((await log.find(forked))?.messages).toBe(6)
  })
})
