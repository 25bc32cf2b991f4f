import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Database } from '../../postgres/database.ts'
import { scopedKey } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'

/** A committed change, of which processes notify each other. */
export interface Change extends Place {
  key: number
  /** The position of the last record; null for a rename or a deletion. */
  position: number | null
  /** The id of the notice of a rename, an import or a deletion, which has no record. Otherwise null. */
  notice: number | null
  deleted: boolean
}

/** Events that are not durable, of one conversation. */
export interface Streamed extends Place {
  events: ConversationEvent[]
}

/** Time for which streamed events are collected, in milliseconds. */
const STREAM_MS = 50

/** Maximum number of waiting characters of streamed events. Further events are dropped. */
const MAX_WAITING = 1_000_000
const MAX_CHANGES = 10_000

// Nothing here must survive a crash: the changes are in the tables.
const SEND = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
  FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)`

/**
 * Notifies other processes of committed changes and of streamed events. At most one statement runs at a time.
 * Everything that arrives during it is sent with the next one. Notifications are sent after the commit, because commits
 * that notify wait for each other. A notification that cannot be sent is dropped: the other processes poll.
 */
export class Notifier {
  /** Identifies this process, which ignores its own notifications. */
  readonly name = crypto.randomUUID()
  readonly channels: { changes: string; streams: string }
  readonly #query: Database['query']
  #number = 0
  #changes: Change[] = []
  #streams = new Map<string, Streamed>()
  #waiting = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | null = null

  constructor({ query, schema }: Pick<Database, 'query' | 'schema'>) {
    this.#query = query
    this.channels = { changes: `byref_${schema}`, streams: `byref_${schema}_s` }
  }

  notify(change: Change): void {
    if (this.#changes.length < MAX_CHANGES) this.#changes.push(change)
    inBackground('Notifying other processes', this.#send())
  }

  stream({ namespace, id }: Place, event: ConversationEvent): void {
    const size = 'delta' in event ? event.delta.length : 500
    if (this.#waiting + size > MAX_WAITING) return
    this.#waiting += size
    const key = scopedKey(namespace, id)
    const streamed = this.#streams.get(key) ?? { namespace, id, events: [] }
    streamed.events.push(event)
    this.#streams.set(key, streamed)
    const send = () => inBackground('Notifying other processes', this.#send())
    this.#timer ??= setTimeout(send, STREAM_MS).unref()
  }

  /** Resolves when everything has been sent. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#send()
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    // Changes that are made at the same moment share one statement.
    await null
    while (this.#changes.length > 0 || this.#streams.size > 0) {
      const streamed = [...this.#streams.values()].flatMap(({ namespace, id, events }) =>
        inPieces(events).map((event): Streamed => ({ namespace, id, events: [event] })),
      )
      const { changes, streams } = this.channels
      const sent = [
        ...this.#payloads(streamed).map((payload) => [streams, payload]),
        ...this.#payloads(this.#changes).map((payload) => [changes, payload]),
      ]
      this.#changes = []
      this.#streams = new Map()
      this.#waiting = 0
      clearTimeout(this.#timer)
      this.#timer = undefined
      const columns = [sent.map(([channel]) => channel), sent.map(([, payload]) => payload)]
      await this.#query(SEND, columns).catch(() => {})
    }
  }

  /** Packs items into as few payloads as possible, in order. An item that is too long for a payload is dropped. */
  #payloads(items: readonly unknown[]): string[] {
    const groups: string[][] = []
    let bytes = MAX_BYTES
    for (const item of items) {
      const text = JSON.stringify(item)
      const size = Buffer.byteLength(text) + 1
      if (size > MAX_BYTES) continue
      if (bytes + size > MAX_BYTES) {
        groups.push([])
        bytes = 0
      }
      groups.at(-1)?.push(text)
      bytes += size
    }
    // PostgreSQL sends only one of two equal payloads: the number makes each unique.
    return groups.map(
      (texts) => `{"by":"${this.name}","n":${++this.#number},"items":[${texts.join(',')}]}`,
    )
  }
}

/** Maximum size of the items in a payload, in bytes. PostgreSQL accepts payloads of less than 8,000 bytes. */
const MAX_BYTES = 7_780

/** Returns the sender and the items of a notification. Without items if another version of byref sent it. */
export function parsePayload<T>(text: string): { by: string; items: T[] } {
  try {
    const { by, items } = JSON.parse(text)
    return { by: String(by), items: Array.isArray(items) ? items : [] }
  } catch {
    return { by: '', items: [] }
  }
}

/** Maximum length of a streamed delta in characters. It fits into one notification, whatever its characters are. */
const DELTA_CHARS = 1_000

/** Joins short deltas of the same text that follow each other, and splits long ones. */
function inPieces(events: readonly ConversationEvent[]): ConversationEvent[] {
  const pieces: ConversationEvent[] = []
  for (const event of events) {
    const last = pieces.at(-1)
    const joined = last && joinDeltas(last, event)
    if (joined) pieces[pieces.length - 1] = joined
    else pieces.push(...splitDelta(event))
  }
  return pieces
}

function joinDeltas(a: ConversationEvent, b: ConversationEvent): ConversationEvent | null {
  if (!('delta' in a && 'delta' in b) || a.delta.length + b.delta.length > DELTA_CHARS) return null
  const { delta: _a, ...rest } = a
  const { delta: _b, ...other } = b
  const isSameText = JSON.stringify(rest) === JSON.stringify(other)
  return isSameText ? { ...a, delta: a.delta + b.delta } : null
}

function splitDelta(event: ConversationEvent): ConversationEvent[] {
  if (!('delta' in event) || event.delta.length <= DELTA_CHARS) return [event]
  const pieces: ConversationEvent[] = []
  const { delta } = event
  for (let start = 0; start < delta.length; ) {
    // A surrogate pair is never split.
    const end = start + DELTA_CHARS
    const cut = /[\ud800-\udbff]/.test(delta.charAt(end - 1)) ? end + 1 : end
    pieces.push({ ...event, delta: delta.slice(start, cut) })
    start = cut
  }
  return pieces
}
