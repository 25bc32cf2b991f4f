import type { z } from 'zod'
import type { LogRecord } from '../../content/events.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { messagesPage } from '../../wire/messages.ts'

type Page = z.infer<typeof messagesPage>
type Entry = Page['messages'][number]

/** Which messages: those behind `after`, or the last ones before `before`; without either the last ones. */
export interface PageOfMessages {
  after?: number
  before?: number
  limit: number
  /** Of the last record. */
  end: number
}

/** Records that are read at once. */
const STRIDE = 500

/**
 * A page of the messages of a conversation. Cursors are positions in its log: whatever is appended, deleted or forked
 * meanwhile, what stands before and behind them stays the same.
 */
export async function pageOfMessages(
  log: ConversationLog,
  id: string,
  { after, before, limit, end }: PageOfMessages,
): Promise<Page> {
  return after === undefined
    ? older(log, id, Math.min(before ?? end + 1, end + 1), limit)
    : newer(log, id, after, limit)
}

async function newer(
  log: ConversationLog,
  id: string,
  after: number,
  limit: number,
): Promise<Page> {
  const messages: Entry[] = []
  let position = after
  for (;;) {
    const records = await log.read(id, { after: position, limit: STRIDE })
    for (const record of records) {
      const entry = entryOf(record)
      if (!entry) continue
      if (messages.length === limit) return paged(messages, messages.at(-1)?.position ?? null)
      messages.push(entry)
    }
    if (records.length < STRIDE) return paged(messages, null)
    position = records.at(-1)?.position ?? position
  }
}

async function older(
  log: ConversationLog,
  id: string,
  before: number,
  limit: number,
): Promise<Page> {
  const found: Entry[][] = []
  let count = 0
  let end = before
  while (end > 1 && count <= limit) {
    const after = Math.max(0, end - 1 - STRIDE)
    const records = await log.read(id, { after, limit: end - 1 - after })
    const entries = records.flatMap((record) => entryOf(record) ?? [])
    found.unshift(entries)
    count += entries.length
    end = after + 1
  }
  const all = found.flat()
  const messages = all.slice(-limit)
  const hasOlder = all.length > messages.length
  const last = await hasMessageFrom(log, id, before)
  return {
    messages,
    older: hasOlder ? (messages[0]?.position ?? null) : null,
    newer: last ? (messages.at(-1)?.position ?? before - 1) : null,
  }
}

function paged(messages: Entry[], newer: number | null): Page {
  const first = messages[0]?.position
  return { messages, older: first !== undefined && first > 1 ? first : null, newer }
}

async function hasMessageFrom(
  log: ConversationLog,
  id: string,
  position: number,
): Promise<boolean> {
  let after = position - 1
  for (;;) {
    const records = await log.read(id, { after, limit: STRIDE })
    if (records.some((record) => entryOf(record) !== null)) return true
    if (records.length < STRIDE) return false
    after = records.at(-1)?.position ?? after
  }
}

function entryOf({ position, event }: LogRecord): Entry | null {
  return event.type === 'NEW_MESSAGE' ? { position, message: event.payload as never } : null
}
