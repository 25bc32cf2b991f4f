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
import { clearanceOf, isGuarded, violationsOf, violationText } from './check-flow.ts'
import { closedBits, closedBitsOf, isAskAbout, isClosedValue } from './closed-values.ts'
import { noteReads } from './note-reads.ts'
import { labelledAssets, labelOfFailure, listLabels, resultLabels } from './result-labels.ts'
import type { FlowDecision, TrustSettings } from './trust-options.ts'

/**
 * Follows where values come from. Asks or refuses where a tool does not take what a call would give it, and labels what
 * calls come to. Every label comes with a value that was read: the boundary reports it in `reads`.
 */
export function trustPolicy(trust: TrustSettings): Policy {
  return {
    looksAt: (tool) => trust.decide !== undefined || isGuarded(tool),
    before: (call) => lookAt(call, trust),
    aroundCall: (execution, perform) => follow(execution, perform, trust),
    after: (call, outcome, item) => withClosed(call, labelled(call, outcome, item) ?? outcome),
  }
}

async function lookAt(call: PolicyCall, trust: TrustSettings): Promise<Verdict | undefined> {
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
  const said = await askApp(trust, {
    toolCallId,
    tool: tool.id,
    conversation: call.conversation,
    arguments: args,
    label: given,
    context,
    violations,
  })
  const decision = said ?? (violations.length > 0 ? trust.onViolation : 'allow')
  const label = isPlain(given) ? undefined : writeLabel(given)
  return { decision, code: 'flow_refused', reason: reasonOf(call, violations), violations, label }
}

/** What a mapped call's tool does not take of its list: how long the list is says how often the tool runs. */
function repeatedBy({ tool, each, written }: PolicyCall): FlowViolation[] {
  if (!each) return []
  const { _each: list } = written
  const about = { path: '/_each', ...(typeof list === 'string' ? { ref: list } : {}) }
  const label = writeLabel(each.label)
  return refusedBy(clearanceOf(tool), each.label).map((rule) => ({ rule, ...about, label }))
}

type ItemViolations = [item: CallItem, violations: readonly FlowViolation[]]

/** What calls that took closed values are logged with. */
const closed = new WeakMap<PolicyCall, ConversationEvent>()

/**
 * Whether all that a call's tool does not take are closed values at closed parameters, and the budget of the run has the bits that
 * they tell. The model has not seen them, and they are no more than a closed answer of `ask_about` would tell it.
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
    const told = closedBitsOf(tool, item.arguments, violations)
    if (told === null) return false
    bits += told
  }
  if (bits === 0 || !promise(labels, { runId, bits, budget })) return false
  const question = `The closed values of a call of ${tool.id}`
  closed.set(call, { type: 'DECLASSIFIED', toolCallId, runId, bits, question })
  return true
}

/** The outcome with the event of the closed values that its call took, the first time. */
function withClosed(call: PolicyCall, outcome: CallOutcome): CallOutcome {
  const event = closed.get(call)
  if (!event) return outcome
  closed.delete(call)
  return { ...outcome, events: [...outcome.events, event] }
}

const DECISIONS: readonly unknown[] = ['allow', 'ask', 'refuse', undefined]

/** What the app's own `decide` says. Anything that is no decision lets nothing through. */
async function askApp(
  { decide }: TrustSettings,
  call: Parameters<NonNullable<TrustSettings['decide']>>[0],
): Promise<FlowDecision | undefined> {
  const said: unknown = (await decide?.(call)) ?? undefined
  if (DECISIONS.includes(said)) return said as FlowDecision | undefined
  throw new ByrefError(
    'flow_refused',
    'The call was not made: trust.decide must return "allow", "ask", "refuse" or nothing',
  )
}

/** Why a call does not run, in words that hold no value. */
function reasonOf({ written }: PolicyCall, violations: readonly FlowViolation[]): string {
  const known = new Set(referencesIn(written).map(({ text }) => text))
  const texts = violations.map((one) => violationText(one, known))
  return [...new Set(texts)].join('; ') || 'the policy of the agent refuses it'
}

/** Each once: the items of a mapped call have the same ones. */
function distinct(violations: readonly FlowViolation[]): FlowViolation[] {
  return [...new Map(violations.map((one) => [JSON.stringify(one), one])).values()]
}

/** The label of everything that a call is given: what its model had been shown, and what it reads. */
function givenTo(call: PolicyCall, labels: Labels, reads?: readonly Read[]): Label {
  const { toolCallId, each, state } = call
  const read = reads ? labelOf(reads) : readsOf(call)
  const over = each ? [wholeOf(each)] : []
  // A person was shown these values: others may have the same names by now.
  const shown = state.approval?.label ? [readLabel(state.approval.label)] : []
  return joinAll([labels.contextOf(toolCallId), ...over, read, ...shown, byName(call, labels)])
}

const labelOf = (reads: readonly Read[]): Label => joinAll(reads.map((one) => wholeOf(one.labels)))

/** Of all that the items of calls read. */
const allReads = new WeakMap<PolicyCall['items'], Label>()

/** Of all that a call reads, worked out once: each of many items that fail is labelled by it. */
function readsOf({ items }: PolicyCall): Label {
  const known = allReads.get(items) ?? labelOf(items.flatMap(({ reads }) => reads))
  allReads.set(items, known)
  return known
}

/**
 * Of what the model wrote, where nothing was read for it: the call failed before, or a person approved its values.
 */
function byName({ written, items, state }: PolicyCall, labels: Labels): Label {
  if (items.length > 0 && !state.approval?.answer) return TRUSTED
  const { _instance: given } = Object(state.call?.arguments)
  const instance = typeof given === 'string' && given !== '' ? given : undefined
  return joinAll(referencesIn(written).map((found) => labels.reference(found, { instance })))
}

/** What calls of each tool were given that have no result yet, by the labels of their conversation. */
const inProgress = new WeakMap<Labels, Map<string, Label>>()

function noteGiven(labels: Labels, { id }: Tool, given: Label): Label {
  const known = inProgress.get(labels) ?? new Map<string, Label>()
  inProgress.set(labels, known)
  const all = joinAll([known.get(id) ?? TRUSTED, labels.given(id), given])
  known.set(id, all)
  return all
}

/** Performs an execution, and labels what comes of it by everything that it was given and read. */
async function follow(
  { call, tool, reads }: Execution,
  perform: Parameters<NonNullable<Policy['aroundCall']>>[1],
  trust: TrustSettings,
): Promise<CallOutcome> {
  const { labels } = call
  if (!labels) return perform()
  const given = givenTo(call, labels, reads)
  const noted = noteReads(labels, given)
  // A tool that acts may keep what it is given, and return it from a later call.
  const kept = (): Label =>
    tool.readOnly ? TRUSTED : noteGiven(labels, tool, join(given, noted.label()))
  kept()
  let begun: { input: unknown } | null = null

  function treeOf(outcome?: CallOutcome): LabelTree {
    // What fails before the tool begins tells nothing but what it was given.
    if (!begun) return { label: given }
    const about = { tool, callId: call.toolCallId, input: begun.input, result: outcome?.value }
    const tree = resultLabels(about, joinAll([given, noted.label(), kept()]))
    // Any part of what a tool worked with may be in the words that it fails with.
    return outcome && !outcome.error ? tree : { label: wholeOf(tree) }
  }

  const outcome = await perform({
    assets: noted.assets,
    onRead: noted.read,
    onInput(input) {
      begun = { input }
    },
    trust: noted.trust,
    label: () => writeLabel(wholeOf(treeOf())),
  })
  const tree = treeOf(outcome)
  const events = labelledAssets(outcome.events, tree, { label: wholeOf(tree) })
  const own = join(given, noted.label())
  const keeps = tool.readOnly || isPlain(own) ? {} : { given: writeLabel(own) }
  return declassified(call, { ...outcome, events, labels: tree, ...keeps }, trust)
}

/**
 * Labels an outcome that no execution made: a failure before it, an answer from outside, the list of a mapped call.
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
    // A call that never began gave its tool nothing to keep.
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

/** The bits that runs have promised to show, logged or about to be. */
const promised = new WeakMap<Labels, Map<string, number>>()

/**
 * A closed answer about untrusted values may be shown to the model, within the budget of its run. The log then says
 * so with it. Any other outcome stays as it is.
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
  const said = {
    type: 'DECLASSIFIED',
    toolCallId,
    runId,
    bits,
    question: String(question),
  } as const
  return {
    ...outcome,
    events: [...outcome.events, said],
    labels: { label: { ...label, integrity: 'trusted' } },
  }
}

/** Takes bits from a run's budget. False where too few are left. */
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
