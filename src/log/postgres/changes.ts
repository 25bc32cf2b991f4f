import type { ConversationEvent } from '../../core/events/events.ts'
import type { Place } from '../conversation-row.ts'

/** What a process notifies the others of, after it was stored. */
export type Change = Place & { key: number } & (
    | { kind: 'appended'; from: number; to: number }
    | { kind: 'made'; position: number; notice: number | null }
    | { kind: 'renamed'; notice: number }
    | { kind: 'deleted'; notice: number }
  )

/** Events that are not durable, of one conversation. */
export interface Streamed extends Place {
  events: ConversationEvent[]
}

/** PostgreSQL takes less than 8,000 bytes. */
const MAX_BYTES = 7_900
/** What stands around the items of a payload. */
const AROUND = 120

/** What is sent in one notification. */
export interface Payload<T> {
  /** The log object that it comes from. */
  by: string
  items: T[]
}

/** Items as few payloads, in order; those that are too long for any are left out. */
export function payloadsOf(by: string, number: () => number, items: readonly unknown[]): string[] {
  const payloads: string[] = []
  let texts: string[] = []
  let bytes = AROUND
  const close = (): void => {
    // Numbered, since of two payloads that are the same PostgreSQL sends one.
    if (texts.length > 0)
      payloads.push(`{"by":"${by}","n":${number()},"items":[${texts.join(',')}]}`)
    texts = []
    bytes = AROUND
  }
  for (const item of items) {
    const text = JSON.stringify(item)
    const size = Buffer.byteLength(text) + 1
    if (size > MAX_BYTES - AROUND) continue
    if (bytes + size > MAX_BYTES) close()
    texts.push(text)
    bytes += size
  }
  close()
  return payloads
}

/** What a notification says; nothing where another version sent it. */
export function parsePayload<T>(text: string): Payload<T> {
  try {
    const { by, items } = JSON.parse(text)
    return { by: String(by), items: Array.isArray(items) ? items : [] }
  } catch {
    return { by: '', items: [] }
  }
}

/** So many characters of a delta find room in one notification, whatever they are. */
const DELTA_CHARS = 1_000

/** Events as they are sent: pieces of text that follow each other are one, as long as that is not too long. */
export function inPieces(events: readonly ConversationEvent[]): ConversationEvent[] {
  const sent: ConversationEvent[] = []
  for (const event of events) {
    const last = sent.at(-1)
    const joined = last && joinDeltas(last, event)
    if (joined) sent[sent.length - 1] = joined
    else sent.push(...splitDelta(event))
  }
  return sent
}

function joinDeltas(a: ConversationEvent, b: ConversationEvent): ConversationEvent | null {
  if (!('delta' in a && 'delta' in b) || a.delta.length + b.delta.length > DELTA_CHARS) return null
  const isOne =
    (a.type === 'TEXT_MESSAGE_CONTENT' && a.type === b.type && a.messageId === b.messageId) ||
    (a.type === 'TOOL_CALL_ARGS' && a.type === b.type && a.toolCallId === b.toolCallId)
  return isOne ? { ...a, delta: a.delta + b.delta } : null
}

function splitDelta(event: ConversationEvent): ConversationEvent[] {
  if (!('delta' in event) || event.delta.length <= DELTA_CHARS) return [event]
  const pieces: ConversationEvent[] = []
  const { delta } = event
  for (let start = 0; start < delta.length; ) {
    // A pair of surrogates stays together: half of one is no text.
    const end = start + DELTA_CHARS
    const cut = /[\ud800-\udbff]/.test(delta.charAt(end - 1)) ? end + 1 : end
    pieces.push({ ...event, delta: delta.slice(start, cut) })
    start = cut
  }
  return pieces
}
