import { type CallPlan, planCall } from '../../boundary/call-plan.ts'
import { createDataReader } from '../../boundary/data-reader.ts'
import { resolveVariables } from '../../boundary/resolve-variables.ts'
import type { Tool } from '../../boundary/tool.ts'
import type { CallState } from '../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { join, type Label, readLabel, TRUSTED } from '../../core/labels/label.ts'
import type { ToolCall } from '../../core/messages/message.ts'
import { type CallLabels, callLabels, eitherLabels } from '../../policies/trust/call-labels.ts'
import { isGuarded } from '../../policies/trust/check-flow.ts'
import { labelOutcome, resultLabels } from '../../policies/trust/result-labels.ts'
import { graphOf } from '../next.ts'
import type { RunScope } from '../run-scope.ts'
import { type CallApprovals, createCallApprovals } from './call-approvals.ts'
import { callError } from './call-error.ts'
import { createCallGraph, type ReadyCall } from './call-graph.ts'
import { type CallOutcome, failed } from './call-outcome.ts'
import { createEndedCalls } from './ended-calls.ts'
import { executeCall } from './execute-call.ts'
import {
  approvedArguments,
  interrupted,
  type MappedArguments,
  mappedArguments,
  runMapped,
} from './map-call.ts'
import { type CallResult, recordCalls } from './record-call.ts'
import { withRetries } from './retry-call.ts'

/** Runs the calls of one answer, while it streams and after. */
export interface CallRunner {
  /**
   * Takes a call that the stream has completed: logs it, with its beginning where it can begin at once, and runs it.
   * Resolves when it is logged.
   */
  accept(accepted: AcceptedCall): Promise<void>
  /** The answer has ended. */
  close(): void
  /** Resolves when nothing runs and nothing could; calls that wait for people may be left. Rejects where the run is lost. */
  settled(): Promise<void>
}

/** A call as the model made it. */
export interface AcceptedCall {
  call: ToolCall
  /** The arguments as they came, where the call's hold references in place of bodies. */
  given?: Record<string, unknown>
  /** What is wrong with the arguments. */
  problem?: string
  /** Of the bodies in its arguments, to be logged before it. */
  events: readonly ConversationEvent[]
  messageId: string
}

/** Begins with an answer that is to come, or goes on with the calls that the log has of one. */
export function createCallRunner(scope: RunScope, logged?: readonly CallState[]): CallRunner {
  const { session, settings, runId } = scope
  const { tools } = settings
  const { labels } = session
  const graph = logged
    ? graphOf(logged, { tools, board: session.board })
    : createCallGraph((read, plan) => createDataReader(scope, plan).has(read.text))
  const ended = createEndedCalls(logged?.map(({ id }) => id) ?? [], {
    takeTurn: graph.takeTurn,
    record,
  })
  const given = new Map<string, Record<string, unknown>>()
  const { promise: settled, resolve, reject } = Promise.withResolvers<void>()
  settled.catch(() => {})
  let active = 0
  let closed = logged !== undefined
  let approvals: CallApprovals | null = null

  function openApprovals(): CallApprovals {
    approvals ??= createCallApprovals(scope, {
      held(plan) {
        graph.hold(plan.id)
        recordSoon()
      },
      answered: (plan) => start({ plan, error: null }),
      argumentsOf,
    })
    return approvals
  }

  /** Work that the end waits for. */
  async function work(job: () => Promise<void>): Promise<void> {
    active++
    try {
      await job()
      active--
      check()
    } catch (error) {
      approvals?.close()
      reject(error)
      throw error
    }
  }

  function check(): void {
    if (!closed || active > 0) return
    approvals?.close()
    resolve()
  }

  function pump(): void {
    for (const ready of graph.ready()) start(ready)
  }

  /** @param begun Its beginning is in the log already, and it has a place among those that run. */
  function start({ plan, error }: ReadyCall, begun = false): void {
    work(async () => {
      const outcome = error ? failed(error) : await withOwnSlot(begun, () => run(plan, begun))
      if (outcome) await finish(plan, outcome)
    }).catch(() => {})
  }

  /** Gives the slot of a call that has one back, whatever comes of the call. */
  async function withOwnSlot<T>(has: boolean, job: () => Promise<T>): Promise<T> {
    try {
      return await job()
    } finally {
      if (has) scope.slots.free()
    }
  }

  /** Runs a call as far as it goes: to its outcome, or null where a person is asked. */
  async function run(plan: CallPlan, begun: boolean): Promise<CallOutcome | null> {
    const { attempts, items, approval } = session.state.calls[plan.id] as CallState
    const isNew = begun || (attempts === 0 && !items)
    const answer = approval?.answer
    if (answer && !answer.approved) return failed(denied(answer.reason))
    if (answer?.result !== undefined) return answered(plan, answer.result)
    if (!isNew && plan.each === undefined && !plan.tool?.idempotent)
      return failed(interrupted(plan))
    try {
      const isAsked = !answer && ((isNew && plan.tool?.needsApproval) || guards(plan))
      const looked = isAsked ? await openApprovals().ask(plan) : undefined
      if (looked === null) return null
      const approved = answer && (answer.arguments ?? approval.items ?? approval.arguments)
      begin(plan.id)
      const before = labels && callLabels(labels, plan)
      if (plan.each !== undefined) {
        const items = approved
          ? approvedArguments(approved)
          : (looked ?? (await mappedArguments(scope, plan)))
        return await runMapped(scope, plan, items, labelsNow(plan, before, items))
      }
      const args =
        (approved as Record<string, unknown>) ?? looked?.[0]?.arguments ?? (await argumentsOf(plan))
      const own = labelsNow(plan, before, [{ arguments: args }])
      return await runOne(plan, args, { begun, attempts: begun ? 0 : attempts, labels: own })
    } catch (error) {
      // What ends the run ends its signal; all else is the call's.
      scope.signal.throwIfAborted()
      return failed(callError(error))
    }
  }

  /** A result that was made elsewhere. */
  function answered(plan: CallPlan, value: unknown): CallOutcome {
    const outcome = { value, events: [] }
    if (!labels || !plan.tool) return outcome
    const all = join(callLabels(labels, plan).all, shownLabel(plan))
    const input = session.state.calls[plan.id]?.approval?.arguments
    const about = { tool: plan.tool, callId: plan.id, input, result: value }
    return { ...outcome, labels: resultLabels(labels, { ...about, given: all, read: TRUSTED }) }
  }

  async function runOne(
    plan: CallPlan,
    args: Record<string, unknown>,
    { begun, attempts, labels }: { begun: boolean; attempts: number; labels: CallLabels | null },
  ): Promise<CallOutcome> {
    if (!begun) await scope.slots.take()
    return withOwnSlot(!begun, () =>
      withRetries(scope, plan, attempts, async (attempt) => {
        if (!begun || attempt > 1) await scope.append({ events: [started(plan.id, attempt)] })
        return executeCall(scope, { plan, toolCallId: plan.id, arguments: args, attempt, labels })
      }),
    )
  }

  /** The arguments with the values of their variables; bodies that the model wrote as it wrote them. */
  function argumentsOf(plan: CallPlan): Promise<Record<string, unknown>> {
    const source = { reader: createDataReader(scope, plan), assets: () => scope.assets }
    const own = given.get(plan.id) ?? plan.arguments
    return scope.during(() => resolveVariables(plan.tool as Tool, own, source))
  }

  /** Whether what the call is given has to be looked at before it begins. */
  function guards({ tool }: CallPlan): boolean {
    return (
      tool !== null &&
      settings.trust !== null &&
      (settings.trust.decide !== undefined || isGuarded(tool))
    )
  }

  /** Of what a person was shown of a call: since then other values may have come to the same names. */
  function shownLabel({ id }: CallPlan): Label {
    return readLabel(session.state.calls[id]?.approval?.label ?? {})
  }

  /** The labels of what a call was given, before and after it was read; null where trust is off. */
  function labelsNow(
    plan: CallPlan,
    before: CallLabels | null,
    given: readonly MappedArguments[],
  ): CallLabels | null {
    if (!labels || !before) return null
    const resolved = given.map((one) => one.arguments)
    const isSame = plan.each === undefined && resolved.every((args) => args === plan.arguments)
    // What names nothing has nothing that could have changed.
    const namesNothing = isSame && before.flows.length === 0
    const read = namesNothing ? before : eitherLabels(before, callLabels(labels, plan, resolved))
    const shown = shownLabel(plan)
    return shown === TRUSTED ? read : { ...read, all: join(read.all, shown) }
  }

  function begin(id: string): void {
    graph.begin(id)
    pump()
  }

  async function finish(plan: CallPlan, outcome: CallOutcome): Promise<void> {
    begin(plan.id)
    ended.add({ plan, outcome: labels ? labelOutcome(labels, plan, outcome) : outcome })
    await ended.record()
  }

  /** As work that the end waits for, where something waits for its turn. */
  function recordSoon(): void {
    if (!ended.isEmpty) work(ended.record).catch(() => {})
  }

  async function record(results: readonly CallResult[]): Promise<void> {
    await recordCalls(scope, results, ({ id }, end) => graph.settle(id, end))
    pump()
  }

  function started(toolCallId: string, attempt: number): ConversationEvent {
    return { type: 'TOOL_STARTED', toolCallId, runId, attempt }
  }

  if (logged) {
    pump()
    queueMicrotask(check)
  }
  return {
    accept: ({ call, given: own, problem, events, messageId }) =>
      work(async () => {
        const plan = planCall(call, tools, problem)
        if (own) given.set(call.id, planCall({ ...call, arguments: own }, tools).arguments)
        ended.expect(call.id)
        graph.add(plan)
        recordSoon()
        const ready = graph.ready()
        const isFree = !plan.tool?.needsApproval && !guards(plan)
        const isPlain = plan.each === undefined && isFree && !plan.problem
        const isReady = ready.some((one) => one.plan === plan && !one.error)
        const begins = isPlain && isReady && scope.slots.tryTake()
        const end = { toolCallId: call.id, runId, parentMessageId: messageId, call, problem }
        await scope.append({
          events: [
            ...events,
            { type: 'TOOL_CALL_END', ...end },
            ...(begins ? [started(call.id, 1)] : []),
          ],
        })
        for (const one of ready) start(one, one.plan === plan && begins)
      }),
    close() {
      closed = true
      graph.close()
      recordSoon()
      pump()
      check()
    },
    settled: () => settled,
  }
}

function denied(reason: string | undefined): { code: string; message: string } {
  const message = `A person refused the call${reason ? `: ${reason}` : ''}`
  return { code: 'approval_denied', message }
}
