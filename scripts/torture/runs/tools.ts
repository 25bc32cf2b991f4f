import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Tool, ToolContext } from '../../../src/boundary/tool.ts'
import { bodyOf } from '../bodies.ts'
import type { Effects } from './effects.ts'
import type { Life } from './life.ts'

interface Input {
  label: string
  value?: unknown
}

/** The input of every tool. */
export const inputSchema = {
  type: 'object',
  properties: { label: { type: 'string' }, value: {} },
  required: ['label'],
  additionalProperties: false,
} as const

/** The tools that may run twice. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['put', 'photo', 'report', 'helper'])

/** Whether a tool of {@link effectTools} may be run twice. */
export function isIdempotent(tool: string): boolean {
  return IDEMPOTENT.has(tool)
}

/**
 * Tools with effects outside of the log, and a point of life before and after each:
 *
 * - `add` once for a call, `put` as often as need be; both give back what they were given, and can be mapped
 * - `ship` once, and a person is asked before
 * - `photo` gives bytes, `report` more than fits a result
 *
 * @param takes The duration of an execution in milliseconds. Default: 0.
 */
export function effectTools(effects: Effects, life: Life, takes: () => number = () => 0): Tool[] {
  function tool(id: string, resultOf: (input: Input) => unknown, more: Partial<Tool> = {}): Tool {
    return {
      id,
      description: id,
      inputSchema,
      mappable: true,
      idempotent: IDEMPOTENT.has(id),
      // Labels are tracked, and nobody is asked because of them.
      openWorld: false,
      accepts: { integrity: 'untrusted', confidentiality: 'private' },
      ...more,
      async execute(input: unknown, context: ToolContext) {
        const { label, value } = input as Input
        const { conversation, toolCallId: execution, attempt } = context
        await life.pass()
        effects.add({ conversation, execution, attempt, tool: id, label, value })
        // Lets others continue meanwhile.
        await (takes() > 0 ? sleep(takes()) : turn())
        await life.pass()
        return resultOf({ label, value })
      },
    }
  }
  return [
    tool('add', ({ value }) => value ?? null),
    tool('put', ({ value }) => value ?? null),
    tool('ship', (input) => ({ shipped: input })),
    tool('photo', ({ label }) => ({ label, picture: bodyOf(7, 500) })),
    tool('report', ({ label }) => ({ label, rows: Array.from({ length: 200 }, rowOf) }), {
      maxResultChars: 1000,
    }),
  ].map((one) => (one.id === 'ship' ? { ...one, needsApproval: true } : one))
}

function rowOf(_: unknown, n: number): { n: number; name: string } {
  return { n, name: `row ${n}` }
}

/** A sub-agent as a tool of this kind. */
export function helperTool(sub: Tool, effects: Effects): Tool {
  return {
    ...sub,
    async execute(input: unknown, context: ToolContext) {
      const { label } = input as Input
      const { conversation, toolCallId: execution, attempt } = context
      effects.add({ conversation, execution, attempt, tool: 'helper', label, value: null })
      return sub.execute(input, context)
    },
  }
}
