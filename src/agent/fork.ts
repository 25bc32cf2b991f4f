import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold } from '../core/events/fold.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { newId } from '../core/new-id.ts'
import { runEnd } from '../engine/follow-up.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'

/** Where a fork starts, and its id. */
export interface ForkOptions {
  /** The id of the last message that both conversations share. Default: the whole conversation. */
  at?: string
  /** The new conversation's id. Default: a generated id. */
  id?: string
}

/**
 * Copies a conversation up to and including a message. A run that is open at that point is cancelled in the
 * fork. Messages that wait for a run are left out. Asset bodies are shared, and debug data is copied.
 *
 * @throws ByrefError `conversation_not_found`, `message_not_found`, `conversation_exists`
 */
export async function forkConversation(
  log: ConversationLog,
  conversation: string,
  { at, id = newId() }: ForkOptions = {},
): Promise<string> {
  if (!(await log.find(conversation))) {
    throw new ByrefError('conversation_not_found', `There is no conversation "${conversation}"`)
  }
  if (await log.find(id)) {
    throw new ByrefError('conversation_exists', `Conversation "${id}" already exists`)
  }
  const { events, found } = await sharedEvents(log, conversation, at)
  if (at !== undefined && !found) {
    throw new ByrefError(
      'message_not_found',
      `There is no message "${at}" in the conversation "${conversation}"`,
    )
  }
  const debug = await debugOf(log, conversation, events)
  const deletions = deletionsIn(events, await log.deleted(conversation))
  await log.append(id, [...events, ...deletions], { after: 0, debug })
  return id
}

/** Deletes, in the fork too, the messages that were deleted later. */
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

/** Returns the events up to the message, without waiting messages. Adds the end of an open run. */
async function sharedEvents(
  log: ConversationLog,
  conversation: string,
  at: string | undefined,
): Promise<{ events: ConversationEvent[]; found: boolean }> {
  const folding = createFold()
  const events: ConversationEvent[] = []
  let found = false
  for await (const record of readAll(log, conversation)) {
    const { event } = record as LogRecord
    folding.apply(record)
    events.push(event)
    found = event.type === 'NEW_MESSAGE' && event.payload.id === at
    if (found) break
  }
  const { inbox } = folding.state
  const waiting = new Set(inbox.map(({ message }) => message.id))
  const kept = events.filter(
    (event) => event.type !== 'NEW_MESSAGE' || !waiting.has(event.payload.id),
  )
  const run = openRun(folding.state)
  if (run) kept.push(runEnd(conversation, run, 'cancelled'))
  return { events: kept, found }
}

async function debugOf(
  log: ConversationLog,
  conversation: string,
  events: readonly ConversationEvent[],
): Promise<Record<string, unknown>> {
  const debug: Record<string, unknown> = {}
  for (const event of events) {
    if (event.type !== 'NEW_MESSAGE' || !readMetadata(event.payload).hasDebug) continue
    const value = await log.debug(conversation, event.payload.id)
    if (value === null) continue
    debug[event.payload.id] = value
    const { settings } = Object(value) as { settings?: unknown }
    if (typeof settings !== 'string' || settings in debug) continue
    debug[settings] = await log.debug(conversation, settings)
  }
  return debug
}
