import { ByrefError } from '../../core/errors.ts'
import type { ConversationEvent, FlowViolation } from '../../core/events/events.ts'
import { isPlain, join, TRUSTED, violatedRules, writeLabel } from '../../core/labels/label.ts'
import { wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { CallItem, CallOutcome, DetailedVerdict, Policy, PolicyCall } from '../policy.ts'
import { clearanceOf, isGuarded, violationsOf, violationTexts } from './check-flow.ts'
import { closedBits, closedBitsOf, isAskAbout, isClosedValue } from './closed-values.ts'
import { inputLabel } from './note-reads.ts'
import { listLabels, resultLabels, WITHOUT_VALUES } from './result-labels.ts'
import { TrackedExecution } from './tracked-execution.ts'
import type { FlowDecision, TrustSettings } from './trust-options.ts'

/**
 * Tracks where values come from. Asks a person or denies the call if a tool does not accept the labels of its input.
 * Labels the outcomes of calls. The boundary reports the labels of the values that a call reads in `reads`.
 */
export function trustPolicy(trust: TrustSettings): Policy {
  return {
    checks: (tool) => trust.decide !== undefined || isGuarded(tool),
    before: (call, soFar) => checkCall(call, trust, soFar),
    async aroundCall(execution, perform) {
      const { call } = execution
      if (!call.labels) return perform()
      const tracked = new TrackedExecution(execution, call.labels)
      const outcome = await perform(tracked.changes)
      return declassify(call, tracked.labelled(outcome), trust)
    },
    after: labelOutcome,
  }
}

async function checkCall(
  call: PolicyCall,
  trust: TrustSettings,
  soFar: DetailedVerdict['decision'] | undefined,
): Promise<DetailedVerdict | undefined> {
  const { tool, items, labels, toolCallId, isMapped } = call
  if (!labels) return undefined
  const context = labels.contextOf(toolCallId)
  const found = items.map((item): ItemViolations => {
    return [item, violationsOf(tool, item.arguments, { context, reads: item.reads })]
  })
  const ofList = listViolations(call)
  const all = distinct([...ofList, ...found.flatMap(([, violations]) => violations)])
  // The bits are reserved while the app decides, so that no other call can spend them.
  const bits = ofList.length === 0 ? reserveClosed(call, labels, { found, trust }) : null
  const violations = bits === null ? all : []
  const args = isMapped ? items.map((item) => item.arguments) : items[0]?.arguments
  let decision: FlowDecision = 'deny'
  try {
    const answer = await askApp(trust, {
      toolCallId,
      tool: tool.id,
      conversation: call.conversation,
      arguments: args,
      label: inputLabel(call, labels),
      context,
      violations,
    })
    decision = answer ?? (violations.length > 0 ? trust.onViolation : 'allow')
    // Another policy asks a person anyway, who then decides about the closed values too.
    if (bits !== null && decision === 'allow' && soFar === 'ask') decision = 'ask'
  } finally {
    if (decision !== 'allow') labels.release(toolCallId)
  }
  if (decision === 'allow')
    return bits ? { decision, events: [closedEvent(call, bits)] } : { decision }
  // The person also sees the violations of closed values.
  if (decision === 'ask') return { decision, violations: all }
  return { decision, code: 'flow_denied', reason: reasonOf(call, violations) }
}

/** Returns the violations of a mapped call's list. The length of the list determines how often the tool runs. */
function listViolations({ tool, each, written }: PolicyCall): FlowViolation[] {
  if (!each) return []
  const { _each: list } = written
  const about = { path: '/_each', ...(typeof list === 'string' ? { ref: list } : {}) }
  const label = writeLabel(each.label)
  return violatedRules(clearanceOf(tool), each.label).map((rule) => ({ rule, ...about, label }))
}

type ItemViolations = [item: CallItem, violations: readonly FlowViolation[]]

/**
 * Reserves bits of the run's budget for a call whose violations are all closed values at closed parameters. The model
 * has not seen the values, and they reveal no more than a closed answer of `ask_about`. Returns the bits to log. Null if
 * the call has other violations, or the budget has too few bits left.
 */
function reserveClosed(
  { tool, toolCallId, runId }: PolicyCall,
  labels: Labels,
  { found, trust }: { found: readonly ItemViolations[]; trust: TrustSettings },
): number | null {
  if (trust.mode !== 'quarantine') return null
  let bits = 0
  for (const [item, violations] of found) {
    const revealed = closedBitsOf(tool, item.arguments, violations)
    if (revealed === null) return null
    bits += revealed
  }
  return bits === 0 ? null : labels.reserve({ toolCallId, runId, bits }, trust.budgetBits)
}

function closedEvent({ tool, toolCallId, runId }: PolicyCall, bits: number): ConversationEvent {
  const question = `The closed values of a call of ${tool.id}`
  return { type: 'DECLASSIFIED', toolCallId, runId, bits, question }
}

const DECISIONS: readonly unknown[] = ['allow', 'ask', 'deny', undefined]

/** Calls the app's `decide`. An invalid decision denies the call. */
async function askApp(
  { decide }: TrustSettings,
  call: Parameters<NonNullable<TrustSettings['decide']>>[0],
): Promise<FlowDecision | undefined> {
  const decision: unknown = (await decide?.(call)) ?? undefined
  if (DECISIONS.includes(decision)) return decision as FlowDecision | undefined
  throw new ByrefError(
    'flow_denied',
    'The call was denied: trust.decide must return "allow", "ask", "deny" or nothing',
  )
}

/** Returns why a call is denied, without any values. Undefined if there are no violations. */
function reasonOf(
  { written }: PolicyCall,
  violations: readonly FlowViolation[],
): string | undefined {
  const refs = new Set(referencesIn(written).map(({ text }) => text))
  return violationTexts(violations, refs).join('; ') || undefined
}

/** Removes duplicates, because the items of a mapped call have the same ones. */
function distinct(violations: readonly FlowViolation[]): FlowViolation[] {
  return [...new Map(violations.map((one) => [JSON.stringify(one), one])).values()]
}

/**
 * Labels the outcome of a call that no execution has labelled: a failure before the execution, a result that the app
 * gave, or the list of a mapped call.
 */
function labelOutcome(
  call: PolicyCall,
  outcome: CallOutcome,
  item?: number,
): CallOutcome | undefined {
  const { labels, tool, toolCallId } = call
  if (!labels || outcome.labels) return undefined
  const received = inputLabel(call, labels)
  if (outcome.error) {
    const about = outcome.source ? wholeOf(outcome.source) : TRUSTED
    const isBare = WITHOUT_VALUES.has(outcome.error.code)
    const label = isBare ? labels.contextOf(toolCallId) : join(received, about)
    // A tool cannot retain the input of a call that never started.
    const mayRetain = call.state.attempts > 0 && !tool.readOnly && !isPlain(received)
    const retained = mayRetain ? { retained: writeLabel(received) } : {}
    return { ...outcome, labels: { label }, ...retained }
  }
  if (call.isMapped && item === undefined) {
    const items = labels.items(toolCallId).values()
    return { ...outcome, labels: listLabels(items, received) }
  }
  const input = call.state.approval?.arguments
  const about = { tool, callId: toolCallId, input, result: outcome.value }
  const retained = tool.readOnly ? TRUSTED : labels.retainedBy(tool.id)
  return { ...outcome, labels: resultLabels(about, join(received, retained)) }
}

/**
 * Marks a closed answer of `ask_about` as trusted, so that the model sees it, and logs that. It counts towards the
 * budget of the run. Other outcomes stay unchanged.
 */
function declassify(call: PolicyCall, outcome: CallOutcome, trust: TrustSettings): CallOutcome {
  const { labels, toolCallId, runId } = call
  if (trust.mode !== 'quarantine' || !labels || !isAskAbout(call.tool)) return outcome
  if (outcome.error || !outcome.labels) return outcome
  if (labels.contextOf(toolCallId).integrity !== 'trusted') return outcome
  const label = wholeOf(outcome.labels)
  const { question, schema } = call.written
  const bits = closedBits(schema)
  if (label.integrity === 'trusted' || bits === null) return outcome
  if (!isClosedValue(schema, outcome.value)) return outcome
  const missing = labels.reserve({ toolCallId, runId, bits }, trust.budgetBits)
  if (missing === null) return outcome
  const about = { toolCallId, runId, bits: missing, question: String(question) }
  return {
    ...outcome,
    events: [...outcome.events, { type: 'DECLASSIFIED', ...about }],
    labels: { label: { ...label, integrity: 'trusted' } },
  }
}
