import type { z } from 'zod'
import type { LogRecord } from '../../core/events/events.ts'
import type { Message } from '../../core/messages/message.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { messagesPage } from '../../wire/messages.ts'

/** A message as it is stored, and its position in the log. */
type Entry = Pick<LogRecord, 'position'> & { message: Message }

type Page = Omit<z.infer<typeof messagesPage>, 'messages'> & { messages: Entry[] }

/** Selects messages: those after `after`, or the last ones before `before`. By default, the last ones. */
export interface PageOfMessages {
  after?: number
  before?: number
  limit: number
  /** The position of the last record. */
  end: number
}

/** Number of records that are read at once. */
const STRIDE = 500

/**
 * Returns a page of the messages of a conversation, without deleted ones. Cursors are positions in its log, so appends,
 * deletions and forks do not move them.
 */
export async function pageOfMessages(
  log: ConversationLog,
  id: string,
  { after, before, limit, end }: PageOfMessages,
): Promise<Page> {
  const read = reader(log, id, new Set(await log.deleted(id)))
  return after === undefined
    ? older(read, Math.min(before ?? end + 1, end + 1), limit)
    : newer(read, after, limit)
}

/** The messages among some records, and the position of the last record; null at the end of the log. */
type Read = (after: number, limit: number) => Promise<{ entries: Entry[]; last: number | null }>

function reader(log: ConversationLog, id: string, deleted: ReadonlySet<string>): Read {
  return async (after, limit) => {
    const records = await log.read(id, { after, limit })
    const entries = records.flatMap((record) => entryOf(record) ?? [])
    const isEnd = records.length < limit
    return {
      entries: entries.filter(({ message }) => !deleted.has(message.id)),
      last: isEnd ? null : (records.at(-1)?.position ?? null),
    }
  }
}

async function newer(read: Read, after: number, limit: number): Promise<Page> {
  const messages: Entry[] = []
  for (let position: number | null = after; position !== null; ) {
    const { entries, last } = await read(position, STRIDE)
    for (const entry of entries) {
      if (messages.length === limit) return paged(messages, messages.at(-1)?.position ?? null)
      messages.push(entry)
    }
    position = last
  }
  return paged(messages, null)
}

async function older(read: Read, before: number, limit: number): Promise<Page> {
  const found: Entry[][] = []
  let count = 0
  let end = before
  while (end > 1 && count <= limit) {
    const after = Math.max(0, end - 1 - STRIDE)
    const { entries } = await read(after, end - 1 - after)
    found.unshift(entries)
    count += entries.length
    end = after + 1
  }
  const all = found.flat()
  const messages = all.slice(-limit)
  const hasOlder = all.length > messages.length
  const hasNewer = await hasMessageFrom(read, before)
  return {
    messages,
    older: hasOlder ? (messages[0]?.position ?? null) : null,
    newer: hasNewer ? (messages.at(-1)?.position ?? before - 1) : null,
  }
}

function paged(messages: Entry[], newer: number | null): Page {
  const first = messages[0]?.position
  return { messages, older: first !== undefined && first > 1 ? first : null, newer }
}

async function hasMessageFrom(read: Read, before: number): Promise<boolean> {
  for (let after: number | null = before - 1; after !== null; ) {
    const { entries, last } = await read(after, STRIDE)
    if (entries.length > 0) return true
    after = last
  }
  return false
}

function entryOf({ position, event }: LogRecord): Entry | null {
  return event.type === 'NEW_MESSAGE' ? { position, message: event.payload } : null
}
