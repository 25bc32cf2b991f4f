import { checkOptions, is, type OptionTable } from '../check-options.ts'
import { DamagedError, errorMessage } from '../errors.ts'
import { writerOf } from '../messages/data-block.ts'
import { isDeleted, type Message, tombstoneOf } from '../messages/message.ts'
import { readMetadata } from '../messages/read-metadata.ts'
import { resultCall } from '../messages/results.ts'
import { callIdOf } from '../refs/item-call.ts'
import {
  type AskedCall,
  addUsage,
  type CallState,
  type ConversationState,
  emptyConversation,
  type ItemState,
  openRun,
  type QueuedMessage,
  type RunState,
  type StepState,
  waitingCalls,
} from './conversation-state.ts'
import { EditableState, type Writable } from './editable-state.ts'
import type { ConversationEvent, EventOf, LogRecord } from './events.ts'

/** What can be folded: a record of the log, or a streamed event without a position. */
export type Foldable =
  | LogRecord
  | { event: ConversationEvent; position?: undefined; timestamp?: undefined }

/**
 * Returns the state after one more event. Agent, server, browser and tests all use this function. A record
 * whose position was already folded changes nothing, so replays and reconnects are harmless. It copies the
 * lists that change. To fold many events, use {@link createFold}.
 */
export function fold(state: ConversationState, record: Foldable): ConversationState {
  return foldAll(state, [record])
}

/** Returns the state after all these events, like {@link fold} for each, in linear time. */
export function foldAll(state: ConversationState, records: Iterable<Foldable>): ConversationState {
  const folding = createFold(state)
  for (const record of records) folding.apply(record)
  return folding.snapshot()
}

/**
 * A state that is changed in place. The cost of an event depends on its own size, not on the conversation's
 * length.
 */
export interface Fold {
  /** The current state. It changes with the next event; to keep it, use {@link Fold.snapshot}. */
  readonly state: ConversationState
  /**
   * Folds one event. Returns false for a record that was already folded.
   * @throws DamagedError
   */
  apply(record: Foldable): boolean
  /** Returns the current state as an object that does not change. */
  snapshot(): ConversationState
}

/** Options of {@link createFold}. */
export interface FoldOptions {
  /** Called with each message that becomes part of the conversation, in order. */
  onMessage?(message: Message): void
}

const FOLD_OPTIONS: OptionTable<FoldOptions> = { onMessage: is.callback() }

/** Creates a fold that starts from a state. The state itself does not change. */
export function createFold(
  from: ConversationState = emptyConversation,
  options?: FoldOptions,
): Fold {
  const { onMessage } = checkOptions('createFold', options, FOLD_OPTIONS)
  const editable = new EditableState(from, onMessage)
  let snapshot: ConversationState | null = from
  return {
    state: editable.state,
    apply(record) {
      const { position, timestamp = '', event } = record
      if (position !== undefined && position <= editable.state.position) return false
      snapshot = null
      try {
        apply(editable, event, timestamp)
      } catch (cause) {
        const reason = `it cannot be folded (${errorMessage(cause)})`
        throw new DamagedError(null, { position: position ?? 0, reason }, { cause })
      } finally {
        // An event that failed also counts as folded.
        if (position !== undefined) {
          editable.state.position = position
          editable.state.updatedAt = timestamp
        }
      }
      return true
    },
    snapshot() {
      snapshot ??= editable.share()
      return snapshot
    },
  }
}

type Apply<T extends ConversationEvent['type']> = (
  editable: EditableState,
  event: EventOf<T>,
  at: string,
) => void

function apply(editable: EditableState, event: ConversationEvent, at: string): void {
  // Events of later versions are ignored.
  const handler = Object.hasOwn(HANDLERS, event.type) ? HANDLERS[event.type] : undefined
  ;(handler as Apply<ConversationEvent['type']> | undefined)?.(editable, event, at)
}

/** Durable events contain the same information. */
const ignore = (): void => {}

const HANDLERS: { [T in ConversationEvent['type']]: Apply<T> } = {
  NEW_MESSAGE(editable, { payload, deliver, runId, context, overrides }, at) {
    if (!deliver) return addMessage(editable, payload, at)
    addWait(editable, at)
    editable
      .field('inbox')
      .push({ message: payload, deliver, runId, context, ...(overrides ? { overrides } : {}) })
  },
  MESSAGE_DELETED(editable, { messageId }, at) {
    addWait(editable, at)
    const { inbox, messages } = editable.state
    if (inbox.some(({ message }) => message.id === messageId)) {
      editable.state.inbox = inbox.filter(({ message }) => message.id !== messageId)
    }
    for (const [index, message] of messages.entries()) {
      if (message.id === messageId && !isDeleted(message)) deleteMessage(editable, message, index)
    }
  },
  // Lists of conversations use it.
  BRANCH_STARTED: ignore,
  ASSET_CREATED(editable, { payload }) {
    editable.field('assets').push(payload)
    editable.field('assetsAfter').push(editable.state.messages.length)
  },
  ASSET_ERROR(editable, { payload }) {
    editable.field('assetErrors').push(payload)
  },
  RUN_STARTED(editable, { type: _, threadId: __, ...run }, at) {
    deliver(editable, run.messageIds, at)
    const usage = { inputTokens: null, outputTokens: null }
    const fresh = { status: 'running', claims: 0, startedAt: at, usage, steps: [] } as const
    const messageIds = run.messageIds ?? []
    editable.field('runs').push(editable.adopt({ ...run, messageIds, ...fresh, waitedMs: 0 }))
  },
  RUN_CLAIMED(editable, { runId, owner, settings, trust }, at) {
    const run = editable.run(runId)
    if (!run) return
    addWait(editable, at)
    run.owner = owner
    if (settings !== undefined) run.settings = settings
    if (trust !== run.trust) run.trust = trust
    run.claims++
    dropRetry(editable, run)
    // The new owner does not continue the text that the previous one was streaming.
    editable.state.streaming = Object.create(null)
    dropIncompleteCalls(editable, run)
  },
  RUN_FINISHED: (editable, { runId, result }, at) =>
    endRun(editable, runId, { status: 'finished', finishedAt: at, ...result }),
  RUN_ERROR: (editable, { runId, code, message }, at) =>
    endRun(editable, runId, { status: 'failed', finishedAt: at, error: { code, message } }),
  STEP_STARTED(
    editable,
    { stepName: name, runId, messageId, messageIds, correction, commandIds },
    at,
  ) {
    deliver(editable, messageIds, at)
    const run = editable.run(runId)
    if (!run) return
    const steps = editable.own(run.steps as StepState[])
    const step: StepState = {
      name,
      messageId,
      startedAt: at,
      ...(correction ? { correction } : {}),
      ...(commandIds ? { commandIds } : {}),
      callIds: editable.adopt([]),
    }
    steps.push(editable.adopt(step))
    run.steps = steps
    // The text of an abandoned answer is not continued.
    if (Object.keys(editable.state.streaming).length > 0)
      editable.state.streaming = Object.create(null)
  },
  STEP_FINISHED(editable, { runId, messageId, usage, finishReason, outputProblem, requests }, at) {
    const run = editable.run(runId)
    const step = run && editable.step(run, messageId)
    if (!step) return
    Object.assign(step, { finishedAt: at, usage, finishReason })
    if (outputProblem) step.outputProblem = outputProblem
    if (requests) step.requests = requests
    delete step.retry
    run.usage = addUsage(run.usage, usage)
  },
  PROMPT_COMPACTED(editable, { type: _, runId: __, ...compaction }) {
    editable.state.compaction = { ...compaction, afterStep: lastStepOf(editable) }
  },
  TOOL_CALL_START(editable, { toolCallId: id, toolCallName: name, parentMessageId }) {
    // A streamed event of another process may arrive after the logged call.
    const existing = editable.state.calls[id]
    if (existing?.call && existing.parentMessageId === parentMessageId) return
    openCall(editable, {
      id,
      name,
      parentMessageId,
      argumentsText: '',
      attempts: 0,
      status: 'streaming',
    })
  },
  TOOL_CALL_ARGS(editable, { toolCallId, delta }) {
    if (editable.state.calls[toolCallId]?.status !== 'streaming') return
    const call = editable.call(toolCallId)
    if (call) call.argumentsText += delta
  },
  TOOL_CALL_END(editable, event, at) {
    const { toolCallId: id, runId, parentMessageId, call, problem, reasoning } = event
    const argumentsText = editable.state.calls[id]?.argumentsText || JSON.stringify(call.arguments)
    openCall(editable, {
      id,
      name: call.name,
      runId,
      parentMessageId,
      argumentsText,
      call,
      problem,
      ...(reasoning ? { reasoning } : {}),
      attempts: 0,
      status: 'planned',
      plannedAt: at,
    })
  },
  APPROVAL_REQUESTED(
    editable,
    { type: _, runId: __, toolCallId: id, toolName: name, parentToolCallId, ...asked },
    at,
  ) {
    const approval = { ...asked, requestedAt: at }
    if (parentToolCallId !== undefined)
      return setSubCall(editable, parentToolCallId, { id, name, approval, parentToolCallId })
    const call = openCallOf(editable, id)
    if (!call) return
    call.status = 'waiting'
    call.approval = approval
  },
  APPROVAL_ANSWERED(editable, answered, at) {
    const { toolCallId, parentToolCallId, approved, by, reason, arguments: args, result } = answered
    const answer = { approved, by, reason, arguments: args, result, at }
    if (parentToolCallId !== undefined) {
      const asked = callOfSubAgent(editable, parentToolCallId)?.subCalls?.[toolCallId]
      if (!asked || asked.approval.answer) return
      addWait(editable, at)
      const approval = { ...asked.approval, answer }
      return setSubCall(editable, parentToolCallId, { ...asked, approval })
    }
    const call = openCallOf(editable, toolCallId)
    if (call?.status !== 'waiting' || !call.approval) return
    addWait(editable, at)
    call.status = 'planned'
    call.approval = { ...call.approval, answer }
  },
  TOOL_STARTED(editable, { toolCallId, attempt, item, items }, at) {
    const call = openCallOf(editable, toolCallId)
    if (!call) return
    call.status = 'running'
    call.startedAt ??= at
    if (items !== undefined) call.itemCount = items
    if (item === undefined) call.attempts = attempt
    else setItem(editable, call, item, { attempts: attempt, done: false })
  },
  TOOL_FINISHED(editable, event, at) {
    const { toolCallId, item, value, error, modelOutput, chosen, label, retained } = event
    const call = openCallOf(editable, toolCallId)
    if (!call) return
    if (item === undefined) {
      call.outcome = { value, error, modelOutput, chosen, label, retained, at }
      return
    }
    const attempts = call.items?.[item]?.attempts ?? 1
    setItem(editable, call, item, { attempts, done: true, value, error })
  },
  TOOL_USAGE(editable, { runId, usage }) {
    const run = editable.run(runId)
    if (run) run.usage = addUsage(run.usage, usage)
  },
  // The call's result contains the answer.
  DECLASSIFIED: ignore,
  TOOL_PROGRESS(editable, { payload: { toolCallId, ...progress } }) {
    const call = openCallOf(editable, toolCallId)
    if (call) call.progress = progress
  },
  MODEL_RETRY(editable, { messageId, attempt, waitMs, reason }) {
    const run = editable.run(openRun(editable.state)?.runId ?? '')
    const step = run && editable.step(run, messageId)
    if (step && step.finishedAt === undefined) step.retry = { attempt, waitMs, reason }
  },
  TEXT_MESSAGE_START(editable, { messageId }) {
    if (!isWritten(editable, messageId)) editable.field('streaming')[messageId] = ''
  },
  TEXT_MESSAGE_CONTENT(editable, { messageId, delta }) {
    if (!(messageId in editable.state.streaming) && isWritten(editable, messageId)) return
    const streaming = editable.field('streaming')
    streaming[messageId] = (streaming[messageId] ?? '') + delta
  },
  TEXT_MESSAGE_END: ignore,
  // The answer contains its reasoning.
  REASONING_MESSAGE_START: ignore,
  REASONING_MESSAGE_CONTENT: ignore,
  REASONING_MESSAGE_END: ignore,
  TOOL_CALL_RESULT: ignore,
}

function addMessage(editable: EditableState, message: Message, at: string): void {
  const messages = editable.field('messages')
  const index = firstResultOf(editable, message.id)
  if (index === null) messages.push(message)
  else messages.splice(index, 0, message)
  if (message.id in editable.state.streaming) delete editable.field('streaming')[message.id]
  closeCall(editable, message, at)
  editable.onMessage?.(message)
}

/** Whether the answer is already in the log. Another process's streamed events may arrive after it. */
function isWritten({ state }: EditableState, messageId: string): boolean {
  const steps = state.runs.at(-1)?.steps ?? []
  return steps.slice(-3).some((one) => one.messageId === messageId && one.finishedAt !== undefined)
}

function lastStepOf({ state }: EditableState): string | null {
  return state.runs.at(-1)?.steps.at(-1)?.messageId ?? null
}

/** Leaves a tombstone. Deleting an answer removes its calls. Deleting a result makes its call unanswered. */
function deleteMessage(editable: EditableState, message: Message, index: number): void {
  const answered = resultCall(message)
  editable.field('messages')[index] = tombstoneOf(message, { isResult: answered !== null })
  editable.state.deletion = {
    count: (editable.state.deletion?.count ?? 0) + 1,
    afterStep: lastStepOf(editable),
  }
  forgetCalls(editable, message)
  if (answered === null || editable.state.calls[answered]?.resultMessageId !== message.id) return
  const call = editable.call(answered)
  if (!call) return
  call.status = 'unanswered'
  call.finishedAt = undefined
  call.resultMessageId = undefined
  call.items = undefined
}

function forgetCalls(editable: EditableState, message: Message): void {
  const isIts = (id: string): boolean => editable.state.calls[id]?.parentMessageId === message.id
  const deleted = new Set(
    readMetadata(message)
      .calls.map(({ id }) => id)
      .filter(isIts),
  )
  const written = editable.state.runs.findLast(({ steps }) =>
    steps.some(({ messageId }) => messageId === message.id),
  )
  const run = written && editable.run(written.runId)
  const step = run && editable.step(run, message.id)
  if (step) {
    for (const id of step.callIds.filter(isIts)) deleted.add(id)
    step.callIds = []
  }
  if (deleted.size === 0) return
  const calls = editable.field('calls')
  for (const id of deleted) delete calls[id]
}

/**
 * Returns the index of the first result that was logged before its answer was complete. Null if there is none.
 */
function firstResultOf(editable: EditableState, messageId: string): number | null {
  const { calls, messages, runs } = editable.state
  const step = runs.at(-1)?.steps.at(-1)
  if (step?.messageId !== messageId) return null
  const callIds = new Set(step.callIds)
  const results = step.callIds.flatMap((id) => calls[id]?.resultMessageId ?? [])
  if (results.length === 0) return null
  const missing = new Set(results)
  let index = messages.length
  while (index > 0 && missing.size > 0) missing.delete((messages[--index] as Message).id)
  while (index > 0 && callIds.has(writerOf(messages[index - 1] as Message) ?? '')) index--
  return index
}

/** Ends the call whose result the message is. A second result changes nothing. */
function closeCall(editable: EditableState, message: Message, at: string): void {
  // A record that another program wrote may have any metadata, or none.
  const mark = message.metadata?.tool_result
  const id: unknown = mark?.tool_call_id
  const call = typeof id === 'string' ? openCallOf(editable, id) : null
  if (!mark || !call) return
  call.status = mark.error ? 'failed' : 'done'
  call.finishedAt = endOf(call, message, at)
  call.resultMessageId = message.id
  call.progress = undefined
  call.outcome = undefined
}

/** Results are logged in the order of their calls. A call may have ended before: then its message has the time. */
function endOf({ startedAt }: CallState, { timestamp }: Message, at: string): string {
  const isSound = startedAt !== undefined && timestamp >= startedAt && timestamp <= at
  return isSound ? timestamp : at
}

/** Moves messages from the inbox into the conversation. */
function deliver(
  editable: EditableState,
  messageIds: readonly string[] | undefined,
  at: string,
): void {
  const { inbox } = editable.state
  if (inbox.length === 0 || !messageIds?.length) return
  const due = new Set(messageIds)
  const isDue = ({ message }: QueuedMessage): boolean => due.has(message.id)
  editable.state.inbox = inbox.filter((queued) => !isDue(queued))
  for (const { message } of inbox.filter(isDue)) addMessage(editable, message, at)
}

/** Adds the time since the last event if a call, or its sub-agent, waited for an approval meanwhile. */
function addWait(editable: EditableState, at: string): void {
  const waited = Date.parse(at) - Date.parse(editable.state.updatedAt)
  if (!(waited > 0) || waitingCalls(editable.state).length === 0) return
  const open = openRun(editable.state)
  const run = open && editable.run(open.runId)
  if (run) run.waitedMs += waited
}

/** Ends a run. Calls without a result become unanswered, and streamed text is dropped. */
function endRun(editable: EditableState, runId: string, outcome: Partial<RunState>): void {
  const run = editable.run(runId)
  if (run?.status !== 'running') return
  Object.assign(run, outcome)
  dropRetry(editable, run)
  for (const step of run.steps) {
    for (const id of step.callIds) {
      const call = openCallOf(editable, id)
      if (!call) continue
      call.status = 'unanswered'
      call.progress = undefined
    }
  }
  editable.state.streaming = Object.create(null)
}

/** Adds a call to the step whose message announces it. Complete calls come first, in order. */
function openCall(editable: EditableState, call: CallState): void {
  const { calls } = editable.state
  const isNew = calls[call.id]?.parentMessageId !== call.parentMessageId
  editable.field('calls')[call.id] = editable.adopt(call)
  const runId = call.runId ?? editable.state.runs.at(-1)?.runId
  const run = runId === undefined ? null : editable.run(runId)
  const step = run && editable.step(run, call.parentMessageId)
  if (!step) return
  const callIds = editable.own(step.callIds as string[])
  step.callIds = callIds
  const oldIndex = isNew ? -1 : callIds.lastIndexOf(call.id)
  if (oldIndex !== -1) callIds.splice(oldIndex, 1)
  let index = callIds.length
  while (call.call && index > 0 && !editable.state.calls[callIds[index - 1] as string]?.call)
    index--
  callIds.splice(index, 0, call.id)
}

/** Removes the streamed retry of the last step. */
function dropRetry(editable: EditableState, run: Writable<RunState>): void {
  const last = run.steps.at(-1)
  const step = last?.retry && editable.step(run, last.messageId)
  if (step) delete step.retry
}

/** Removes the calls of the last step that were still streaming. */
function dropIncompleteCalls(editable: EditableState, run: Writable<RunState>): void {
  const last = run.steps.at(-1)
  const step = last && editable.step(run, last.messageId)
  if (!step) return
  const isIncomplete = (id: string): boolean => editable.state.calls[id]?.status === 'streaming'
  const incomplete = step.callIds.filter(isIncomplete)
  step.callIds = step.callIds.filter((id) => !isIncomplete(id))
  for (const id of incomplete) delete editable.field('calls')[id]
}

/** Returns a call that can still change, or null. */
function openCallOf(editable: EditableState, id: string): Writable<CallState> | null {
  const status = editable.state.calls[id]?.status
  const isOver = status === 'done' || status === 'failed' || status === 'unanswered'
  return status === undefined || isOver ? null : editable.call(id)
}

function setItem(
  editable: EditableState,
  call: Writable<CallState>,
  index: number,
  item: ItemState,
): void {
  const items = editable.own<Record<number, ItemState>>(call.items ?? {})
  items[index] = item
  call.items = items
}

/** Returns the open call that a sub-agent works for. It may be an item of a mapped call. */
function callOfSubAgent(editable: EditableState, id: string): Writable<CallState> | null {
  return openCallOf(editable, id) ?? openCallOf(editable, callIdOf(id))
}

function setSubCall(editable: EditableState, parentToolCallId: string, subCall: AskedCall): void {
  const call = callOfSubAgent(editable, parentToolCallId)
  if (!call) return
  const subCalls = editable.own<Record<string, AskedCall>>(call.subCalls ?? {})
  subCalls[subCall.id] = subCall
  call.subCalls = subCalls
}
