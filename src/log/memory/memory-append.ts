import type { ConversationEvent, LogRecord } from '../../content/events.ts'
import { admit, checkAppend, leaseAfter } from '../admit.ts'
import type { AppendOptions } from '../conversation-log.ts'
import { logEntry } from '../copy-event.ts'
import { deletedBy, stateAfter } from '../summary.ts'
import { deleteMessages } from './delete-messages.ts'
import type { MemoryConversation } from './memory-conversation.ts'

/** Appends to the conversation that `find` gives, or else to the one that `make` makes, all or nothing. */
export function memoryAppend(
  { id, find, make }: Target,
  events: readonly ConversationEvent[],
  options: AppendOptions = {},
): LogRecord[] {
  checkAppend(options)
  const { events: copies, debug } = logEntry(events, options.debug)
  const now = Date.now()
  const found = find()
  const missed = (after: number): LogRecord[] => found?.records.slice(after) ?? []
  admit(id, found ?? null, { ...options, now, missed })
  const conversation = found ?? make(now)
  conversation.lease = leaseAfter(conversation.lease, options.lease, now)
  for (const [message, value] of debug) {
    conversation.debug.set(message, value)
    conversation.kept.delete(message)
  }
  return copies.length > 0 ? store(conversation, copies, now) : []
}

/** Where an append goes. */
interface Target {
  id: string
  find(): MemoryConversation | undefined
  make(now: number): MemoryConversation
}

function store(
  conversation: MemoryConversation,
  events: readonly ConversationEvent[],
  now: number,
): LogRecord[] {
  const timestamp = new Date(now).toISOString()
  const records = events.map((event): LogRecord => {
    return { v: 1, position: ++conversation.position, timestamp, event }
  })
  for (const record of records) conversation.records.push(record)
  conversation.updated = now
  conversation.state = stateAfter(conversation.state, events)
  deleteMessages(conversation, deletedBy(events))
  return records
}
