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
  if (after !== undefined) return newer(read, Math.min(after, end), limit)
  const page = await older(read, Math.min(before ?? end + 1, end + 1), limit)
  const isLast = before === undefined || before > end || !(await hasMessage(read, before - 1))
  return { ...page, newer: isLast ? null : (page.messages.at(-1)?.position ?? before - 1) }
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
  let hasNewer = false
  for (let position: number | null = after; position !== null && !hasNewer; ) {
    const { entries, last } = await read(position, STRIDE)
    hasNewer = messages.push(...entries) > limit
    position = last
  }
  messages.splice(limit)
  const first = messages[0]?.position ?? after + 1
  const { messages: before } = await older(read, first, 1)
  return {
    messages,
    older: before.length > 0 ? first : null,
    newer: hasNewer ? (messages.at(-1)?.position ?? null) : null,
  }
}

/** Returns the last messages before a position. */
async function older(
  read: Read,
  before: number,
  limit: number,
): Promise<Pick<Page, 'messages' | 'older'>> {
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
  const messages = found.flat().slice(-limit)
  return { messages, older: count > limit ? (messages[0]?.position ?? null) : null }
}

/** Whether there is a message after a position. */
async function hasMessage(read: Read, after: number): Promise<boolean> {
  for (let position: number | null = after; position !== null; ) {
    const { entries, last } = await read(position, STRIDE)
    if (entries.length > 0) return true
    position = last
  }
  return false
}

function entryOf({ position, event }: LogRecord): Entry | null {
  return event.type === 'NEW_MESSAGE' ? { position, message: event.payload } : null
}
