import type { ConversationEvent } from '../core/events/events.ts'
import { isPlainObject, putKey } from '../core/json/json.ts'
import { redact } from './redact.ts'

/** An event without its debug data, and the redacted debug data with the id of their message. */
export interface SplitDebug {
  event: ConversationEvent
  debug: [message: string, value: unknown] | null
}

/**
 * Replaces `metadata.debug` of a message by `has_debug_data`. Other events are returned unchanged. Empty debug data are dropped,
 * and so are those of a message without an id, because nobody could read them.
 */
export function splitDebug(event: ConversationEvent): SplitDebug {
  const payload: unknown = event.type === 'NEW_MESSAGE' ? event.payload : null
  const metadata = isPlainObject(payload) ? payload.metadata : null
  if (!isPlainObject(payload) || !isPlainObject(metadata) || !Object.hasOwn(metadata, 'debug')) {
    return { event, debug: null }
  }
  const { id } = payload
  const { debug: value } = metadata
  const hasDebug = typeof id === 'string' && !isEmpty(value)
  const split = { ...event, payload: { ...payload, metadata: withoutDebug(metadata, hasDebug) } }
  return { event: split as ConversationEvent, debug: hasDebug ? [id, redact(value)] : null }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === undefined || value === ''
}

/** Returns the metadata with the same order of keys. */
function withoutDebug(
  metadata: Record<string, unknown>,
  hasDebug: boolean,
): Record<string, unknown> {
  const rest: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(metadata)) {
    if (key !== 'debug') putKey(rest, key, value)
    if (hasDebug && (key === 'debug' || key === 'has_debug_data')) rest.has_debug_data = true
  }
  return rest
}
