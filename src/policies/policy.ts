import type { Assets } from '../assets/assets-contract.ts'
import type { ResolvedCall } from '../boundary/resolve.ts'
import type { Tool, ToolContext } from '../boundary/tool.ts'
import type { Found } from '../boundary/value-source.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { defined } from '../core/defined.ts'
import type { CallState, RunState } from '../core/events/conversation-state.ts'
import type {
  CallError,
  ConversationEvent,
  FlowViolation,
  TokenUsage,
} from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import { type LabelTree, type WrittenLabelTree, writeLabelTree } from '../core/labels/label-tree.ts'
import type { Labels } from '../core/labels/labels.ts'
import type { Message } from '../core/messages/message.ts'
import type { LanguageModel } from '../models/language-model.ts'

/** The run that a piece of work belongs to. */
export interface Work {
  conversation: string
  namespace: string | null
  /** The current state of the run. */
  run: RunState
  /** Returns the messages that the run started with. */
  messages(): readonly Message[]
  /** Aborted when this process must stop working on the run. */
  signal: AbortSignal
}

/** One call of the model. `messageId` is the id of its answer. */
export interface StepWork extends Work {
  messageId: string
  model: LanguageModel
}

/** One execution of a tool: a call, an item of a mapped call, or another attempt at one. */
export interface CallWork extends Work {
  /** The id of the call. For an item of a mapped call: `<id>/<index>`. */
  toolCallId: string
  /** The number of the attempt, from 1. */
  attempt: number
  tool: Tool
  /** The arguments with the values of their variables. Asset references are not resolved yet. */
  arguments: Readonly<Record<string, unknown>>
}

/** The outcome of an execution: a value or an error. */
export type CallOutcome = {
  /** The events of its assets, and other events that are logged with it. */
  events: readonly ConversationEvent[]
  /** The index of the `_outputPath` alternative that the tool chose. */
  chosen?: number
  /** The labels of the value or the error. Absent if values have no labels. */
  labels?: LabelTree
  /** The label of everything that the tool received and has read. Absent if the tool cannot retain any of it. */
  retained?: WrittenLabel
  /** The labels of values that the error message may quote. */
  source?: LabelTree
} & ({ value: unknown; error?: undefined } | { error: CallError; value?: undefined })

/** Returns where an outcome came from, as events have it: its labels, and what the tool may retain. */
export function provenanceOf({ labels, retained }: CallOutcome): {
  label?: WrittenLabelTree
  retained?: WrittenLabel
} {
  return defined({ label: labels && writeLabelTree(labels), retained })
}

/** The arguments of one execution. */
export type CallItem = ResolvedCall

/** A call before it starts. */
export interface PolicyCall {
  toolCallId: string
  tool: Tool
  conversation: string
  runId: string
  namespace: string | null
  /** The `context` of the run, or else of the agent. */
  context: unknown
  /** Whether the call is mapped over a list with `_each`. */
  isMapped: boolean
  /** Whether the call had started before this process continued it. */
  isResumed: boolean
  /** The items that would run: one, or every valid item of a mapped call. */
  items: readonly CallItem[]
  /** The labels of the list that the call is mapped over. */
  each?: LabelTree
  /** The arguments as the model wrote them, without the parameters that byref adds. */
  written: Readonly<Record<string, unknown>>
  /** Calls `use` with the validated input of an item, as the tool would receive it. */
  withInput<T>(
    item: CallItem,
    use: (input: unknown, context: ToolContext) => T,
  ): Promise<Awaited<T>>
  /** The labels of the conversation. Null if values have none. */
  labels: Labels | null
  /** The state of the call in the log. */
  state: CallState
}

/** A policy's decision about a call. */
export interface Verdict {
  /** `allow`: run the call, unless another policy decides otherwise. `ask`: ask a person. `deny`: fail the call. */
  decision: 'allow' | 'ask' | 'deny'
  /**
   * Why the decision is `ask` or `deny`. The model sees it if the call is denied, and a person sees it with the
   * question.
   */
  reason?: string
}

/** A decision of byref's own policies. */
export interface DetailedVerdict extends Verdict {
  /** The error code of a denied call. Default: `call_denied`. */
  code?: 'call_denied' | 'flow_denied'
  /** Violations that a person sees with the question. */
  violations?: readonly FlowViolation[]
  /** Events that are logged before the call runs. They are dropped if a person is asked or the call is denied. */
  events?: readonly ConversationEvent[]
}

/** Changes that a policy makes to an execution. */
export interface ExecutionChanges {
  /** The number of the attempt. */
  attempt?: number
  /** A signal that aborts the execution. */
  signal?: AbortSignal
  /** Returns the assets that the tool receives instead of `assets`. `events` collects those of what it saves. */
  assets?(assets: Assets, events: readonly ConversationEvent[]): Assets
  /** Called with each value that the tool reads with `context.read`. */
  onRead?(found: Found): void
  /** Called with the input right before the tool receives it. */
  onInput?(input: unknown): void
  /** If the tool is a sub-agent: called when it starts or stops waiting for a person. */
  onWaiting?(isWaiting: boolean): void
  trust?: ToolContext['trust']
  /** The label for the records of assets that the tool saves. */
  label?(): WrittenLabel
}

/** An execution, as `aroundCall` sees it. */
export interface Execution extends CallWork, CallItem {
  /** The call that it belongs to. */
  call: PolicyCall
  arguments: Record<string, unknown>
}

/** All policies of an agent, composed into one. */
export interface ComposedPolicy extends Policy {
  checks(tool: Tool): boolean
  before?(call: PolicyCall): Promise<DetailedVerdict | undefined>
}

/**
 * Code around every tool call or every model call, such as an audit log, a limit or tracing. Pass a list to
 * `createAgent({ policies })`. Hooks run in the order of the list, and each wraps the ones after it.
 */
export interface Policy {
  /** Whether `before` is called for a tool's calls. Default: for every tool. */
  checks?(tool: Tool): boolean
  /**
   * Called before a call starts, and again if a call that had started continues after a restart. Returns nothing to
   * allow the call. The strictest verdict of all policies counts. If it throws, the call fails. `soFar` is the
   * strictest decision of the policies before this one. It is absent if none of them has decided.
   */
  before?(
    call: PolicyCall,
    soFar?: Verdict['decision'],
  ): Verdict | undefined | Promise<Verdict | undefined>
  /**
   * Called with the outcome of every call before it is logged, even if the call was denied or its tool is unknown.
   * Returns the outcome to log instead, or nothing to keep it. For a mapped call, it is called for each item with the
   * item's index from 0, and then for the list of results.
   */
  after?(
    call: PolicyCall,
    outcome: CallOutcome,
    item?: number,
  ): CallOutcome | undefined | Promise<CallOutcome | undefined>
  /**
   * Wraps each attempt at a call. Call `perform` to run the tool, and return an outcome. If the tool throws, `perform`
   * resolves to an outcome with an error. It rejects if the run is over.
   */
  aroundCall?(
    execution: Execution,
    perform: (changes?: ExecutionChanges) => Promise<CallOutcome>,
  ): Promise<CallOutcome>
  /** Wraps each call of the model. `perform` rejects if the model failed or the run is over. */
  aroundStep?<Outcome extends { usage: TokenUsage; finishReason: string }>(
    step: StepWork,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome>
}

export const POLICY: OptionTable<Policy> = {
  checks: is.callback(),
  before: is.callback(),
  after: is.callback(),
  aroundCall: is.callback(),
  aroundStep: is.callback(),
}

/** The decisions of policies, the strictest last. */
export const VERDICTS: readonly Verdict['decision'][] = ['allow', 'ask', 'deny']

/** Composes policies into one. It has only the hooks that any of the policies has. */
export function composePolicies(policies: readonly Policy[]): ComposedPolicy {
  const deciding = policies.filter(({ before }) => before)
  const adjusting = policies.filter(({ after }) => after)
  const aroundCalls = policies.filter(({ aroundCall }) => aroundCall)
  const aroundSteps = policies.filter(({ aroundStep }) => aroundStep)
  const checks = (policy: Policy, tool: Tool): boolean => policy.checks?.(tool) ?? true
  const composed: ComposedPolicy = {
    checks: (tool) => deciding.some((policy) => checks(policy, tool)),
  }
  if (deciding.length > 0) {
    composed.before = async (call) => {
      const verdicts: DetailedVerdict[] = []
      for (const policy of deciding) {
        if (!checks(policy, call.tool)) continue
        const verdict: DetailedVerdict | undefined = await policy.before?.(
          call,
          strictestOf(verdicts),
        )
        if (verdict) verdicts.push(verdict)
        if (verdict?.decision === 'deny') return verdict
      }
      return joinVerdicts(verdicts)
    }
  }
  if (adjusting.length > 0) {
    composed.after = async (call, outcome, item) => {
      let last = outcome
      for (const policy of adjusting) last = (await policy.after?.(call, last, item)) ?? last
      return last
    }
  }
  if (aroundCalls.length > 0) {
    composed.aroundCall = (execution, perform) =>
      aroundCalls.reduceRight<(changes?: ExecutionChanges) => Promise<CallOutcome>>(
        (next, policy) => (changes) =>
          (policy.aroundCall as NonNullable<Policy['aroundCall']>)(
            withChanges(execution, changes),
            (added) => next(added ? { ...changes, ...added } : changes),
          ),
        perform,
      )()
  }
  if (aroundSteps.length > 0) {
    composed.aroundStep = (step, perform) =>
      aroundSteps.reduceRight(
        (next, policy) => () =>
          (policy.aroundStep as NonNullable<Policy['aroundStep']>)(step, next),
        perform,
      )()
  }
  return composed
}

/** Returns the execution as the next policy sees it. */
function withChanges(execution: Execution, { attempt, signal }: ExecutionChanges = {}): Execution {
  if (attempt === undefined && signal === undefined) return execution
  return { ...execution, attempt: attempt ?? execution.attempt, signal: signal ?? execution.signal }
}

/** Returns the strictest decision; undefined if there is none. */
function strictestOf(verdicts: readonly Verdict[]): Verdict['decision'] | undefined {
  return VERDICTS.findLast((one) => verdicts.some(({ decision }) => decision === one))
}

/** Joins verdicts into the strictest one, with the reasons, violations and events of all that have its decision. */
function joinVerdicts(verdicts: readonly DetailedVerdict[]): DetailedVerdict | undefined {
  const decision = strictestOf(verdicts)
  if (decision === undefined) return undefined
  const winning = verdicts.filter((one) => one.decision === decision)
  const reasons = new Set(winning.flatMap(({ reason }) => reason ?? []))
  const code = winning.find((one) => one.code !== undefined)?.code
  const violations = winning.flatMap((one) => one.violations ?? [])
  const events = winning.flatMap((one) => one.events ?? [])
  const verdict: DetailedVerdict = { decision }
  if (reasons.size > 0) verdict.reason = [...reasons].join('; ')
  if (code !== undefined) verdict.code = code
  if (violations.length > 0) verdict.violations = violations
  if (events.length > 0) verdict.events = events
  return verdict
}
