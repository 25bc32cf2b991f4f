import { type CallPlan, planCall } from '../../boundary/call-plan.ts'
import { describeTool } from '../../boundary/describe-tool.ts'
import { maskBytes } from '../../boundary/store.ts'
import { CLIENT_TOOL, type Tool } from '../../boundary/tool.ts'
import { withParameters } from '../../boundary/tool-index.ts'
import { labelsOfError } from '../../boundary/value-source.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import type { CallState } from '../../core/events/conversation-state.ts'
import type { CallError, ConversationEvent, EventOf } from '../../core/events/events.ts'
import { shortened } from '../../core/json/cut.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import {
  isPlain,
  joinAll,
  type Label,
  TRUSTED,
  type WrittenLabel,
  writeLabel,
} from '../../core/labels/label.ts'
import { joinLabel } from '../../core/labels/label-tree.ts'
import type { KeptReasoning, ToolCall } from '../../core/messages/message.ts'
import { callIdOf } from '../../core/refs/item-call.ts'
import { formatVariable } from '../../core/refs/variable-ref.ts'
import { isCommandCall } from '../../plugins/command-message.ts'
import type { CallItem, CallOutcome, DetailedVerdict } from '../../policies/policy.ts'
import { inputLabel } from '../../policies/trust/note-reads.ts'
import { graphOf } from '../next.ts'
import { callError } from '../run-errors.ts'
import type { RunScope } from '../run-scope.ts'
import { ActiveCall, applyAfter, type Item, type ResolvedItems, sourceOf } from './active-call.ts'
import { CallGraph, type ReadyCall } from './call-graph.ts'
import { approvedItems, executeCall, ownAssets, resolveItems, withBytes } from './execute-call.ts'
import { interrupted, runMapped } from './map-call.ts'
import { type CallResult, isKeepable, keepOutcome, keptResult, recordCalls } from './record-call.ts'

/** A call as the model made it. */
export interface AcceptedCall {
  call: ToolCall
  /** The original arguments, if bytes in them were replaced by references in `call`. */
  originalArguments?: Record<string, unknown>
  /** Why the arguments are invalid. */
  problem?: string
  /** The signed reasoning before the call. */
  reasoning: readonly KeptReasoning[]
  /** The events of assets that were created from its arguments. They are logged before the call. */
  events: readonly ConversationEvent[]
  messageId: string
}

/** Runs the calls of one answer, while the answer streams and after it has ended. */
export class CallRunner {
  readonly #scope: RunScope
  readonly #graph: CallGraph
  /** The calls that have ended, by id, until their results are recorded. */
  readonly #ended = new Map<string, CallResult>()
  /** The original arguments by call id, if the log has references in place of their bytes. */
  readonly #originalArguments = new Map<string, Record<string, unknown>>()
  readonly #settled = Promise.withResolvers<void>()
  #unwatch: (() => void) | null = null
  #active = 0
  #isClosed: boolean
  #isRecording = false

  /** @param logged The calls of an answer that is in the log. Absent for a new answer. */
  constructor(scope: RunScope, logged?: readonly CallState[]) {
    const { session, settings } = scope
    this.#scope = scope
    this.#isClosed = logged !== undefined
    this.#graph = logged
      ? graphOf(logged, { tools: settings.tools, board: session.board })
      : new CallGraph((read, plan) => sourceOf(scope, plan).has(read.text))
    this.#settled.promise.catch(() => {})
    if (!logged) return
    if (logged.some(({ status }) => status === 'waiting')) this.#listen()
    this.#startReady()
    queueMicrotask(() => this.#settleIfDone())
  }

  /**
   * Takes a complete call from the stream, logs it and runs it. If it can start at once, its start is logged in the
   * same append. Resolves when it is logged.
   */
  accept(accepted: AcceptedCall): Promise<void> {
    return this.#track(() => this.#accept(accepted))
  }

  /** Tells the runner that the answer has ended. */
  close(): void {
    this.#isClosed = true
    this.#graph.close()
    this.#recordSoon()
    this.#startReady()
    this.#settleIfDone()
  }

  /**
   * Resolves when no call runs and none can start. Calls that wait for people may remain. Rejects if the run is
   * lost.
   */
  settled(): Promise<void> {
    return this.#settled.promise
  }

  async #accept(accepted: AcceptedCall): Promise<void> {
    const { call, originalArguments, problem, reasoning, events, messageId } = accepted
    const { settings, runId, slots } = this.#scope
    const { tools, policy } = settings
    const plan = planCall(call, tools, problem)
    if (originalArguments) {
      const original = planCall({ ...call, arguments: originalArguments }, tools)
      this.#originalArguments.set(call.id, original.arguments)
    }
    this.#graph.add(plan)
    this.#recordSoon()
    const ready = this.#graph.ready()
    const isSimple = plan.each === undefined && !plan.problem && plan.tool !== null
    const needsNoPolicy = isSimple && !policy.checks(plan.tool as Tool)
    const isReady = ready.some((candidate) => candidate.plan === plan && !candidate.error)
    const startsNow = needsNoPolicy && isReady && slots.tryTake()
    const signed = reasoning.length > 0 ? { reasoning } : {}
    const end = { toolCallId: call.id, runId, parentMessageId: messageId, call, problem, ...signed }
    const started = startsNow ? [startedEvent(call.id, runId, 1)] : []
    await this.#scope.append({ events: [...events, { type: 'TOOL_CALL_END', ...end }, ...started] })
    for (const call of ready) this.#start(call, call.plan === plan && startsNow)
  }

  /** Runs a job that `settled` waits for. */
  async #track(job: () => Promise<void>): Promise<void> {
    this.#active++
    try {
      await job()
      this.#active--
      this.#settleIfDone()
    } catch (error) {
      this.#unwatch?.()
      this.#settled.reject(error)
      throw error
    }
  }

  #settleIfDone(): void {
    if (!this.#isClosed || this.#active > 0) return
    this.#unwatch?.()
    this.#settled.resolve()
  }

  #startReady(): void {
    for (const ready of this.#graph.ready()) this.#start(ready)
  }

  /** @param isStarted Whether its start is in the log, and it has a slot. */
  #start({ plan, error }: ReadyCall, isStarted = false): void {
    this.#track(async () => {
      const call = new ActiveCall(this.#scope, plan)
      const kept = this.#scope.session.state.calls[plan.id]?.outcome
      if (kept) {
        this.#begin(plan.id)
        return this.#end(keptResult(plan, kept))
      }
      const outcome = error
        ? failedOutcome(error)
        : await this.#withSlot(isStarted, () => this.#run(call, isStarted))
      if (outcome) await this.#finish(call, outcome)
    }).catch(() => {})
  }

  /** Runs a job, then frees its slot if it has one. */
  async #withSlot<T>(hasSlot: boolean, job: () => Promise<T>): Promise<T> {
    try {
      return await job()
    } finally {
      if (hasSlot) this.#scope.slots.free()
    }
  }

  /** Runs a call until it has an outcome. Resolves to null if a person must be asked first. */
  async #run(call: ActiveCall, isStarted: boolean): Promise<CallOutcome | null> {
    const { plan } = call
    const { attempts, items, approval } = call.state
    const isNew = isStarted || (attempts === 0 && !items)
    const answer = approval?.answer
    if (answer && !answer.approved) return failedOutcome(notApproved(plan, answer.reason))
    if (answer?.result !== undefined) return { value: answer.result, events: [] }
    if (!isNew && plan.each === undefined && !plan.tool?.idempotent)
      return failedOutcome(interrupted(plan))
    call.isResumed = !isNew
    try {
      const approved = answer && (answer.arguments ?? approval.items ?? approval.arguments)
      const resolved = await this.#scope.during(() => this.#resolve(plan, approved))
      call.setArguments(resolved)
      if (!answer && !isStarted && (await this.#askPerson(call, resolved))) return null
      this.#begin(plan.id)
      this.#listen()
      if (plan.each !== undefined) return await runMapped(this.#scope, call, resolved.items)
      const [item] = resolved.items
      if (item?.arguments === undefined) return failedOutcome(item?.error ?? interrupted(plan))
      return await this.#runOne(call, item, isStarted)
    } catch (error) {
      // An aborted signal ends the run. Any other error is the outcome of this call.
      this.#scope.signal.throwIfAborted()
      // The error of a preview may quote what it has read.
      const source = joinLabel(labelsOfError(error) ?? { label: TRUSTED }, call.read)
      return { ...failedOutcome(callError(error)), source }
    }
  }

  async #resolve(plan: CallPlan, approved: JsonValue | undefined): Promise<ResolvedItems> {
    const scope = this.#scope
    if (approved !== undefined) return approvedItems(scope, plan, approved)
    const written =
      this.#originalArguments.get(plan.id) ?? (await withBytes(scope, plan, plan.arguments))
    return resolveItems(scope, plan, written)
  }

  async #runOne(call: ActiveCall, item: CallItem, isStarted: boolean): Promise<CallOutcome> {
    const { toolCallId } = call
    const { slots, append, runId } = this.#scope
    if (!isStarted) await slots.take()
    const first = isStarted ? 1 : call.state.attempts + 1
    return this.#withSlot(!isStarted, () =>
      executeCall(this.#scope, {
        call,
        item,
        toolCallId,
        attempt: first,
        async begin(attempt) {
          const isLogged = isStarted && attempt === first
          if (!isLogged) await append({ events: [startedEvent(toolCallId, runId, attempt)] })
        },
      }),
    )
  }

  /**
   * Asks a person about a call if a policy requires it, and resolves to true. Otherwise, the call runs now: logs the
   * events of the policies, and resolves to false.
   *
   * @throws ByrefError if a policy denies the call
   */
  async #askPerson(call: ActiveCall, { items }: ResolvedItems): Promise<boolean> {
    const { plan } = call
    const { policy } = this.#scope.settings
    if (!policy.before || !policy.checks(call.tool)) return false
    this.#hold(plan.id)
    const verdict = await this.#scope.during(() => policy.before?.(call))
    if (verdict?.decision === 'deny') throw deniedByPolicy(plan, verdict)
    const { session, assets, append } = this.#scope
    if (verdict?.decision !== 'ask') {
      if (verdict?.events) await append({ events: verdict.events })
      return false
    }
    await this.#scope.during(() => checkInput(call))
    this.#listen()
    this.#originalArguments.delete(plan.id)
    const itemArguments = items.map((item) => item.arguments)
    const own = ownAssets(session, plan.id)
    const logged = await this.#scope.during(() => maskBytes(itemArguments, own, assets))
    const previews = await this.#scope.during(() => previewsOf(call, items))
    const request = approvalRequest(call, { items: logged, previews, verdict })
    await append({ events: [...call.takeEvents(), request] })
    return true
  }

  /** Starts calls when people have answered, and lets results pass a call whose sub-agent waits for a person. */
  #listen(): void {
    const { session } = this.#scope
    this.#unwatch ??= session.watch(({ event }) => {
      if (event.type === 'APPROVAL_REQUESTED' && event.parentToolCallId !== undefined) {
        const { parentToolCallId: id } = event
        for (const caller of [id, callIdOf(id)]) this.#graph.letPass(caller)
        this.#recordSoon()
      }
      if (event.type !== 'APPROVAL_ANSWERED') return
      if (session.state.calls[event.toolCallId]?.status === 'waiting') return
      this.#graph.release(event.toolCallId)
      this.#startReady()
    })
  }

  /**
   * Marks a call that waits for a policy or a person, so that later results may be recorded before its own.
   */
  #hold(id: string): void {
    this.#graph.hold(id)
    this.#recordSoon()
  }

  #begin(id: string): void {
    this.#graph.begin(id)
    this.#startReady()
  }

  async #finish(call: ActiveCall, outcome: CallOutcome): Promise<void> {
    const { plan } = call
    this.#begin(plan.id)
    const endedAt = new Date(this.#scope.session.now()).toISOString()
    const { deferred } = this.#scope.settings
    const edited = call.items[0]?.arguments.ref
    const isFromPerson = plan.edit?.place && call.state.approval?.answer?.result !== undefined
    // A result that a person gave instead of the call is not a new version of the edited value.
    const ended = isFromPerson ? { ...plan, edit: undefined, outputs: [] } : plan
    const events = [...call.takeEvents(), ...outcome.events]
    const adjusted = await applyAfter(this.#scope, call, { ...outcome, events })
    const shown = deferred.has(plan.name) ? withParameterHint(plan, adjusted) : adjusted
    const result = { plan: ended, outcome: shown, endedAt, edited }
    const waits = call.state.status === 'running' && !this.#graph.isNext(plan.id)
    await this.#end(waits && isKeepable(plan) ? await keepOutcome(this.#scope, result) : result)
  }

  async #end(result: CallResult): Promise<void> {
    this.#ended.set(result.plan.id, result)
    await this.#record()
  }

  #recordSoon(): void {
    if (this.#ended.size > 0) this.#track(() => this.#record()).catch(() => {})
  }

  /** Records the outcomes whose turn has come. Call it when a call is added, ends or is held. */
  async #record(): Promise<void> {
    if (this.#isRecording) return
    this.#isRecording = true
    for (;;) {
      const results = this.#takeInTurn()
      if (results.length === 0) break
      await recordCalls(this.#scope, results, ({ id }, end) => this.#graph.settle(id, end))
      this.#startReady()
    }
    this.#isRecording = false
  }

  /** Removes and returns the outcomes whose turn has come. */
  #takeInTurn(): CallResult[] {
    return this.#graph.takeTurns(this.#ended.keys()).map((id) => {
      const result = this.#ended.get(id) as CallResult
      this.#ended.delete(id)
      return result
    })
  }
}

/**
 * Returns the event that asks a person about a call.
 *
 * @param asked.items The arguments of each item, as they are logged. Undefined for an item that cannot run.
 */
function approvalRequest(
  call: ActiveCall,
  asked: {
    items: readonly (Record<string, unknown> | undefined)[]
    previews: readonly (ItemPreview | null)[]
    verdict: DetailedVerdict
  },
): EventOf<'APPROVAL_REQUESTED'> {
  const { toolCallId, tool, plan, runId, isMapped } = call
  const { items, previews, verdict } = asked
  const { violations = [], reason } = verdict
  return defined({
    type: 'APPROVAL_REQUESTED',
    runId,
    toolCallId,
    toolName: plan.name,
    arguments: (isMapped ? plan.arguments : items[0]) as JsonObject,
    items: isMapped ? items.map((item) => (item ?? null) as JsonValue) : undefined,
    needsResult: CLIENT_TOOL in tool.execute ? true : undefined,
    violations: violations.length > 0 ? violations : undefined,
    reason,
    previews: previews.length > 0 ? previews.map((preview) => preview?.text ?? null) : undefined,
    label: labelOfRequest(call, previews),
  })
}

/** Maximum characters of a preview. */
const MAX_PREVIEW = 4000

/** The tool's preview of an item, and the label of everything that the tool has read for it. */
interface ItemPreview {
  text: string
  label: Label
}

/** Throws the error of a call whose input is invalid in each item, so that nobody is asked about it. */
async function checkInput(call: ActiveCall): Promise<void> {
  const checks = await Promise.allSettled(
    call.items.map((item) => call.withInput(item, () => null)),
  )
  const [first] = checks
  const canRun = checks.some(({ status }) => status === 'fulfilled')
  if (!canRun && first?.status === 'rejected') throw first.reason
}

/**
 * Returns the tool's preview of each item; null for an item that has an error. For an edit of a value on the board, the
 * preview begins with the name of the value. Empty if the tool has no `preview`.
 */
async function previewsOf(
  call: ActiveCall,
  items: readonly Item[],
): Promise<(ItemPreview | null)[]> {
  const { tool } = call
  const { edit } = call.plan
  if (!tool.preview) return []
  const name = edit?.place ? `${formatVariable(edit.place, edit.place.path)}\n` : ''
  return Promise.all(
    items.map(async (item) => {
      if (item.arguments === undefined) return null
      return call.withInput(item, async (input, context) => {
        const preview = String(await tool.preview?.(input, context))
        return {
          text: `${name}${shortened(preview, MAX_PREVIEW)}`,
          label: context.trust?.read ?? TRUSTED,
        }
      })
    }),
  )
}

/** Returns the label of everything that a person sees in an approval request. Undefined if it is plain. */
function labelOfRequest(
  call: ActiveCall,
  previews: readonly (ItemPreview | null)[],
): WrittenLabel | undefined {
  const { labels } = call
  if (!labels) return undefined
  const previewLabels = previews.flatMap((preview) => preview?.label ?? [])
  const label = joinAll([inputLabel(call, labels), ...previewLabels])
  return isPlain(label) ? undefined : writeLabel(label)
}

/** Adds the tool's parameters to an error about invalid arguments, because the model may not have seen them. */
function withParameterHint({ id, tool }: CallPlan, outcome: CallOutcome): CallOutcome {
  const { error } = outcome
  if (!tool || error?.code !== 'invalid_arguments' || isCommandCall(id)) return outcome
  const message = withParameters(error.message, describeTool(tool))
  return { ...outcome, value: undefined, error: { ...error, message } }
}

function startedEvent(toolCallId: string, runId: string, attempt: number): ConversationEvent {
  return { type: 'TOOL_STARTED', toolCallId, runId, attempt }
}

function deniedByPolicy(
  { name }: CallPlan,
  { reason, code = 'call_denied' }: DetailedVerdict,
): ByrefError {
  return new ByrefError(
    code,
    `The call to "${name}" was denied: ${reason ?? 'a policy of the agent does not allow it'}`,
  )
}

/** The call was denied by a person. Or it failed, if it is one that the app runs itself. */
function notApproved({ tool }: CallPlan, reason: string | undefined): CallError {
  if (tool && CLIENT_TOOL in tool.execute && reason !== undefined) {
    return { code: 'tool_failed', message: reason }
  }
  const message = `A person denied the call${reason ? `: ${reason}` : ''}`
  return { code: 'approval_denied', message }
}

function failedOutcome(error: CallError): CallOutcome {
  return { events: [], error }
}
