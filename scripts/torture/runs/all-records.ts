import type { LogRecord } from '../../../src/core/events/events.ts'
import { type ConversationLog, readAll } from '../../../src/log/conversation-log.ts'

/** Returns all records of a conversation. */
export async function allRecords(log: ConversationLog, conversation: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of readAll(log, conversation)) records.push(record)
  return records
}
