import type { LogRecord } from '../content/events.ts'
import { isDurable } from '../content/events.ts'
import { newId } from '../content/new-id.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  openRunAfter,
  titleOf,
} from './conversation-log.ts'
import { listeners } from './listeners.ts'

interface Conversation {
  summary: ConversationSummary
  records: LogRecord[]
  debug: Map<string, string>
}

/** A log that lives as long as its process: for tests, scripts and agents that need no memory. */
export function createMemoryLog(): ConversationLog {
  const conversations = new Map<string, Conversation>()
  const subscribers = listeners()
  let position = 0
  let closed = false

  function open(): void {
    if (closed) throw new Error('The conversation log is closed')
  }

  function ensure(id: string): Conversation {
    let conversation = conversations.get(id)
    if (!conversation) {
      const now = new Date().toISOString()
      const summary = {
        id,
        title: null,
        createdAt: now,
        updatedAt: now,
        messages: 0,
        openRun: null,
      }
      conversation = { summary, records: [], debug: new Map() }
      conversations.set(id, conversation)
    }
    return conversation
  }

  return {
    async create(id = newId()) {
      open()
      ensure(id)
      return id
    },
    async find(id) {
      open()
      const found = conversations.get(id)
      return found ? { ...found.summary } : null
    },
    async list() {
      open()
      // Later changed first; of those changed in one millisecond the one with the later record.
      return [...conversations.values()]
        .sort((a, b) => lastPosition(b) - lastPosition(a))
        .sort((a, b) => compare(b.summary.updatedAt, a.summary.updatedAt))
        .map(({ summary }) => ({ ...summary }))
    },
    async append(id, events, options = {}) {
      open()
      const bad = events.find((event) => !isDurable(event))
      if (bad) throw new TypeError(`${bad.type} is not durable and has no place in the log`)
      // A copy through JSON: what is stored is what other logs would store, and cannot change afterwards.
      const copies = JSON.parse(JSON.stringify(events)) as typeof events
      const debug = Object.entries(options.debug ?? {}).map(
        ([message, value]) => [message, JSON.stringify(value)] as const,
      )
      const conversation = ensure(id)
      const timestamp = new Date().toISOString()
      const records = copies.map((event) => ({ position: ++position, timestamp, event }))
      conversation.records.push(...records)
      for (const [message, value] of debug) conversation.debug.set(message, value)
      const { summary } = conversation
      summary.title ??= titleOf(events)
      summary.updatedAt = timestamp
      summary.messages += events.filter((event) => event.type === 'NEW_MESSAGE').length
      summary.openRun = openRunAfter(events, summary.openRun)
      subscribers.tell(id, records)
      return records
    },
    async read(id, { after = 0, limit = 500 } = {}) {
      open()
      const records = conversations.get(id)?.records ?? []
      const start = firstBehind(records, after)
      return records.slice(start, start + limit)
    },
    async debug(id, messageId) {
      open()
      const value = conversations.get(id)?.debug.get(messageId)
      return value === undefined ? null : JSON.parse(value)
    },
    subscribe: subscribers.add,
    async close() {
      closed = true
    },
  }
}

function lastPosition({ records }: Conversation): number {
  return records.at(-1)?.position ?? 0
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Binary search: the index of the first record whose position is greater than `after`. */
function firstBehind(records: readonly LogRecord[], after: number): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((records[middle] as LogRecord).position <= after) low = middle + 1
    else high = middle
  }
  return low
}
