import type { Message } from 'byref/client'
import { isRecord } from '../../ui/is-record.ts'

/** The metadata that the app and the engine read, or that the engine writes. */
const KNOWN = new Set([
  'attribution',
  'href',
  'footer_items',
  'tool_calls',
  'tool_result',
  'attachments',
  'reasoning',
  'has_debug_data',
  'incomplete',
  'debug',
])

/** Returns the keys of a message's metadata that have no effect. */
export function unknownKeys({ metadata }: Message): string[] {
  return isRecord(metadata) ? Object.keys(metadata).filter((key) => !KNOWN.has(key)) : []
}
