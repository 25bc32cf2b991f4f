import { AIMessage } from '@langchain/core/messages'
import { expect, it } from 'vitest'
import { askAboutCalls, decisionsIn, holdCalls, keyOf } from './held-calls.ts'

it('rejects held calls if nobody can be asked, and says so', () => {
  const call = { id: 'a', name: 'send', args: { to: 'bob' } }
  const answer = new AIMessage({ content: '', tool_calls: [call] })
  holdCalls(answer, { [keyOf(call)]: 'It is untrusted' })
  expect(decisionsIn(Object(askAboutCalls({ messages: [answer] }, {})))).toEqual({
    approved: [],
    rejected: { [keyOf(call)]: 'Nobody can be asked to approve this call' },
  })
})
