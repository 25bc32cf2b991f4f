import { AIMessage } from '@langchain/core/messages'
import { expect, it } from 'vitest'
import { askAboutCalls, decisionsIn, keyOf, noteChecked } from './held-calls.ts'

it('rejects held calls if nobody can be asked, and says so', async () => {
  const call = { id: 'a', name: 'send', args: { to: 'bob' } }
  const answer = new AIMessage({ content: '', tool_calls: [call] })
  noteChecked(answer, { [keyOf(call)]: 'It is untrusted' })
  const made = await askAboutCalls({ messages: [answer] }, {}, async () => null)
  expect(decisionsIn(made)).toEqual({
    approved: [],
    rejected: { [keyOf(call)]: 'Nobody can be asked to approve this call' },
  })
})
