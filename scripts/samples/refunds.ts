import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { createAgent } from '../../src/agent/agent.ts'
import { defineTool } from '../../src/boundary/tool.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { Sample } from './sample.ts'

const findOrders = defineTool({
  id: 'find_orders',
  description: 'The orders of a customer',
  inputSchema: z.object({ customer: z.string() }),
  idempotent: true,
  async execute({ customer }) {
    await sleep(180)
    return {
      orders: [
        { id: 'A7', customer, paid: 30 },
        { id: 'B2', customer, paid: 120 },
      ],
    }
  },
})

const readPolicy = defineTool({
  id: 'read_policy',
  description: 'What the shop pays back',
  inputSchema: z.object({}),
  idempotent: true,
  async execute() {
    await sleep(90)
    return 'Broken goods are paid back in full within 30 days; above 100 a person decides.'
  },
})

const refund = defineTool({
  id: 'refund',
  description: 'Pays an order back',
  inputSchema: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: ({ amount }) => amount > 100,
  async execute({ order, amount }) {
    await sleep(140)
    return { order, paid_back: amount }
  },
})

const mail = defineTool({
  id: 'send_mail',
  description: 'Writes to a customer',
  inputSchema: z.object({ to: z.string(), text: z.string() }),
  async execute() {
    await sleep(60)
    throw new Error('The mail server did not answer')
  },
})

const model = () =>
  scriptedModel([
    {
      text: 'I look up the orders and what the shop pays back.',
      calls: [
        {
          id: 'orders',
          name: 'find_orders',
          arguments: { customer: 'Ann', _outputPath: '†state.orders' },
        },
        { id: 'policy', name: 'read_policy', arguments: {} },
      ],
      usage: { inputTokens: 1_204, outputTokens: 61 },
    },
    {
      text: 'Both arrived broken, so I pay them back; the larger one needs your word.',
      calls: [
        {
          id: 'small',
          name: 'refund',
          arguments: { order: 'A7', amount: '†state.orders.orders[0].paid' },
        },
        {
          id: 'large',
          name: 'refund',
          arguments: { order: 'B2', amount: '†state.orders.orders[1].paid' },
        },
      ],
      usage: { inputTokens: 1_486, outputTokens: 88 },
    },
    {
      calls: [{ id: 'mail', name: 'send_mail', arguments: { to: 'Ann', text: 'Paid back: 150.' } }],
      usage: { inputTokens: 1_702, outputTokens: 35 },
    },
    {
      text: '**Both orders are paid back**: 30 for A7 and 120 for B2. The mail to Ann could not be sent; try it again later.',
      usage: { inputTokens: 1_811, outputTokens: 42 },
    },
    {
      text: 'I pay the rest back too, if you agree.',
      calls: [{ id: 'more', name: 'refund', arguments: { order: 'C9', amount: 900 } }],
      usage: { inputTokens: 1_920, outputTokens: 40 },
    },
    { text: 'Then C9 stays as it is.', usage: { inputTokens: 2_010, outputTokens: 12 } },
  ])

/** Concurrent calls that are connected by names, approved and denied calls, and one that failed. */
export const refunds: Sample = {
  name: 'refunds',
  title: 'Refunds that a person approves',
  description: 'Parallel tools, an approval and a failure, all recoverable.',
  async make({ log, assets }, conversation) {
    const agent = createAgent({
      model: model(),
      tools: [findOrders, readPolicy, refund, mail],
      log,
      assets,
      callbacks: {
        async onEvent(event) {
          if (event.type !== 'APPROVAL_REQUESTED') return
          await sleep(400)
          const approved = event.toolCallId !== 'more'
          const reason = approved ? undefined : 'C9 was not broken'
          await agent.approve(conversation, event.toolCallId, { approved, reason })
        },
      },
    })
    for (const content of [
      'Ann’s two orders arrived broken. Please pay them back.',
      'And order C9?',
    ]) {
      const message = {
        sender: { participant_id: 'sam', participant_role: 'user', name: 'Sam' },
        content,
      }
      await agent.run({ conversation, messages: [message as never] }).result
    }
  },
}
