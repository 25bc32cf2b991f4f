import type { Random } from '../../../src/agent/fixtures/random.ts'
import type { Tool, ToolContext } from '../../../src/boundary/tool.ts'
import { bodyOf } from '../bodies.ts'
import type { Effects } from '../runs/effects.ts'
import { isIdempotent } from '../runs/tools.ts'
import type { Scheduler } from './scheduler.ts'

interface Input {
  label: string
  value?: unknown
}

const inputSchema = {
  type: 'object',
  properties: { label: { type: 'string' }, value: {} },
  required: ['label'],
  additionalProperties: false,
} as const

/**
 * Tools with delays, and with effects outside of the log: `add` and `put` return their value, `ship` needs approval,
 * `photo` returns bytes, `report` returns more than a prompt accepts, and `fail` throws half of the time.
 */
export function scheduledTools(effects: Effects, scheduler: Scheduler, random: Random): Tool[] {
  const tool = (
    id: string,
    resultOf: (input: Input) => unknown,
    more: Partial<Tool> = {},
  ): Tool => ({
    id,
    description: id,
    inputSchema,
    mappable: true,
    idempotent: isIdempotent(id),
    ...more,
    async execute(input: unknown, context: ToolContext) {
      const { label, value } = input as Input
      const { conversation, toolCallId: execution, attempt } = context
      await scheduler.hops()
      effects.add({ conversation, execution, attempt, tool: id, label, value })
      context.progress('under way', 0.5)
      await scheduler.hops()
      return resultOf({ label, value })
    },
  })
  return [
    tool('add', ({ value }) => value ?? null),
    tool('put', ({ value }) => value ?? null),
    tool('ship', (input) => ({ shipped: input }), { needsApproval: true }),
    tool('photo', ({ label }) => ({ label, picture: bodyOf(7, 500) })),
    tool('report', ({ label }) => ({ label, rows: Array.from({ length: 200 }, rowOf) }), {
      maxResultChars: 1000,
    }),
    tool('fail', ({ label }) => {
      if (random.chance(0.5)) throw new Error(`${label} failed`)
      return 'at last'
    }),
  ]
}

function rowOf(_: unknown, n: number): { n: number; name: string } {
  return { n, name: `row ${n}` }
}
