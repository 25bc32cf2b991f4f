import type { Read } from '../../boundary/resolve.ts'
import type { Tool } from '../../boundary/tool.ts'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationEvent, FlowViolation } from '../../core/events/events.ts'
import {
  isPlain,
  join,
  joinAll,
  type Label,
  readLabel,
  refusedBy,
  TRUSTED,
  writeLabel,
} from '../../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { CallItem, CallOutcome, Execution, Policy, PolicyCall, Verdict } from '../policy.ts'
import { clearanceOf, isGuarded, violationsOf, violationTexts } from './check-flow.ts'
import { closedBits, closedBitsOf, isAskAbout, isClosedValue } from './closed-values.ts'
import { isEdit, labelEdit } from './edited-labels.ts'
import { noteReads } from './note-reads.ts'
import { labelledAssets, labelOfFailure, listLabels, resultLabels } from './result-labels.ts'
import type { FlowDecision, TrustSettings } from './trust-options.ts'

/**
 * Tracks where values come from. Asks or refuses if a tool does not accept what a call would give it, and labels
 * the outcomes of calls. Every label comes with a value that was read: the boundary reports it in `reads`.
 */
export function trustPolicy(trust: TrustSettings): Policy {
  return {
    looksAt: (tool) => trust.decide !== undefined || isGuarded(tool),
    before: (call) => checkCall(call, trust),
    aroundCall: (execution, perform) => follow(execution, perform, trust),
    after: (call, outcome, item) => withClosed(call, labelled(call, outcome, item) ?? outcome),
  }
}

async function checkCall(call: PolicyCall, trust: TrustSettings): Promise<Verdict | undefined> {
  const { tool, items, labels, toolCallId, isMapped } = call
  if (!labels) return undefined
  const context = labels.contextOf(toolCallId)
  const given = givenTo(call, labels)
  const found = items.map((item): ItemViolations => {
    return [item, violationsOf(tool, item.arguments, { context, reads: item.reads })]
  })
  const repeated = repeatedBy(call)
  const isClosed = repeated.length === 0 && takesClosed(call, found, trust)
  const all = [...repeated, ...found.flatMap(([, violations]) => violations)]
  const violations = isClosed ? [] : distinct(all)
  const args = isMapped ? items.map((item) => item.arguments) : items[0]?.arguments
  const answer = await askApp(trust, {
    toolCallId,
    tool: tool.id,
    conversation: call.conversation,
    arguments: args,
    label: given,
    context,
    violations,
  })
  const decision = answer ?? (violations.length > 0 ? trust.onViolation : 'allow')
  const label = isPlain(given) ? undefined : writeLabel(given)
  if (decision === 'allow') return { decision, label }
  return { decision, code: 'flow_refused', reason: reasonOf(call, violations), violations, label }
}

/** Returns the violations of a mapped call's list. The length of the list determines how often the tool runs. */
function repeatedBy({ tool, each, written }: PolicyCall): FlowViolation[] {
  if (!each) return []
  const { _each: list } = written
  const about = { path: '/_each', ...(typeof list === 'string' ? { ref: list } : {}) }
  const label = writeLabel(each.label)
  return refusedBy(clearanceOf(tool), each.label).map((rule) => ({ rule, ...about, label }))
}

type ItemViolations = [item: CallItem, violations: readonly FlowViolation[]]

/** The events that are logged with calls that accepted closed values. */
const closed = new WeakMap<PolicyCall, ConversationEvent>()

/**
 * Whether all violations of a call are closed values at closed parameters, and the run's budget has enough bits for
 * them. The model has not seen the values, and they reveal no more than a closed answer of `ask_about`.
 */
function takesClosed(
  call: PolicyCall,
  found: readonly ItemViolations[],
  { mode, budgetBits: budget }: TrustSettings,
): boolean {
  const { labels, tool, toolCallId, runId } = call
  if (mode !== 'quarantine' || !labels) return false
  let bits = 0
  for (const [item, violations] of found) {
    const revealed = closedBitsOf(tool, item.arguments, violations)
    if (revealed === null) return false
    bits += revealed
  }
  if (bits === 0 || !promise(labels, { runId, bits, budget })) return false
  const question = `The closed values of a call of ${tool.id}`
  closed.set(call, { type: 'DECLASSIFIED', toolCallId, runId, bits, question })
  return true
}

/** Adds the event of accepted closed values to a call's outcome, once. */
function withClosed(call: PolicyCall, outcome: CallOutcome): CallOutcome {
  const event = closed.get(call)
  if (!event) return outcome
  closed.delete(call)
  return { ...outcome, events: [...outcome.events, event] }
}

const DECISIONS: readonly unknown[] = ['allow', 'ask', 'refuse', undefined]

/** Calls the app's `decide`. An invalid decision refuses the call. */
async function askApp(
  { decide }: TrustSettings,
  call: Parameters<NonNullable<TrustSettings['decide']>>[0],
): Promise<FlowDecision | undefined> {
  const decision: unknown = (await decide?.(call)) ?? undefined
  if (DECISIONS.includes(decision)) return decision as FlowDecision | undefined
  throw new ByrefError(
    'flow_refused',
    'The call was not made: trust.decide must return "allow", "ask", "refuse" or nothing',
  )
}

/** Returns the reason why a call does not run, without any value. Undefined if there are no violations. */
function reasonOf(
  { written }: PolicyCall,
  violations: readonly FlowViolation[],
): string | undefined {
  const known = new Set(referencesIn(written).map(({ text }) => text))
  return violationTexts(violations, known).join('; ') || undefined
}

/** Removes duplicates, because the items of a mapped call have the same ones. */
function distinct(violations: readonly FlowViolation[]): FlowViolation[] {
  return [...new Map(violations.map((one) => [JSON.stringify(one), one])).values()]
}

/** Returns the label of everything that a call is given: what the model had seen, and what the call reads. */
function givenTo(call: PolicyCall, labels: Labels, reads?: readonly Read[]): Label {
  const { toolCallId, each, state } = call
  const read = reads ? labelOf(reads) : readsOf(call)
  const over = each ? [wholeOf(each)] : []
  // A person approved these values. The same names may have other values by now.
  const shown = state.approval?.label ? [readLabel(state.approval.label)] : []
  return joinAll([labels.contextOf(toolCallId), ...over, read, ...shown, byName(call, labels)])
}

const labelOf = (reads: readonly Read[]): Label => joinAll(reads.map((one) => wholeOf(one.labels)))

/** Caches the label of what the items of a call read. */
const allReads = new WeakMap<PolicyCall['items'], Label>()

/** Returns the label of everything a call reads. It is computed once, because every failed item needs it. */
function readsOf({ items }: PolicyCall): Label {
  const known = allReads.get(items) ?? labelOf(items.flatMap(({ reads }) => reads))
  allReads.set(items, known)
  return known
}

/**
 * Returns the label of what the model wrote, if nothing was read for the call: it failed before, or a person
 * approved its values.
 */
function byName({ written, items, state }: PolicyCall, labels: Labels): Label {
  if (items.length > 0 && !state.approval?.answer) return TRUSTED
  const { _instance: given } = Object(state.call?.arguments)
  const instance = typeof given === 'string' && given !== '' ? given : undefined
  return joinAll(referencesIn(written).map((found) => labels.reference(found, { instance })))
}

/** The labels of what pending calls of each tool were given, by conversation. */
const inProgress = new WeakMap<Labels, Map<string, Label>>()

function noteGiven(labels: Labels, { id }: Tool, given: Label): Label {
  const known = inProgress.get(labels) ?? new Map<string, Label>()
  inProgress.set(labels, known)
  const all = joinAll([known.get(id) ?? TRUSTED, labels.given(id), given])
  known.set(id, all)
  return all
}

/** Runs an execution, and labels its outcome with everything that it was given and has read. */
async function follow(
  { call, tool, reads, arguments: args }: Execution,
  perform: Parameters<NonNullable<Policy['aroundCall']>>[1],
  trust: TrustSettings,
): Promise<CallOutcome> {
  const { labels } = call
  if (!labels) return perform()
  const given = givenTo(call, labels, reads)
  const noted = noteReads(labels, given)
  // An acting tool may retain what it is given, and return it from a later call.
  const kept = (): Label =>
    tool.readOnly ? TRUSTED : noteGiven(labels, tool, join(given, noted.label()))
  kept()
  let started: { input: unknown } | null = null

  function treeOf(outcome?: CallOutcome): LabelTree {
    // A failure before the tool starts reveals only what the call was given.
    if (!started) return { label: given }
    const about = { tool, callId: call.toolCallId, input: started.input, result: outcome?.value }
    const tree = resultLabels(about, joinAll([given, noted.label(), kept()]))
    // The error message of a tool may contain any part of what it worked with.
    return outcome && !outcome.error ? tree : { label: wholeOf(tree) }
  }

  const outcome = await perform({
    assets: noted.assets,
    onRead: noted.read,
    onInput(input) {
      started = { input }
    },
    trust: noted.trust,
    label: () => writeLabel(wholeOf(treeOf())),
  })
  const whole = treeOf(outcome)
  const tree = isEdit(tool, outcome)
    ? labelEdit(call, { reads, arguments: args }, { outcome, whole })
    : whole
  const events = labelledAssets(outcome.events, tree, { label: wholeOf(tree) })
  const own = join(given, noted.label())
  const keeps = tool.readOnly || isPlain(own) ? {} : { given: writeLabel(own) }
  return declassified(call, { ...outcome, events, labels: tree, ...keeps }, trust)
}

/**
 * Labels an outcome without an execution: a failure before it, an answer of the app, or the list of a mapped call.
 */
function labelled(call: PolicyCall, outcome: CallOutcome, item?: number): CallOutcome | undefined {
  const { labels, tool, toolCallId } = call
  if (!labels || outcome.labels) return undefined
  const given = givenTo(call, labels)
  if (outcome.error) {
    const about = outcome.source ? wholeOf(outcome.source) : TRUSTED
    const label = labelOfFailure(outcome.error, {
      context: labels.contextOf(toolCallId),
      given: join(given, about),
    })
    // A call that never started gave its tool nothing to retain.
    const hasBegun = call.state.attempts > 0 && !tool.readOnly && !isPlain(given)
    const kept = hasBegun ? { given: writeLabel(given) } : {}
    return { ...outcome, labels: { label }, ...kept }
  }
  if (call.isMapped && item === undefined) {
    const items = labels.items(toolCallId).values()
    return { ...outcome, labels: listLabels(items, given) }
  }
  const input = call.state.approval?.arguments
  const about = { tool, callId: toolCallId, input, result: outcome.value }
  const kept = tool.readOnly ? TRUSTED : labels.given(tool.id)
  return { ...outcome, labels: resultLabels(about, join(given, kept)) }
}

/** The bits that runs have spent, including those that are not logged yet. */
const promised = new WeakMap<Labels, Map<string, number>>()

/**
 * Shows a closed answer about untrusted values to the model, within the budget of its run, and logs that. Other
 * outcomes stay unchanged.
 */
function declassified(call: PolicyCall, outcome: CallOutcome, trust: TrustSettings): CallOutcome {
  const { labels, toolCallId, runId } = call
  if (trust.mode !== 'quarantine' || !labels || !isAskAbout(call.tool)) return outcome
  if (outcome.error || !outcome.labels) return outcome
  if (labels.contextOf(toolCallId).integrity !== 'trusted') return outcome
  const label = wholeOf(outcome.labels)
  const { question, schema } = call.written
  const bits = closedBits(schema)
  if (label.integrity === 'trusted' || bits === null) return outcome
  if (!isClosedValue(schema, outcome.value)) return outcome
  if (!promise(labels, { runId, bits, budget: trust.budgetBits })) return outcome
  const event = {
    type: 'DECLASSIFIED',
    toolCallId,
    runId,
    bits,
    question: String(question),
  } as const
  return {
    ...outcome,
    events: [...outcome.events, event],
    labels: { label: { ...label, integrity: 'trusted' } },
  }
}

/** Takes bits from a run's budget. False if too few are left. */
function promise(
  labels: Labels,
  { runId, bits, budget }: { runId: string; bits: number; budget: number },
): boolean {
  const runs = promised.get(labels) ?? new Map<string, number>()
  promised.set(labels, runs)
  const before = Math.max(runs.get(runId) ?? 0, labels.declassified(runId))
  if (before + bits > budget) return false
  runs.set(runId, before + bits)
  return true
}
