import { planCall } from '../boundary/call-plan.ts'
import type { Tool } from '../boundary/tool.ts'
import type { Board } from '../core/board/board.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import {
  type CallState,
  type ConversationState,
  openRun,
  type QueuedMessage,
  type RunState,
  type StepState,
  waitingSubCalls,
} from '../core/events/conversation-state.ts'
import type { CompactionReason, FinishReason, TokenUsage } from '../core/events/events.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { CallGraph } from './calls/call-graph.ts'
import { outputProblem } from './output/run-output.ts'
import type { AgentSettings, ResolvedLimits } from './run-settings.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/**
 * The next action in a conversation.
 *
 * - `idle`: no run is open, and no message is queued.
 * - `start_run`: start a run with the queued messages.
 * - `compact`: compact the prompt before the model is asked.
 * - `begin_step`: begin a step. `messages` were queued for it. `problem` says why the last answer must be corrected.
 * - `ask_model`: ask the model, in a step that has begun.
 * - `log_interrupted`: log the answer that was interrupted after some of its calls were logged. It is not requested
 *   again.
 * - `run_calls`: run the calls of the last answer that are ready.
 * - `wait`: wait for people to answer about these calls. Nothing else is ready.
 * - `end_run`: end the run.
 * - `fail_run`: end the run with an error.
 */
export type Next =
  | { type: 'idle' }
  | { type: 'start_run'; runId?: string; messages: readonly QueuedMessage[] }
  | { type: 'compact'; run: RunState; reason: CompactionReason }
  | { type: 'begin_step'; run: RunState; messages: readonly QueuedMessage[]; problem?: string }
  | { type: 'ask_model'; run: RunState; step: StepState }
  | { type: 'log_interrupted'; run: RunState; step: StepState }
  | { type: 'run_calls'; run: RunState; step: StepState }
  | { type: 'wait'; run: RunState; calls: readonly CallState[] }
  | { type: 'end_run'; run: RunState; reason: FinishReason }
  | { type: 'fail_run'; run: RunState; code: ByrefErrorCode; message: string }

/** What `next` needs in addition to the conversation's state. */
export interface NextInput {
  limits: ResolvedLimits
  tools: ReadonlyMap<string, Tool>
  /** The board of the same conversation. */
  board: Pick<Board, 'has'>
  /** The time, in milliseconds since 1970. */
  now: number
  /** The `messageId` of the step that began in this process and has not asked its model yet. Default: none. */
  begunStep?: string | null
  /** Returns why the prompt must be compacted before the next step, or null. Default: never. */
  compaction?(state: ConversationState): CompactionReason | null
}

/**
 * Returns the next action. It depends only on the state and on `input`, so every process with the same agent gets the
 * same action: after a crash, after an approval three days later, on another host. Only `begunStep` is local, because a
 * process cannot continue a model call of another process.
 */
export function next(state: ConversationState, input: NextInput): Next {
  const run = openRun(state)
  if (!run) return startOrIdle(state.inbox)
  const step = run.steps.at(-1)
  if (!step) return beginOrEnd(state, run, input)
  const calls = callsOf(state, step)
  if (step.finishedAt === undefined) {
    if (calls.length > 0) return { type: 'log_interrupted', run, step }
    const due = beginOrEnd(state, run, input)
    return due.type === 'begin_step' && step.messageId === input.begunStep
      ? { type: 'ask_model', run, step }
      : due
  }
  const open = calls.filter(isOpen)
  if (open.length > 0) {
    const waiting = open.filter(({ status }) => status === 'waiting')
    const canContinue = waiting.length === 0 || graphOf(calls, input).ready().length > 0
    // This comes before the time limit, because waiting for people does not count.
    if (!canContinue) return { type: 'wait', run, calls: waiting }
    const isPaused = onlySubAgentsWait(open)
    if (!isPaused && isOverdue(run, input)) return { type: 'end_run', run, reason: 'time_limit' }
    return { type: 'run_calls', run, step }
  }
  const steering = state.inbox.some((queued) => steersRun(queued, run))
  if (step.commandIds && !steering && hasOnlyCommands(run, step.commandIds)) {
    return { type: 'end_run', run, reason: 'done' }
  }
  if (!steering && isCutAgain(run, calls)) return { type: 'end_run', run, reason: 'length' }
  const isPaused = step.finishReason === 'paused'
  if (calls.length > 0 || steering || isPaused) return beginOrEnd(state, run, input)
  const reason = runEndReason(step.finishReason)
  const problem = reason === 'done' ? outputProblem(state, run) : null
  return problem === null
    ? { type: 'end_run', run, reason }
    : retryOutput(state, run, input, problem)
}

/** Asks once more for an answer that fits the requested schema. If that answer does not fit either, the run fails. */
function retryOutput(
  state: ConversationState,
  run: RunState,
  input: NextInput,
  problem: string,
): Next {
  // A step that corrects an answer may have been interrupted and started again.
  if (run.steps.some(({ correction }) => correction)) {
    const message = `The model's answer does not match the output schema, even after a second request: ${problem}`
    return { type: 'fail_run', run, code: 'output_invalid', message }
  }
  const due = beginOrEnd(state, run, input)
  return due.type === 'begin_step' ? { ...due, problem } : due
}

/** Returns the complete calls of a step, in the order of the answer. */
export function callsOf(
  { calls }: Pick<ConversationState, 'calls'>,
  { callIds, messageId }: StepState,
): CallState[] {
  return callIds.flatMap((id) => {
    const call = calls[id]
    return call?.call && call.parentMessageId === messageId ? [call] : []
  })
}

/** Whether a call has no result yet, but can still get one. */
export function isOpen({ status }: CallState): boolean {
  return status === 'planned' || status === 'waiting' || status === 'running'
}

/** Whether calls run, and all of them only wait for people, in the conversations of their sub-agents. */
export function onlySubAgentsWait(calls: readonly CallState[]): boolean {
  const running = calls.filter(({ status }) => status === 'running')
  return running.length > 0 && running.every((call) => waitingSubCalls(call).length > 0)
}

/** Builds the graph of a complete answer from the state of its calls in the log. */
export function graphOf(
  calls: readonly CallState[],
  { tools, board }: Pick<NextInput, 'tools' | 'board'>,
): CallGraph {
  const graph = new CallGraph((read, plan) => board.has(read.text, { instance: plan.instance }))
  for (const call of calls) {
    const { id, status } = call
    const plan = planCall(call.call as ToolCall, tools, call.problem)
    // Such a call waits for its result, or was answered by a person.
    if (call.approval && !needsTool(call)) plan.problem = null
    graph.add(plan)
    const failed = status === 'failed'
    if (failed || status === 'done') {
      graph.settle(id, { failed, written: plan.outputs[failed ? 1 : 0] ?? [] })
    } else if (status === 'waiting') graph.hold(id)
    if (waitingSubCalls(call).length > 0) graph.letPass(id)
  }
  graph.close()
  return graph
}

function startOrIdle(inbox: readonly QueuedMessage[]): Next {
  const messages = firstQueued(inbox)
  const [first] = messages
  return first ? { type: 'start_run', runId: first.runId, messages } : { type: 'idle' }
}

/**
 * Returns the queued messages that the next run starts with: the first one and those after it, up to a message that
 * starts a run of its own.
 */
export function firstQueued(inbox: readonly QueuedMessage[]): readonly QueuedMessage[] {
  const [first] = inbox
  const end = inbox.findIndex(({ runId }) => runId !== undefined && runId !== first?.runId)
  return end === -1 ? inbox : inbox.slice(0, end)
}

/**
 * Maximum number of consecutive interrupted answers. A longer series means that the prompt crashes processes, or that
 * the provider is always busy.
 */
const MAX_INTERRUPTED = 100

function beginOrEnd(state: ConversationState, run: RunState, input: NextInput): Next {
  if (isInterruptedTooOften(run)) {
    const message = `${MAX_INTERRUPTED} consecutive answers of the model were interrupted, because the process ended or the provider was busy. Find the cause before you resume the run.`
    return { type: 'fail_run', run, code: 'interrupted', message }
  }
  const limit = reachedLimit(run, input)
  if (limit) return { type: 'end_run', run, reason: limit }
  const reason = input.compaction?.(state) ?? null
  if (reason) return { type: 'compact', run, reason }
  const messages = state.inbox.filter((queued) => steersRun(queued, run))
  return { type: 'begin_step', run, messages }
}

/**
 * Whether a message goes into the open run. If its context differs, it waits for a run with that context, because tools
 * may rely on it.
 */
export function steersRun(
  { deliver, context }: Pick<QueuedMessage, 'deliver' | 'context'>,
  run: Pick<RunState, 'context'>,
): boolean {
  if (deliver !== 'next_step') return false
  return context === undefined || isDeepStrictEqual(context, run.context)
}

function reachedLimit(run: RunState, input: NextInput): FinishReason | null {
  const { limits } = input
  if (run.steps.length >= limits.steps && answersOf(run) >= limits.steps) return 'step_limit'
  if (tokensOf(run.usage) >= limits.tokens) return 'token_limit'
  if ((run.usage.cost ?? 0) >= limits.cost) return 'cost_limit'
  return isOverdue(run, input) ? 'time_limit' : null
}

/** Counts the answers. An interrupted answer is requested again and does not count. */
function answersOf({ steps }: RunState): number {
  return steps.filter((step) => !isInterrupted(step) && !step.commandIds).length
}

/** Whether the run has no messages other than these commands. */
function hasOnlyCommands({ messageIds }: RunState, commandIds: readonly string[]): boolean {
  return messageIds.every((id) => commandIds.includes(id))
}

/** Whether too many consecutive answers were interrupted. */
function isInterruptedTooOften({ steps }: RunState): boolean {
  const lastComplete = steps.findLastIndex((step) => !isInterrupted(step))
  return steps.length - 1 - lastComplete >= MAX_INTERRUPTED
}

function isInterrupted({ finishedAt }: StepState): boolean {
  return finishedAt === undefined
}

function isOverdue(run: RunState, { limits, now }: NextInput): boolean {
  return now >= deadlineOf(run, limits)
}

/** Returns when a run reaches its time limit, in milliseconds since 1970. Waiting for people does not count. */
export function deadlineOf(
  { startedAt, waitedMs }: RunState,
  { runTimeoutMs }: Pick<ResolvedLimits, 'runTimeoutMs'>,
): number {
  return runTimeoutMs === Infinity ? Infinity : Date.parse(startedAt) + waitedMs + runTimeoutMs
}

function tokensOf({ inputTokens, outputTokens }: TokenUsage): number {
  return (inputTokens ?? 0) + (outputTokens ?? 0)
}

/** Whether the last answer reached the limit of output tokens inside a call, and the one before it reached it, too. */
function isCutAgain({ steps }: RunState, calls: readonly CallState[]): boolean {
  const isCut = (at: number): boolean => steps.at(at)?.finishReason === 'length'
  return isCut(-1) && isCut(-2) && calls.some(({ problem }) => problem !== undefined)
}

/** Returns why a run ends after an answer without calls. */
function runEndReason(finishReason: string | undefined): FinishReason {
  if (finishReason === 'length') return 'length'
  return finishReason === 'content-filter' ? 'content_filter' : 'done'
}

/** Thrown when this agent must leave a run to another agent. */
export class ForeignRunError extends ByrefError {}

interface Conversation {
  id: string
  state: ConversationState
}

/**
 * Checks that this agent can continue the open run: it must have the name of the run's agent, and the tools of its
 * calls. Calls that have not started need no tool, because a model may call a tool that no agent has.
 *
 * @throws ForeignRunError `agent_not_found` or `tool_not_found`
 */
export function checkAgentFits(
  conversation: Conversation,
  { name, tools }: Pick<AgentSettings, 'name' | 'tools'>,
): void {
  checkAgentName(conversation, name)
  const { state } = conversation
  for (const step of openRun(state)?.steps ?? []) {
    for (const call of callsOf(state, step))
      if (needsTool(call)) checkToolExists(conversation, call, tools)
  }
}

/** Returns the other agent that the open run belongs to, in words. Null if it is this agent, or no run is open. */
export function otherAgent(state: ConversationState, name: string | null): string | null {
  const run = openRun(state)
  if (!run || (run.agent ?? null) === name) return null
  return run.agent === undefined ? 'an agent without a name' : `the agent "${run.agent}"`
}

/** @throws ForeignRunError `agent_not_found` if the open run belongs to another agent: names must be equal */
export function checkAgentName({ id, state }: Conversation, name: string | null): void {
  const owner = otherAgent(state, name)
  if (owner === null) return
  const current = name === null ? 'this agent has no name' : `this agent is "${name}"`
  throw new ForeignRunError(
    'agent_not_found',
    `The open run of "${id}" belongs to ${owner}, and ${current}. Continue it with that agent, or cancel it.`,
  )
}

/** @throws ForeignRunError `tool_not_found` */
export function checkToolExists(
  { id }: Conversation,
  call: CallState,
  tools: AgentSettings['tools'],
): void {
  if (tools.has(call.name)) return
  throw new ForeignRunError(
    'tool_not_found',
    `The call "${call.id}" in "${id}" needs the tool "${call.name}", which this agent does not have. Use an agent that has it, deny the call, or cancel the run.`,
  )
}

function needsTool(call: CallState): boolean {
  const { approval, attempts, items } = call
  if (!isOpen(call)) return false
  const { answer } = approval ?? {}
  if (answer) return answer.approved && answer.result === undefined
  if (approval?.needsResult) return false
  return approval !== undefined || attempts > 0 || items !== undefined
}
