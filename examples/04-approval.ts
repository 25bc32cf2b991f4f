// A person approves a call. The run waits without a process, even for days.
import { createAgent, createMemoryLog, defineTool } from 'byref'
import { scriptedModel } from 'byref/testing'
import { z } from 'zod'

const refund = defineTool({
  id: 'refund',
  description: 'Pays money back',
  inputSchema: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: ({ amount }) => amount > 10,
  execute: ({ order, amount }) => `paid ${amount} for ${order}`,
})

const log = createMemoryLog()
const first = createAgent({
  model: scriptedModel([
    { calls: [{ id: 'r1', name: 'refund', arguments: { order: 'A7', amount: '†state.total' } }] },
  ]),
  tools: [refund],
  log,
})
const run = first.run({
  conversation: 'refunds',
  messages: [
    { type: 'state', state: { total: 30 } },
    { role: 'user', content: 'Pay order A7 back' },
  ],
})
for await (const event of run) {
  if (event.type !== 'APPROVAL_REQUESTED') continue
  console.log('asked', JSON.stringify(event.arguments))
  break
}
// The process may end here. The log has everything that is needed to continue.
await first.close()

// Three days later, another process. The person has changed the amount:
const second = createAgent({ model: scriptedModel(['Paid back.']), tools: [refund], log })
await second.approve('refunds', 'r1', { approved: true, arguments: { order: 'A7', amount: 25 } })
const resumed = second.resume('refunds')
const { text } = await resumed.result
for (const { content, metadata } of resumed.messages) {
  if (metadata.tool_result) console.log('result', content)
}
console.log(text)
