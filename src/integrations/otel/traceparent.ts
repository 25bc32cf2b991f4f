import { isSpanContextValid, type SpanContext } from '@opentelemetry/api'
import { isPlainObject } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'

/** The metadata key with the span in which a message was sent, in the form of W3C Trace Context. */
const KEY = 'traceparent'

const FORM = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/**
 * Puts the span into the metadata of the first message, so that the run continues its trace in any process. Without a span, an
 * existing one is removed.
 */
export function withTraceparent<Messages>(messages: Messages, span: SpanContext | null): Messages {
  if (!Array.isArray(messages)) return messages
  const [first, ...rest] = messages
  const { metadata = {} } = Object(first)
  // The agent rejects invalid messages.
  if (!isPlainObject(first) || !isPlainObject(metadata)) return messages
  const { [KEY]: before, ...others } = metadata
  const parent = span && isSpanContextValid(span) ? { [KEY]: formatTraceparent(span) } : {}
  if (before === undefined && !(KEY in parent)) return messages
  return [{ ...first, metadata: { ...others, ...parent } }, ...rest] as Messages
}

/** Returns the span in which a message was sent, or null. */
export function traceparentOf(message: Message | undefined): SpanContext | null {
  const metadata: unknown = message?.metadata
  const value = isPlainObject(metadata) ? metadata[KEY] : null
  const [, traceId, spanId, flags] = (typeof value === 'string' && FORM.exec(value)) || []
  if (!traceId || !spanId || !flags) return null
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return isSpanContextValid(span) ? span : null
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}
