import { createHash } from 'node:crypto'
import type { Message } from '../../../src/core/messages/message.ts'

/** What one process did, and its view of each conversation: a digest of the messages. */
export interface ProcessReport {
  counts: Record<'runs' | 'messages' | 'approvals' | 'cancels' | 'resumes', number>
  digests: Record<string, string>
}

/** Returns a digest of messages. It is equal for equal messages. */
export function digestOf(messages: readonly Message[]): string {
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex')
}
