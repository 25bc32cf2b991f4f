import type { ToolExecutionOptions } from 'ai'
import type { Tool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  type GivenLabels,
  violationsOf,
  violationText,
} from '../../../policies/trust/check-flow.ts'
import type { ToolInput } from '../tools/tool-input.ts'
import { messageLabels } from './message-labels.ts'
import { flowTool, type ToolTrust, type TrustSettings } from './tool-trust.ts'

/** Looks at the calls of one tool before they begin. */
export interface GuardedCalls {
  /** Whether a person is to be asked about a call. */
  asks(input: unknown, options: Call): Promise<boolean>
  /**
   * Lets a call go.
   *
   * @throws ByrefError `flow_refused` for what its tool does not take and nobody has said yes to
   */
  check(input: unknown, options: Call): Promise<void>
}

type Call = Pick<ToolExecutionOptions<unknown>, 'messages' | 'toolCallId'>

/** Who knows what tools are. */
export interface GuardOptions {
  trust: TrustSettings
  trustOf(tool: string): ToolTrust
}

/** The calls of a tool, looked at by what it takes. */
export function guardedCalls(
  name: string,
  { described: schema, filled }: Pick<ToolInput, 'described' | 'filled'>,
  { trust, trustOf }: GuardOptions,
): GuardedCalls {
  let tool: Promise<Tool> | undefined
  const known = (): Promise<Tool> => {
    tool ??= schema().then((one) => flowTool(name, one, trustOf(name)))
    return tool
  }

  async function why(input: unknown, call: Call): Promise<string | null> {
    const { messages, toolCallId } = call
    const labels = messageLabels(messages, trust, trustOf)
    if (labels.isApproved(toolCallId)) return null
    const given = labels.given({ toolCallId, input })
    return refusal(await known(), await filled(input, call), given)
  }

  return {
    async asks(input, options) {
      return trust.onViolation === 'ask' && (await why(input, options)) !== null
    },
    async check(input, options) {
      const words = await why(input, options)
      if (words !== null) throw new ByrefError('flow_refused', words)
    },
  }
}

/** Why a call is held up, without a value; null for one that is not. */
export function refusal(tool: Tool, input: unknown, given: GivenLabels): string | null {
  const violations = violationsOf(tool, isPlainObject(input) ? input : {}, given)
  if (violations.length === 0) return null
  // They are looked up in what the model wrote, so that it knows each of them.
  const written = new Set(violations.flatMap(({ ref }) => ref ?? []))
  const words = [...new Set(violations.map((one) => violationText(one, written)))].join('; ')
  return `The call of "${tool.id}" was not made: ${words}`
}
