import { defined } from '../core/defined.ts'
import { ByrefError, OptionError } from '../core/errors.ts'
import { emptyConversation, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { writerOf } from '../core/messages/data-block.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { resultCall } from '../core/messages/results.ts'
import { newId } from '../core/new-id.ts'
import { runEnd } from '../engine/run-entries.ts'
import { type ConversationLog, notFoundError, readAll } from '../log/conversation-log.ts'
import { debugLine, END_LINE, headerLine, recordLine } from '../log/read-lines.ts'

/** Options of `agent.fork`: what is copied, and the id of the copy. */
export interface ForkOptions {
  /** The id of the last message that both conversations share. Default: the whole conversation. */
  at?: string
  /** The id of the first message that is left out. Use it in place of `at`. */
  before?: string
  /** The new conversation's id. Default: a generated id. */
  id?: string
  /**
   * Whether the fork is another version of the same conversation, as after "try again", and not one of its own.
   * Its summary then has a `branch`. Default false.
   */
  branch?: boolean
}

/**
 * Copies a conversation up to and including a message. A run that is open at that point is cancelled in the fork.
 * Messages that wait for a run are left out. Asset bodies are shared, and debug data is copied. Copied runs say so
 * (`copiedFrom`), so that their cost counts only once.
 *
 * @throws ByrefError `conversation_not_found`, `message_not_found`, `conversation_exists`; `config_invalid` for
 *   both `at` and `before`
 */
export async function forkConversation(
  log: ConversationLog,
  conversation: string,
  { at, before, id = newId(), branch = false }: ForkOptions = {},
): Promise<string> {
  if (at !== undefined && before !== undefined) {
    throw new OptionError('fork takes either "at" or "before", not both')
  }
  const summary = await log.find(conversation)
  if (!summary) throw notFoundError(conversation)
  if (await log.find(id)) {
    throw new ByrefError('conversation_exists', `Conversation "${id}" already exists`)
  }
  const records: LogRecord[] = []
  for await (const record of readAll(log, conversation)) records.push(record)
  const cut = cutAt(records, { at, before })
  if (!cut) {
    throw new ByrefError(
      'message_not_found',
      `There is no message "${at ?? before}" in the conversation "${conversation}"`,
    )
  }
  const shared = sharedEvents(conversation, cut).map(({ at, event }) => ({
    at,
    event: event.type === 'RUN_STARTED' ? { copiedFrom: conversation, ...event } : event,
  }))
  const timed = branch
    ? withBranchStart(shared, records, { conversation, root: summary.branch?.root ?? conversation })
    : shared.filter(({ event }) => event.type !== 'BRANCH_STARTED')
  const events = timed.map(({ event }) => event)
  const debug = await debugOf(log, conversation, events)
  const deletions = deletionsIn(events, await log.deleted(conversation)).map(now)
  const title = branch ? await titleByPerson(log, conversation) : null
  // An append would set all times to now, and runs would have taken no time.
  return log.import(linesOf({ id, title }, [...timed, ...deletions], debug), { id })
}

/**
 * Returns the title that a person gave to the conversation; null if nobody did. The title of a summary may also come
 * from a message.
 */
async function titleByPerson(log: ConversationLog, conversation: string): Promise<string | null> {
  for await (const lines of log.export(conversation)) {
    const [header = ''] = lines.split('\n', 1)
    return (JSON.parse(header) as { title: string | null }).title
  }
  return null
}

/** An event and its time, in milliseconds since 1970. */
interface TimedEvent {
  at: number
  event: ConversationEvent
}

function now(event: ConversationEvent): TimedEvent {
  return { at: Date.now(), event }
}

/** Yields the lines of a conversation. */
function* linesOf(
  { id, title }: { id: string; title: string | null },
  events: readonly TimedEvent[],
  debug: Readonly<Record<string, unknown>>,
): Generator<string> {
  const created = Date.now()
  yield headerLine({ id, title, created, updated: created })
  for (const [i, { at, event }] of events.entries()) {
    yield recordLine(i + 1, at, JSON.stringify(event))
  }
  for (const [message, value] of Object.entries(debug)) {
    yield debugLine(message, JSON.stringify(value))
  }
  yield END_LINE
}

/** The shared part of a log. */
interface Cut {
  records: readonly LogRecord[]
  /** The queued messages that became part of the conversation with the next record, and are shared. */
  delivered: readonly string[]
}

/** Returns the shared part; null if the message is not found. */
function cutAt(
  records: readonly LogRecord[],
  { at, before }: Pick<ForkOptions, 'at' | 'before'>,
): Cut | null {
  if (at === undefined && before === undefined) return { records, delivered: [] }
  const queued = new Set<string>()
  for (const [index, { event }] of records.entries()) {
    if (event.type === 'NEW_MESSAGE' && event.deliver) queued.add(event.payload.id)
    else if (event.type === 'NEW_MESSAGE') {
      const { id } = event.payload
      if (id === at) return cutInOrder(records, { id, isShared: true, index })
      if (id === before) return cutInOrder(records, { id, isShared: false, index })
    } else if (event.type === 'RUN_STARTED' || event.type === 'STEP_STARTED') {
      const ids = (event.messageIds ?? []).filter((id) => queued.delete(id))
      const last = ids.findIndex((id) => id === at || id === before)
      if (last === -1) continue
      const delivered = ids.slice(0, at === undefined ? last : last + 1)
      return { records: records.slice(0, index), delivered }
    }
  }
  return before !== undefined && queued.has(before) ? { records, delivered: [] } : null
}

/**
 * Returns the part up to a message in the order of the conversation. A call can end while the model is still answering.
 * Its result and its data are then logged before the answer, and come after it in the conversation.
 */
function cutInOrder(
  records: readonly LogRecord[],
  { id, isShared, index }: { id: string; isShared: boolean; index: number },
): Cut {
  const order = foldAll(emptyConversation, records).messages.map((message) => message.id)
  const count = order.indexOf(id) + (isShared ? 1 : 0)
  const shared = new Map(order.slice(0, count).map((one, rank) => [one, rank]))
  const last = records.findLastIndex(
    ({ event }) => isDelivered(event) && shared.has(event.payload.id),
  )
  const end = Math.max(endOfMessage(records, last), isShared ? 0 : startOfMessage(records, index))
  const part = records.slice(0, end)
  const isLater = ({ event }: LogRecord): boolean =>
    isDelivered(event) && !shared.has(event.payload.id)
  // The assets and usage of a call belong to its messages.
  const laterCalls = new Set(records.filter(isLater).map(({ event }) => callOf(event)))
  for (const record of part) if (!isLater(record)) laterCalls.delete(callOf(record.event))
  const isLeftOut = (record: LogRecord): boolean => {
    const { event } = record
    if (event.type !== 'ASSET_CREATED') return isLater(record)
    const { toolCallId } = event.payload
    return toolCallId !== undefined && laterCalls.has(toolCallId)
  }
  const kept = part.filter((record) => !isLeftOut(record))
  return { records: movedBehindAnswers(kept, shared), delivered: [] }
}

/**
 * Moves results and data behind the answer that they belong to, because a fork may have the data without the result.
 */
function movedBehindAnswers(
  records: readonly LogRecord[],
  ranks: ReadonlyMap<string, number>,
): readonly LogRecord[] {
  const rankOf = ({ event }: LogRecord): number =>
    isDelivered(event) ? (ranks.get(event.payload.id) ?? Infinity) : Infinity
  /** For each record, the smallest conversation index of the messages after it. */
  const reversed: number[] = []
  let first = Infinity
  for (const record of records.toReversed()) {
    reversed.push(first)
    first = Math.min(first, rankOf(record))
  }
  const ordered: LogRecord[] = []
  let waiting: LogRecord[] = []
  for (const [i, record] of records.entries()) {
    const after = reversed.at(-1 - i) as number
    if (isDelivered(record.event) && rankOf(record) > after) {
      waiting.push(record)
      continue
    }
    ordered.push(record, ...waiting.filter((one) => rankOf(one) < after))
    waiting = waiting.filter((one) => rankOf(one) > after)
  }
  return ordered
}

/** Whether the event adds a message to the conversation at once. */
function isDelivered(event: ConversationEvent): event is NewMessage {
  return event.type === 'NEW_MESSAGE' && event.deliver === undefined
}

/** Returns the call whose result or data a message is; null for other events. */
function callOf(event: ConversationEvent): string | null {
  if (event.type !== 'NEW_MESSAGE') return null
  return resultCall(event.payload) ?? writerOf(event.payload)
}

/** The events that end a step or a run. */
const ENDS: ReadonlySet<string> = new Set(['STEP_FINISHED', 'RUN_FINISHED', 'RUN_ERROR'])

/** Returns the end of what belongs to a message: of its step and its run, if they end with it. */
function endOfMessage(records: readonly LogRecord[], index: number): number {
  let end = index + 1
  while (ENDS.has(records[end]?.event.type ?? '')) end++
  return end
}

/** Returns the start of what belongs to a message: the files that came with it precede it. */
function startOfMessage(records: readonly LogRecord[], index: number): number {
  let end = index
  for (; end > 0; end--) {
    const event = records[end - 1]?.event
    if (event?.type !== 'ASSET_CREATED' || event.payload.by !== 'user') return end
  }
  return end
}

/** Returns the shared events, without waiting messages. Adds the end of an open run. */
function sharedEvents(conversation: string, { records, delivered }: Cut): TimedEvent[] {
  const state = foldAll(emptyConversation, records)
  const waiting = new Set(state.inbox.map(({ message }) => message.id))
  const isWaiting = (event: ConversationEvent): event is NewMessage =>
    event.type === 'NEW_MESSAGE' && waiting.has(event.payload.id)
  const events = records.map(({ timestamp, event }) => ({ at: Date.parse(timestamp), event }))
  const run = openRun(state)
  const end = events.at(-1)?.at ?? Date.now()
  return [
    ...events.filter(({ event }) => !isWaiting(event)),
    ...(run ? [{ at: end, event: runEnd(conversation, run, 'cancelled') }] : []),
    ...events.flatMap(({ at, event }) => {
      if (!isWaiting(event) || !delivered.includes(event.payload.id)) return []
      return { at, event: defined({ ...event, ...NOT_QUEUED }) }
    }),
  ]
}

/** Without the fields of a message that waits for a run, or for a step of one. */
const NOT_QUEUED = {
  deliver: undefined,
  runId: undefined,
  agent: undefined,
  context: undefined,
  overrides: undefined,
}

type NewMessage = Extract<ConversationEvent, { type: 'NEW_MESSAGE' }>
type BranchStarted = Extract<ConversationEvent, { type: 'BRANCH_STARTED' }>

/**
 * Adds the start of the branch. Its origin is the conversation in which the last shared message was written. All
 * branches that begin after the same message therefore have the same origin.
 */
function withBranchStart(
  shared: readonly TimedEvent[],
  records: readonly LogRecord[],
  { conversation, root }: { conversation: string; root: string },
): TimedEvent[] {
  const at = shared.map(({ event }) => event).findLast((one) => one.type === 'NEW_MESSAGE')
    ?.payload.id
  const isLast = (event: ConversationEvent): boolean =>
    event.type === 'NEW_MESSAGE' && event.payload.id === at
  const isStart = (event: ConversationEvent): event is BranchStarted =>
    event.type === 'BRANCH_STARTED'
  const origin = records.slice(1 + records.findIndex(({ event }) => isLast(event)))
  const from = origin.map(({ event }) => event).find(isStart)?.from ?? conversation
  const end = shared.findIndex(({ event }) => isLast(event))
  return [
    ...shared.filter(({ event }, index) => index < end || !isStart(event)),
    now(defined({ type: 'BRANCH_STARTED', root, from, at })),
  ]
}

/** Returns events that delete, in the fork too, the messages that were deleted later. */
function deletionsIn(
  events: readonly ConversationEvent[],
  deleted: readonly string[],
): ConversationEvent[] {
  const open = new Set<string>()
  for (const event of events) {
    if (event.type === 'NEW_MESSAGE') open.add(event.payload.id)
    if (event.type === 'MESSAGE_DELETED') open.delete(event.messageId)
  }
  return deleted
    .filter((id) => open.has(id))
    .map((messageId) => ({ type: 'MESSAGE_DELETED', messageId }))
}

async function debugOf(
  log: ConversationLog,
  conversation: string,
  events: readonly ConversationEvent[],
): Promise<Record<string, unknown>> {
  const debug: Record<string, unknown> = {}
  for (const event of events) {
    const key = debugKeyOf(event)
    if (key === undefined || key in debug) continue
    const value = await log.debug(conversation, key)
    if (value !== null) debug[key] = value
  }
  return debug
}

/** Returns the key of an event's debug data: a message's id, or the name of a run's settings. */
function debugKeyOf(event: ConversationEvent): string | undefined {
  if (event.type === 'RUN_STARTED' || event.type === 'RUN_CLAIMED') return event.settings
  const isNoted = event.type === 'NEW_MESSAGE' && readMetadata(event.payload).hasDebug
  return isNoted ? event.payload.id : undefined
}
