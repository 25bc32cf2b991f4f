import { checkMethods } from '../check-options.ts'
import { newId } from '../content/new-id.ts'
import { leaseAfter } from './admit.ts'
import {
  checkId,
  checkLease,
  checkLimit,
  checkNamespace,
  checkPosition,
  checkTitle,
  LOG_METHODS,
} from './check-arguments.ts'
import type { ConversationLog } from './conversation-log.ts'
import { type Listeners, listeners } from './listeners.ts'
import { closedError, existsError, notFoundError } from './log-errors.ts'
import { collectLines } from './memory/collect-lines.ts'
import { exportLines } from './memory/export-lines.ts'
import { listPage } from './memory/list-page.ts'
import { memoryAppend } from './memory/memory-append.ts'
import { type MemoryConversation, newConversation } from './memory/memory-conversation.ts'
import { summaryOf } from './summary.ts'

/** What the logs of all namespaces share. */
interface Storage {
  conversations: Map<string | null, Map<string, MemoryConversation>>
  subscribers: Listeners
  closed: boolean
}

/**
 * A log that lives as long as its process: for tests, scripts and agents that need no memory. Records are shared by all
 * who read them: do not change them.
 */
export function createMemoryLog(): ConversationLog {
  return logOf({ conversations: new Map(), subscribers: listeners(), closed: false }, null)
}

function logOf(storage: Storage, namespace: string | null): ConversationLog {
  const { conversations, subscribers } = storage
  const own = conversations.get(namespace) ?? new Map<string, MemoryConversation>()
  conversations.set(namespace, own)

  function find(id: string): MemoryConversation | undefined {
    if (storage.closed) throw closedError()
    return own.get(id)
  }

  function make(id: string, now: number): MemoryConversation {
    const made = newConversation(id, namespace, now)
    own.set(id, made)
    return made
  }

  const log: ConversationLog = {
    namespace,
    scoped: (other) => logOf(storage, checkNamespace(other)),
    async create(id = newId()) {
      if (find(checkId(id))) return id
      make(id, Date.now())
      subscribers.tell({ conversation: id, namespace, records: [] })
      return id
    },
    async find(id) {
      const found = find(id)
      return found ? summaryOf(found, Date.now()) : null
    },
    async list(options = {}) {
      if (storage.closed) throw closedError()
      const all = options.allNamespaces ? [...conversations.values()] : [own]
      return listPage(
        all.flatMap((some) => [...some.values()]),
        options,
      )
    },
    async append(id, events, options) {
      checkId(id)
      const target = { id, find: () => find(id), make: (now: number) => make(id, now) }
      const records = memoryAppend(target, events, options)
      if (records.length > 0) subscribers.tell({ conversation: id, namespace, records })
      return records
    },
    async renew(id, lease) {
      const found = find(id)
      checkLease(lease)
      if (found?.lease?.owner !== lease.owner) return false
      found.lease = leaseAfter(found.lease, lease, Date.now())
      return true
    },
    async read(id, { after = 0, limit = 500 } = {}) {
      const start = checkPosition(after)
      const end = start + checkLimit(limit)
      return find(id)?.records.slice(start, end) ?? []
    },
    async deleted(id) {
      return [...(find(id)?.deleted ?? [])]
    },
    async debug(id, messageId) {
      const value = find(id)?.debug.get(messageId)
      return value === undefined ? null : JSON.parse(value)
    },
    async rename(id, title) {
      const name = checkTitle(title)
      const found = find(id)
      if (!found) return false
      found.name = name
      subscribers.tell({ conversation: id, namespace, records: [] })
      return true
    },
    async delete(id) {
      if (!find(id)) return false
      own.delete(id)
      subscribers.tell({ conversation: id, namespace, records: [], deleted: true })
      return true
    },
    async *export(id) {
      const found = find(id)
      if (!found) throw notFoundError(id)
      yield* exportLines(found)
    },
    async import(lines, { id: wanted } = {}) {
      if (wanted !== undefined && find(checkId(wanted))) throw existsError(wanted)
      const imported = await collectLines(lines, namespace)
      const id = wanted ?? imported.id
      if (find(id)) throw existsError(id)
      own.set(id, { ...imported, id })
      subscribers.tell({ conversation: id, namespace, records: [] })
      return id
    },
    subscribe(listener, options) {
      if (storage.closed) throw closedError()
      return subscribers.add(listener, { ...options, namespace })
    },
    async close() {
      storage.closed = true
    },
  }
  return checkMethods('log', log, LOG_METHODS)
}
