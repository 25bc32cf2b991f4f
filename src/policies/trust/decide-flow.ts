import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool } from '../../boundary/tool.ts'
import { ByrefError } from '../../core/errors.ts'
import type { FlowViolation } from '../../core/events/events.ts'
import { isPlain, type WrittenLabel, writeLabel } from '../../core/labels/label.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { MappedArguments } from '../../engine/calls/map-call.ts'
import type { RunScope } from '../../engine/run-scope.ts'
import { type CallLabels, callLabels, eitherLabels } from './call-labels.ts'
import { violationsOf, violationText } from './check-flow.ts'
import type { CheckedCall, FlowDecision, TrustSettings } from './trust-options.ts'

/** What is to happen with a call, and why. */
export interface Verdict {
  decision: FlowDecision
  violations: readonly FlowViolation[]
  labels: CallLabels
}

/** What a call would run with, and its labels before that was read. */
interface ResolvedCall {
  before: CallLabels
  all: readonly MappedArguments[]
}

/** Looks at a call before it begins (spec Q6): by what its tool takes, then by the agent's policy. */
export async function decideFlow(
  { session, settings }: RunScope,
  plan: CallPlan,
  { before, all }: ResolvedCall,
): Promise<Verdict> {
  const { trust } = settings
  const { labels } = session
  const tool = plan.tool as Tool
  if (!trust || !labels) return { decision: 'allow', violations: [], labels: before }
  const resolved = all.map((one) => one.arguments)
  const given = eitherLabels(before, callLabels(labels, plan, resolved))
  const violations = distinct(
    resolved.flatMap((args) => (args ? violationsOf(tool, args, given) : [])),
  )
  const args = plan.each === undefined ? resolved[0] : resolved
  const said = await askPolicy(trust, {
    ...{ toolCallId: plan.id, tool: tool.id, conversation: session.id, arguments: args },
    ...{ label: given.all, context: given.context, violations },
  })
  const usual = violations.length > 0 ? trust.onViolation : 'allow'
  return { decision: said ?? usual, violations, labels: given }
}

const DECISIONS: readonly unknown[] = ['allow', 'ask', 'refuse', undefined]

/** What the agent's own policy says. One that says what it cannot say lets nothing through. */
async function askPolicy(
  { decide }: TrustSettings,
  call: CheckedCall,
): Promise<FlowDecision | undefined> {
  const said: unknown = (await decide?.(call)) ?? undefined
  if (DECISIONS.includes(said)) return said as FlowDecision | undefined
  throw new ByrefError(
    'flow_refused',
    'The call was not made: the policy of the agent (trust.decide) says allow, ask, refuse or nothing, and said something else',
  )
}

/** What a person is told with the question. */
export function shownVerdict({ violations, labels }: Verdict): {
  violations?: readonly FlowViolation[]
  label?: WrittenLabel
} {
  return {
    ...(violations.length > 0 ? { violations } : {}),
    ...(isPlain(labels.all) ? {} : { label: writeLabel(labels.all) }),
  }
}

/** Why a call that nobody was asked about does not run. */
export function flowRefused(
  { name, arguments: args }: CallPlan,
  violations: readonly FlowViolation[],
): ByrefError {
  const written = new Set(referencesIn(args).map(({ text }) => text))
  const texts = violations.map((one) => violationText(one, written))
  const why = [...new Set(texts)].join('; ') || 'the policy of the agent refuses it'
  return new ByrefError('flow_refused', `The call of "${name}" was not made: ${why}`)
}

/** Each once: the items of a mapped call have the same ones. */
function distinct(violations: readonly FlowViolation[]): FlowViolation[] {
  const byText = new Map(violations.map((one) => [JSON.stringify(one), one]))
  return [...byText.values()]
}
