import type { Damage } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { resultCall } from '../core/messages/results.ts'
import type { Branch, ConversationStatus, ConversationSummary } from './conversation-log.ts'
import { needsUpdate, runAfter, type StoredRun } from './runs.ts'

/** The data about a conversation's events that a log stores, so that lists need not read the events. */
export interface SummaryState {
  /** The title from the first chat message with text that was not deleted; null without one. */
  title: string | null
  /** Number of messages that were not deleted. */
  messages: number
  openRun: string | null
  /** The ids of the messages that wait for a run or a step. */
  queued: readonly string[]
  /** The ids of the calls of the open run that wait for approval. */
  approvals: readonly string[]
  /** The last run failed. */
  failed: boolean
  /**
   * The name of the agent that ran last, or that a message waits for. Null before the first run, and for an agent
   * without a name.
   */
  agent: string | null
  branch: Branch | null
  /** The open run; null for a run that a fork copied. */
  run: StoredRun | null
}

/** The state before the first event. */
export const NEW_CONVERSATION: SummaryState = {
  title: null,
  messages: 0,
  openRun: null,
  queued: [],
  approvals: [],
  failed: false,
  agent: null,
  branch: null,
  run: null,
}

/** The owner of a lease, and its end in milliseconds since 1970. */
export interface StoredLease {
  owner: string
  until: number
}

/** The data about a conversation, in addition to its events, that every log stores. */
export interface StoredSummary {
  id: string
  namespace: string | null
  /** The title that it was given, or null. */
  name: string | null
  created: number
  updated: number
  position: number
  state: SummaryState
  lease: StoredLease | null
  damage: Damage | null
}

/**
 * Returns the state after more events, which are stored at a time, and the runs whose rows they change.
 * {@link withoutMessages} then subtracts deleted messages. Never throws, whatever an imported event contains.
 */
export function stateAfter(
  before: SummaryState,
  events: readonly ConversationEvent[],
  at: number,
): { state: SummaryState; runs: StoredRun[] } {
  const state = { ...before }
  const runs: StoredRun[] = []
  for (const event of events) {
    apply(state, event)
    const run = runAfter(state.run, event, at)
    if (state.run && state.run.run !== run?.run) runs.push(state.run)
    const hasEnded = run !== null && run.finished !== null
    if (hasEnded) runs.push(run)
    state.run = hasEnded ? null : run
  }
  if (!state.run) return { state, runs }
  const status = state.approvals.length > 0 ? 'waiting' : 'running'
  if (state.run.status !== status) state.run = { ...state.run, status }
  if (needsUpdate(before.run, state.run)) runs.push(state.run)
  return { state, runs }
}

/** How many messages were deleted that had not been deleted before, and the title from the remaining ones. */
export interface DeletedMessages {
  deleted: number
  title: string | null
}

/** Returns the state after messages were deleted. */
export function withoutMessages(
  state: SummaryState,
  { deleted, title }: DeletedMessages,
): SummaryState {
  return { ...state, messages: state.messages - deleted, title }
}

/** Returns the ids of the messages that events delete. Never throws. */
export function deletedBy(events: readonly ConversationEvent[]): string[] {
  return events.flatMap((event) => {
    const id: unknown = event.type === 'MESSAGE_DELETED' ? event.messageId : null
    return typeof id === 'string' ? id : []
  })
}

/** Returns the id of the message of an event; null for any other event. Never throws. */
export function messageIn(event: ConversationEvent): string | null {
  const id: unknown = event.type === 'NEW_MESSAGE' ? event.payload?.id : null
  return typeof id === 'string' ? id : null
}

/** Returns the summary as readers see it at a time, in milliseconds since 1970. */
export function summaryOf(stored: StoredSummary, now: number): ConversationSummary {
  const { id, namespace, name, position, state, lease, damage } = stored
  return {
    id,
    namespace,
    title: name ?? state.title,
    createdAt: new Date(stored.created).toISOString(),
    updatedAt: new Date(stored.updated).toISOString(),
    messages: state.messages,
    position,
    status: damage ? 'failed' : statusOf(state),
    openRun: state.openRun,
    queued: state.queued.length,
    agent: state.agent,
    branch: state.branch,
    lease: lease && { owner: lease.owner, expiresIn: lease.until - now },
    damage,
  }
}

/** Returns whether a run is open or messages wait for one. */
export function isDue({ openRun, queued }: SummaryState): boolean {
  return openRun !== null || queued.length > 0
}

function statusOf({ openRun, approvals, failed }: SummaryState): ConversationStatus {
  if (openRun !== null) return approvals.length > 0 ? 'waiting' : 'running'
  return failed ? 'failed' : 'idle'
}

function apply(state: SummaryState, event: ConversationEvent): void {
  switch (event.type) {
    case 'NEW_MESSAGE':
      addMessage(state, event)
      return
    case 'MESSAGE_DELETED':
      state.queued = without(state.queued, [event.messageId])
      return
    case 'BRANCH_STARTED':
      state.branch = branchIn(event)
      return
    case 'RUN_STARTED':
      state.openRun = event.runId
      state.agent = agentIn(event)
      state.failed = false
      state.queued = without(state.queued, event.messageIds)
      return
    case 'STEP_STARTED':
      state.queued = without(state.queued, event.messageIds)
      return
    case 'APPROVAL_REQUESTED':
      // A process has to run the caller of a sub-agent, also while the sub-agent waits.
      if (event.parentToolCallId !== undefined) return
      state.approvals = withOne(state.approvals, event.toolCallId)
      return
    case 'APPROVAL_ANSWERED':
      state.approvals = without(state.approvals, [event.toolCallId])
      return
    case 'RUN_FINISHED':
    case 'RUN_ERROR':
      if (state.openRun !== null && state.openRun !== event.runId) return
      state.failed = event.type === 'RUN_ERROR'
      state.openRun = null
      state.approvals = []
  }
}

function addMessage(state: SummaryState, event: ConversationEvent & { type: 'NEW_MESSAGE' }): void {
  state.messages++
  state.title ??= titleOf(event)
  if (event.deliver) {
    state.queued = withOne(state.queued, event.payload?.id)
    state.agent = agentIn(event) ?? state.agent
  }
  const answered = resultCall(Object(event.payload))
  if (answered !== null) state.approvals = without(state.approvals, [answered])
}

/** Returns the branch that an event or a row describes. Null if there is none, and for damaged fields. */
function branchIn({ root, from, at }: Record<string, unknown>): Branch | null {
  if (typeof root !== 'string' || typeof from !== 'string') return null
  return { root, from, at: typeof at === 'string' ? at : null }
}

function agentIn({ agent }: { agent?: unknown }): string | null {
  return typeof agent === 'string' ? agent : null
}

/** Returns the first line of a chat message, at most 80 characters; null without text. */
export function titleOf(event: ConversationEvent): string | null {
  const text = chatText(event)?.trim()
  if (!text) return null
  const line = (text.split('\n', 1)[0] ?? '').trimEnd().toWellFormed()
  return line.length > 80 ? `${line.slice(0, 79).replace(/[\ud800-\udbff]$/, '')}…` : line
}

function withOne(ids: readonly string[], id: unknown): readonly string[] {
  return typeof id !== 'string' || ids.includes(id) ? ids : [...ids, id]
}

function without(ids: readonly string[], removed: unknown): readonly string[] {
  if (ids.length === 0 || !Array.isArray(removed)) return ids
  const left = ids.filter((id) => !removed.includes(id))
  return left.length === ids.length ? ids : left
}

/**
 * Returns the text of a chat message: its content, or its text parts on separate lines. Null for any other event. Never
 * throws.
 */
export function chatText(event: ConversationEvent): string | null {
  if (event.type !== 'NEW_MESSAGE' || event.payload?.message_type !== 'chat') return null
  const { content, content_type } = event.payload
  if (typeof content === 'string') return String(content_type).startsWith('text/') ? content : null
  if (content_type !== 'multipart/mixed' || !Array.isArray(content)) return null
  return content
    .flatMap((part) =>
      part?.type === 'text' && typeof part.text === 'string' ? [part.text as string] : [],
    )
    .join('\n')
}

/** Folds the letter case of text for searches. NUL becomes another character, because SQLite skips it. */
export function foldCase(text: string): string {
  return text.toWellFormed().toLowerCase().replaceAll('ς', 'σ').replaceAll('\0', '\ufffd')
}
