import { createHash } from 'node:crypto'
import type { Message } from '../../../src/core/messages/message.ts'

/** What one process did, and what each conversation is to it: a digest of its messages. */
export interface ProcessReport {
  counts: Record<'runs' | 'messages' | 'approvals' | 'cancels' | 'resumes', number>
  digests: Record<string, string>
}

/** A digest of messages, the same for the same. */
export function digestOf(messages: readonly Message[]): string {
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex')
}
