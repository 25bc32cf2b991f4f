import type { Assets } from '../assets/assets-contract.ts'
import type { Read } from '../boundary/resolve.ts'
import type { Tool, ToolContext } from '../boundary/tool.ts'
import type { Found } from '../boundary/value-source.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { CallState, RunState } from '../core/events/conversation-state.ts'
import type {
  CallError,
  ConversationEvent,
  FlowViolation,
  TokenUsage,
} from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'
import type { LabelTree } from '../core/labels/label-tree.ts'
import type { Labels } from '../core/labels/labels.ts'
import type { Message } from '../core/messages/message.ts'
import type { LanguageModel } from '../models/language-model.ts'

/** Where a piece of work belongs. */
export interface Work {
  conversation: string
  namespace: string | null
  /** The run as it stands. */
  run: RunState
  /** The messages that the run began with. */
  messages(): readonly Message[]
  /** Aborted when the run is over for this process. */
  signal: AbortSignal
}

/** One call of the model, which writes the message of this id. */
export interface StepWork extends Work {
  messageId: string
  model: LanguageModel
}

/** One execution of a tool: a call, an item of a mapped call, or another attempt at one. */
export interface CallWork extends Work {
  /** The id of the call, with the item's index for a mapped call: `id/0`. */
  toolCallId: string
  /** From 1. */
  attempt: number
  tool: Tool
  /** With the values of their variables. References to assets are not resolved yet. */
  arguments: Readonly<Record<string, unknown>>
}

/** What an execution came to. */
export type CallOutcome = {
  /** The events of its assets, and what else is logged with it. */
  events: readonly ConversationEvent[]
  /** Which alternative of its outputs the tool chose. */
  chosen?: number
  /** Of the value, or of the error. Absent where values have no labels. */
  labels?: LabelTree
  /** The label of everything that a tool was given and read, where it may keep it. */
  given?: WrittenLabel
  /** Of the value that could not be read, where the error tells about it. */
  source?: LabelTree
} & ({ value: unknown; error?: undefined } | { error: CallError; value?: undefined })

/** What one execution of a call runs with. */
export interface CallItem {
  arguments: Record<string, unknown>
  reads: readonly Read[]
}

/** A call before it begins. */
export interface PolicyCall {
  toolCallId: string
  tool: Tool
  conversation: string
  runId: string
  namespace: string | null
  /** The run's `context`, else the agent's. */
  context: unknown
  /** Whether it is mapped over a list by `_each`. */
  isMapped: boolean
  /** Whether it began in another process, or before a person answered, and goes on here. */
  isResumed: boolean
  /** What would run: one item, or of a mapped call each that can run. */
  items: readonly CallItem[]
  /** Of the list that it is mapped over. */
  each?: LabelTree
  /** As the model wrote it, without what the engine adds to every tool. */
  written: Readonly<Record<string, unknown>>
  /** Runs `use` with the checked input of an item, as the tool would get it. */
  withInput<T>(
    item: CallItem,
    use: (input: unknown, context: ToolContext) => T,
  ): Promise<Awaited<T>>
  /** The labels of the conversation. Null where values have none. */
  labels: Labels | null
  /** The state of the call in the log. */
  state: CallState
}

/** What a policy says of a call. */
export interface Verdict {
  /** `allow` runs it, unless another policy says otherwise. `ask` asks a person. `refuse` fails it. */
  decision: 'allow' | 'ask' | 'refuse'
  /** Why. The model reads it where the call is refused. */
  reason?: string
  /** The error code of a refused call. Default `call_refused`. */
  code?: 'call_refused' | 'flow_refused'
  /** What a person is told with the question. */
  violations?: readonly FlowViolation[]
  label?: WrittenLabel
}

/** What a policy changes of an execution. */
export interface ExecutionChanges {
  /** Which attempt at the call it is. */
  attempt?: number
  /** Ends the execution when it aborts. */
  signal?: AbortSignal
  /** The assets that the tool gets, in place of these. `made` are the events of what it saves. */
  assets?(assets: Assets, made: readonly ConversationEvent[]): Assets
  /** Called with each value that the tool reads with `context.read`. */
  onRead?(found: Found): void
  /** Called with the input, just before the tool gets it. */
  onInput?(input: unknown): void
  trust?: ToolContext['trust']
  /** The label for the records of assets that the tool saves. */
  label?(): WrittenLabel
}

/** An execution as policies wrap it. */
export interface Execution extends CallWork, CallItem {
  /** The call that it belongs to. */
  call: PolicyCall
  arguments: Record<string, unknown>
}

/** The policy of an agent as the engine runs it. */
export interface ComposedPolicy extends Policy {
  looksAt(tool: Tool): boolean
}

/**
 * Something that concerns every call or every step: an approval, a limit, an audit log, tracing. `createAgent({ policies })`
 * takes a list of them. Each hook runs in the order of the list, and wraps those after it.
 */
export interface Policy {
  /** Whether `before` looks at the calls of a tool. Default: of every tool. */
  looksAt?(tool: Tool): boolean
  /**
   * Looks at a call before it begins, and again where it goes on after a restart. The strictest verdict counts. What it
   * throws fails the call.
   */
  before?(call: PolicyCall): Verdict | undefined | Promise<Verdict | undefined>
  /**
   * Looks at what a call came to, before it is logged. Returns the outcome to log in its place, or nothing to keep it. Of a
   * mapped call it sees each item, with its index from 0, and then the list of results.
   */
  after?(
    call: PolicyCall,
    outcome: CallOutcome,
    item?: number,
  ): CallOutcome | undefined | Promise<CallOutcome | undefined>
  /**
   * Wraps each attempt at a call. Calls `perform`, once for each attempt, and returns an outcome. An error of a tool is an
   * outcome; `perform` rejects where the run is over.
   */
  aroundCall?(
    execution: Execution,
    perform: (changes?: ExecutionChanges) => Promise<CallOutcome>,
  ): Promise<CallOutcome>
  /** Wraps each call of the model. `perform` rejects where the model failed or the run is over. */
  aroundStep?<Outcome extends { usage: TokenUsage; finishReason: string }>(
    step: StepWork,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome>
}

export const POLICY: OptionTable<Policy> = {
  looksAt: is.callback(),
  before: is.callback(),
  after: is.callback(),
  aroundCall: is.callback(),
  aroundStep: is.callback(),
}

const DECISIONS = ['allow', 'ask', 'refuse']

/** The policies of an agent as one. Hooks that no policy has are absent. */
export function composePolicies(policies: readonly Policy[]): ComposedPolicy {
  const looking = policies.filter(({ before }) => before)
  const adjusting = policies.filter(({ after }) => after)
  const aroundCalls = policies.filter(({ aroundCall }) => aroundCall)
  const aroundSteps = policies.filter(({ aroundStep }) => aroundStep)
  const looksAt = (one: Policy, tool: Tool): boolean => one.looksAt?.(tool) ?? true
  const composed: ComposedPolicy = {
    looksAt(tool) {
      try {
        return looking.some((one) => looksAt(one, tool))
      } catch {
        // `before` throws it again, and the call fails.
        return true
      }
    },
  }
  if (looking.length > 0) {
    composed.before = async (call) => {
      const verdicts: Verdict[] = []
      for (const one of looking) {
        const verdict = looksAt(one, call.tool) ? await one.before?.(call) : undefined
        if (verdict) verdicts.push(checked(verdict))
        if (verdict?.decision === 'refuse') return verdict
      }
      return verdicts.reduce(stricter, undefined as Verdict | undefined)
    }
  }
  if (adjusting.length > 0) {
    composed.after = async (call, outcome, item) => {
      let last = outcome
      for (const one of adjusting) last = (await one.after?.(call, last, item)) ?? last
      return last
    }
  }
  if (aroundCalls.length > 0) {
    composed.aroundCall = (execution, perform) =>
      aroundCalls.reduceRight<(changes?: ExecutionChanges) => Promise<CallOutcome>>(
        (next, one) => (changes) =>
          (one.aroundCall as NonNullable<Policy['aroundCall']>)(
            changed(execution, changes),
            (more) => next(more ? { ...changes, ...more } : changes),
          ),
        perform,
      )()
  }
  if (aroundSteps.length > 0) {
    composed.aroundStep = (step, perform) =>
      aroundSteps.reduceRight(
        (next, one) => () => (one.aroundStep as NonNullable<Policy['aroundStep']>)(step, next),
        perform,
      )()
  }
  return composed
}

function changed(execution: Execution, { attempt, signal }: ExecutionChanges = {}): Execution {
  if (attempt === undefined && signal === undefined) return execution
  return {
    ...execution,
    attempt: attempt ?? execution.attempt,
    signal: signal ?? execution.signal,
  }
}

/** @throws ByrefError `call_refused` for what is no verdict: it lets nothing through */
function checked(verdict: Verdict): Verdict {
  if (DECISIONS.includes(verdict.decision)) return verdict
  throw new ByrefError(
    'call_refused',
    'The call was not made: a policy must return { decision } with "allow", "ask" or "refuse", or nothing',
  )
}

function stricter(a: Verdict | undefined, b: Verdict): Verdict {
  if (!a) return b
  const rank = ({ decision }: Verdict): number => DECISIONS.indexOf(decision)
  const [first, second] = rank(b) > rank(a) ? [b, a] : [a, b]
  return { ...second, ...first }
}
