import { addUsage } from './add-usage.ts'
import {
  type CallState,
  type ConversationState,
  emptyConversation,
  type ItemState,
  openRun,
  type QueuedMessage,
  type RunState,
  type StepState,
} from './conversation-state.ts'
import { writerOf } from './data-block.ts'
import { EditableState, type Writable } from './editable-state.ts'
import type { ConversationEvent, LogRecord } from './events.ts'
import type { Message } from './message.ts'
import { readMetadata } from './read-metadata.ts'
import { resultCall } from './results.ts'
import { isDeleted, tombstoneOf } from './tombstone.ts'

/** Something to fold: a record of the log, or an event that only streams, without a position. */
export type Foldable =
  | LogRecord
  | { event: ConversationEvent; position?: undefined; timestamp?: undefined }

/**
 * The state after one more event: the one fold of agent, server, browser and tests. A record whose position was
 * folded before changes nothing, so replays and reconnects are harmless. Costs a copy of the lists that change; who
 * folds much has {@link createFold}.
 */
export function fold(state: ConversationState, record: Foldable): ConversationState {
  return foldAll(state, [record])
}

/** The state after all these events: as {@link fold} for each, and linear in their number. */
export function foldAll(state: ConversationState, records: Iterable<Foldable>): ConversationState {
  const folding = createFold(state)
  for (const record of records) folding.apply(record)
  return folding.snapshot()
}

/** A state that is folded in place: each event costs its own size, however long the conversation is. */
export interface Fold {
  /** The state now. It changes with the next event; keep {@link Fold.snapshot} of it instead. */
  readonly state: ConversationState
  /** Folds one event in; false for a record that was folded before. */
  apply(record: Foldable): boolean
  /** The state as it is and stays. */
  snapshot(): ConversationState
}

/** Options of {@link createFold}. */
export interface FoldOptions {
  /** Told of each message that becomes part of the conversation, in order. */
  onMessage?(message: Message): void
}

/** Begins to fold from a state, which stays as it is. */
export function createFold(
  from: ConversationState = emptyConversation,
  { onMessage }: FoldOptions = {},
): Fold {
  const draft = new EditableState(from, onMessage)
  let given: ConversationState | null = from
  return {
    state: draft.state,
    apply(record) {
      const { position, timestamp = '', event } = record
      if (position !== undefined && position <= draft.state.position) return false
      given = null
      try {
        apply(draft, event, timestamp)
      } finally {
        // Also one that cannot be taken is behind us.
        if (position !== undefined) Object.assign(draft.state, { position, updatedAt: timestamp })
      }
      return true
    },
    snapshot() {
      given ??= draft.share()
      return given
    },
  }
}

type Event<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>
type Apply<T extends ConversationEvent['type']> = (
  draft: EditableState,
  event: Event<T>,
  at: string,
) => void

function apply(draft: EditableState, event: ConversationEvent, at: string): void {
  // An event of a later version says nothing here.
  const handler = Object.hasOwn(HANDLERS, event.type) ? HANDLERS[event.type] : undefined
  ;(handler as Apply<ConversationEvent['type']> | undefined)?.(draft, event, at)
}

/** What ends here is said again by durable events. */
const ignore = (): void => {}

const HANDLERS: { [T in ConversationEvent['type']]: Apply<T> } = {
  NEW_MESSAGE(draft, { payload, deliver, runId, context, ask }, at) {
    if (!deliver) return addMessage(draft, payload, at)
    addWait(draft, at)
    draft.list('inbox').push({ message: payload, deliver, runId, context, ...(ask ? { ask } : {}) })
  },
  MESSAGE_DELETED(draft, { messageId }) {
    const { inbox, messages } = draft.state
    if (inbox.some(({ message }) => message.id === messageId)) {
      draft.state.inbox = inbox.filter(({ message }) => message.id !== messageId)
    }
    for (const [index, message] of messages.entries()) {
      if (message.id === messageId && !isDeleted(message)) deleteMessage(draft, message, index)
    }
  },
  ASSET_CREATED(draft, { payload }) {
    draft.list('assets').push(payload)
    draft.list('assetsAfter').push(draft.state.messages.length)
  },
  ASSET_ERROR: (draft, { payload }) => void draft.list('assetErrors').push(payload),
  RUN_STARTED(draft, { type: _, threadId: __, ...run }, at) {
    deliver(draft, run.messageIds, at)
    const usage = { inputTokens: null, outputTokens: null }
    const fresh = { status: 'running', claims: 0, startedAt: at, usage, steps: [] } as const
    draft.list('runs').push({ ...run, messageIds: run.messageIds ?? [], ...fresh, waitedMs: 0 })
  },
  RUN_CLAIMED(draft, { runId, owner, settings }) {
    const run = draft.run(runId)
    if (!run) return
    run.owner = owner
    if (settings !== undefined) run.settings = settings
    run.claims++
    // What the one before was writing is not written on.
    draft.state.streaming = Object.create(null)
    dropIncompleteCalls(draft, run)
  },
  RUN_FINISHED: (draft, { runId, result }, at) =>
    endRun(draft, runId, { status: 'finished', finishedAt: at, ...result }),
  RUN_ERROR: (draft, { runId, code, message }, at) =>
    endRun(draft, runId, { status: 'failed', finishedAt: at, error: { code, message } }),
  STEP_STARTED(draft, { stepName: name, runId, messageId, messageIds, mends, commandIds }, at) {
    deliver(draft, messageIds, at)
    const run = draft.run(runId)
    if (!run) return
    const steps = draft.own(run.steps as StepState[])
    steps.push({
      name,
      messageId,
      startedAt: at,
      ...(mends ? { mends } : {}),
      ...(commandIds ? { commandIds } : {}),
      callIds: [],
    })
    run.steps = steps
  },
  STEP_FINISHED(draft, { runId, messageId, usage, finishReason }, at) {
    const run = draft.run(runId)
    const step = run && draft.step(run, messageId)
    if (!step) return
    Object.assign(step, { finishedAt: at, usage, finishReason })
    run.usage = addUsage(run.usage, usage)
  },
  PROMPT_COMPACTED(draft, { type: _, runId: __, ...compaction }) {
    draft.state.compaction = { ...compaction, afterStep: lastStepOf(draft) }
  },
  TOOL_CALL_START(draft, { toolCallId: id, toolCallName: name, parentMessageId }) {
    openCall(draft, {
      ...{ id, name, parentMessageId, argumentsText: '', attempts: 0 },
      status: 'streaming',
    })
  },
  TOOL_CALL_ARGS(draft, { toolCallId, delta }) {
    const call = draft.call(toolCallId)
    if (call) call.argumentsText += delta
  },
  TOOL_CALL_END(draft, { toolCallId: id, runId, parentMessageId, call, problem }, at) {
    const argumentsText = draft.state.calls[id]?.argumentsText || JSON.stringify(call.arguments)
    openCall(draft, {
      ...{ id, name: call.name, runId, parentMessageId, argumentsText, call, problem },
      ...{ attempts: 0, status: 'planned', plannedAt: at },
    })
  },
  APPROVAL_REQUESTED(draft, { toolCallId, arguments: args, items }, at) {
    const call = openCallOf(draft, toolCallId)
    if (!call) return
    call.status = 'waiting'
    call.approval = { arguments: args, items, requestedAt: at }
  },
  APPROVAL_ANSWERED(draft, { toolCallId, approved, reason, arguments: args }, at) {
    const call = openCallOf(draft, toolCallId)
    if (call?.status !== 'waiting' || !call.approval) return
    addWait(draft, at)
    call.status = 'planned'
    call.approval = { ...call.approval, answer: { approved, reason, arguments: args, at } }
  },
  TOOL_STARTED(draft, { toolCallId, attempt, item, items }, at) {
    const call = openCallOf(draft, toolCallId)
    if (!call) return
    call.status = 'running'
    call.startedAt ??= at
    if (items !== undefined) call.itemCount = items
    if (item === undefined) call.attempts = attempt
    else setItem(draft, call, item, { attempts: attempt, done: false })
  },
  TOOL_ITEM_FINISHED(draft, { toolCallId, item, value, error }) {
    const call = openCallOf(draft, toolCallId)
    const attempts = call?.items?.[item]?.attempts ?? 1
    if (call) setItem(draft, call, item, { attempts, done: true, value, error })
  },
  TOOL_PROGRESS(draft, { payload: { toolCallId, ...progress } }) {
    const call = openCallOf(draft, toolCallId)
    if (call) call.progress = progress
  },
  TEXT_MESSAGE_START(draft, { messageId }) {
    draft.record('streaming')[messageId] = ''
  },
  TEXT_MESSAGE_CONTENT(draft, { messageId, delta }) {
    const streaming = draft.record('streaming')
    streaming[messageId] = (streaming[messageId] ?? '') + delta
  },
  TEXT_MESSAGE_END: ignore,
  TOOL_CALL_RESULT: ignore,
}

function addMessage(draft: EditableState, message: Message, at: string): void {
  const messages = draft.list('messages')
  const index = firstResultOf(draft, message.id)
  if (index === null) messages.push(message)
  else messages.splice(index, 0, message)
  if (message.id in draft.state.streaming) delete draft.record('streaming')[message.id]
  closeCall(draft, message, at)
  draft.onMessage?.(message)
}

function lastStepOf({ state }: EditableState): string | null {
  return state.runs.at(-1)?.steps.at(-1)?.messageId ?? null
}

/** Leaves a tombstone. The calls of an answer go with it; the call of a result has none any more. */
function deleteMessage(draft: EditableState, message: Message, index: number): void {
  const answered = resultCall(message)
  draft.list('messages')[index] = tombstoneOf(message, { isResult: answered !== null })
  draft.state.deletion = {
    count: (draft.state.deletion?.count ?? 0) + 1,
    afterStep: lastStepOf(draft),
  }
  forgetCalls(draft, message)
  if (answered === null || draft.state.calls[answered]?.resultMessageId !== message.id) return
  const call = draft.call(answered)
  if (!call) return
  call.status = 'unanswered'
  call.finishedAt = undefined
  call.resultMessageId = undefined
  call.items = undefined
}

function forgetCalls(draft: EditableState, message: Message): void {
  const isIts = (id: string): boolean => draft.state.calls[id]?.parentMessageId === message.id
  const gone = new Set(
    readMetadata(message)
      .calls.map(({ id }) => id)
      .filter(isIts),
  )
  const written = draft.state.runs.findLast(({ steps }) =>
    steps.some(({ messageId }) => messageId === message.id),
  )
  const run = written && draft.run(written.runId)
  const step = run && draft.step(run, message.id)
  if (step) {
    for (const id of step.callIds.filter(isIts)) gone.add(id)
    step.callIds = []
  }
  if (gone.size === 0) return
  const calls = draft.record('calls')
  for (const id of gone) delete calls[id]
}

/** Where the results of an answer begin that were there before the answer was whole; null where there are none. */
function firstResultOf(draft: EditableState, messageId: string): number | null {
  const { calls, messages, runs } = draft.state
  const step = runs.at(-1)?.steps.at(-1)
  if (step?.messageId !== messageId) return null
  const own = new Set(step.callIds)
  const results = step.callIds.flatMap((id) => calls[id]?.resultMessageId ?? [])
  if (results.length === 0) return null
  const wanted = new Set(results)
  let index = messages.length
  while (index > 0 && wanted.size > 0) wanted.delete((messages[--index] as Message).id)
  while (index > 0 && own.has(writerOf(messages[index - 1] as Message) ?? '')) index--
  return index
}

/** A message that is a call's result ends the call; a second result changes nothing. */
function closeCall(draft: EditableState, message: Message, at: string): void {
  // A record that some other program wrote may have any metadata, or none.
  const mark = message.metadata?.tool_result
  const id: unknown = mark?.tool_call_id
  const call = typeof id === 'string' ? openCallOf(draft, id) : null
  if (!mark || !call) return
  call.status = mark.error ? 'failed' : 'done'
  call.finishedAt = at
  call.resultMessageId = message.id
  call.progress = undefined
}

/** Messages that waited become part of the conversation. */
function deliver(
  draft: EditableState,
  messageIds: readonly string[] | undefined,
  at: string,
): void {
  const { inbox } = draft.state
  if (inbox.length === 0 || !messageIds?.length) return
  const due = new Set(messageIds)
  const isDue = ({ message }: QueuedMessage): boolean => due.has(message.id)
  draft.state.inbox = inbox.filter((queued) => !isDue(queued))
  for (const { message } of inbox.filter(isDue)) addMessage(draft, message, at)
}

/** Adds the time since the last event where a person was asked about a call meanwhile. */
function addWait(draft: EditableState, at: string): void {
  const { calls, updatedAt } = draft.state
  const open = openRun(draft.state)
  const ids = open?.steps.at(-1)?.callIds ?? []
  const waited = Date.parse(at) - Date.parse(updatedAt)
  if (!(waited > 0) || !ids.some((id) => calls[id]?.status === 'waiting')) return
  const run = open && draft.run(open.runId)
  if (run) run.waitedMs += waited
}

/** A run that ended leaves no call running and no text half written: what has no result by now gets none. */
function endRun(draft: EditableState, runId: string, outcome: Partial<RunState>): void {
  const run = draft.run(runId)
  if (run?.status !== 'running') return
  Object.assign(run, outcome)
  for (const step of run.steps) {
    for (const id of step.callIds) {
      const call = openCallOf(draft, id)
      if (!call) continue
      call.status = 'unanswered'
      call.progress = undefined
    }
  }
  draft.state.streaming = Object.create(null)
}

/** Begins a call, as one more of the step whose message announces it: those that are complete first, in their order. */
function openCall(draft: EditableState, call: CallState): void {
  const { calls } = draft.state
  const isNew = calls[call.id]?.parentMessageId !== call.parentMessageId
  draft.record('calls')[call.id] = draft.own(call)
  const runId = call.runId ?? draft.state.runs.at(-1)?.runId
  const run = runId === undefined ? null : draft.run(runId)
  const step = run && draft.step(run, call.parentMessageId)
  if (!step) return
  const callIds = draft.own(step.callIds as string[])
  step.callIds = callIds
  const known = isNew ? -1 : callIds.lastIndexOf(call.id)
  if (known !== -1) callIds.splice(known, 1)
  let at = callIds.length
  while (call.call && at > 0 && !draft.state.calls[callIds[at - 1] as string]?.call) at--
  callIds.splice(at, 0, call.id)
}

/** Forgets the calls of the last step that were still streaming. */
function dropIncompleteCalls(draft: EditableState, run: Writable<RunState>): void {
  const last = run.steps.at(-1)
  const step = last && draft.step(run, last.messageId)
  if (!step) return
  const isIncomplete = (id: string): boolean => draft.state.calls[id]?.status === 'streaming'
  const gone = step.callIds.filter(isIncomplete)
  step.callIds = step.callIds.filter((id) => !isIncomplete(id))
  for (const id of gone) delete draft.record('calls')[id]
}

/** A call that may still change. */
function openCallOf(draft: EditableState, id: string): Writable<CallState> | null {
  const status = draft.state.calls[id]?.status
  const isOver = status === 'done' || status === 'failed' || status === 'unanswered'
  return status === undefined || isOver ? null : draft.call(id)
}

function setItem(
  draft: EditableState,
  call: Writable<CallState>,
  index: number,
  item: ItemState,
): void {
  const items = draft.own<Record<number, ItemState>>(call.items ?? {})
  items[index] = item
  call.items = items
}
