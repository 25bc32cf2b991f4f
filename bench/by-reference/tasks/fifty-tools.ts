import { z } from 'zod'
import type { BenchTool, Task } from '../play.ts'

const AREAS = [
  'customer',
  'order',
  'invoice',
  'shipment',
  'product',
  'supplier',
  'contract',
  'ticket',
  'payment',
  'refund',
]
const VERBS: [string, string][] = [
  ['get', 'Gets one by its id, with everything that is known of it'],
  ['find', 'Finds those that belong to the given id, newest first'],
  ['update', 'Changes a field of one, and says what it was before'],
  ['archive', 'Puts one away; it can be brought back within 30 days'],
  ['explain', 'Explains in words how one came to be as it is'],
]
const tools: BenchTool[] = AREAS.flatMap((area) =>
  VERBS.map(
    ([verb, about]): BenchTool => ({
      id: `${verb}_${area}`,
      description: `${about} (${area})`,
      input: z.object({
        id: z.string().describe(`Id of the ${area}, such as "${area}_123"`),
        field: z.string().optional().describe('Name of the field, where one is meant'),
        limit: z.number().int().optional().describe('How many at most; default 20'),
      }),
      execute: ({ id }: { id: string }) => ({
        id: `${area}_${id.length}`,
        state: 'open',
        changed: '2026-01-01',
      }),
    }),
  ),
)
const instructions =
  'You are the assistant of a shop’s back office. Follow what belongs together from one thing to the next.'
const says = [
  {
    role: 'user',
    content:
      'Follow customer_17 through order, invoice, payment, refund, ticket, contract, supplier, product and shipment.',
  },
]
const CHAIN = [
  'customer',
  'order',
  'invoice',
  'payment',
  'refund',
  'ticket',
  'contract',
  'supplier',
  'product',
  'shipment',
]
const ANSWER = 'The chain ends at a shipment that is open since 2026-01-01.'

/** Ten calls with fifty tools. Each uses what the previous one found. */
export const fiftyTools: Task = {
  name: 'fifty tools',
  about: 'ten calls that depend on each other, among fifty tools',
  byref: () => ({
    tools,
    instructions,
    says,
    answers: [
      {
        calls: CHAIN.map((area, i) => ({
          name: `get_${area}`,
          arguments: {
            id: i === 0 ? 'customer_17' : `†${CHAIN[i - 1]}.id`,
            _outputPath: `†${area}`,
          },
        })),
      },
      ANSWER,
    ],
  }),
  value: () => ({
    tools,
    instructions,
    says,
    answers: [
      ...CHAIN.map((area, i) => ({
        calls: [
          {
            name: `get_${area}`,
            arguments: { id: i === 0 ? 'customer_17' : `${CHAIN[i - 1]}_11` },
          },
        ],
      })),
      ANSWER,
    ],
  }),
}
