import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Database } from '../../postgres/database.ts'
import type { Place } from '../conversation-row.ts'
import { type Change, inPieces, payloadsOf, type Streamed } from './changes.ts'

/** Notifies other processes of what this one has stored, and of what streams in it. */
export interface Notifier {
  /** Who notifies: a process ignores its own notifications. */
  readonly name: string
  readonly channels: { changes: string; streams: string }
  notify(change: Change): void
  stream(place: Place, event: ConversationEvent): void
  /** Resolves when all has been sent. */
  flush(): Promise<void>
}

/** What streams is collected for so long. */
const STREAM_MS = 50
/** What streams is dropped where more characters than these wait. */
const MAX_WAITING = 1_000_000
const MAX_CHANGES = 10_000

// Nothing that must be kept: the changes are in the tables.
const SEND = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
  FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)`

/**
 * One statement is on its way at most, and what comes meanwhile goes with the next. It is sent after the commit and not within
 * it, since commits that notify wait for each other. What cannot be sent is dropped: the others find it when they poll.
 */
export function createNotifier({ query, schema }: Database): Notifier {
  const name = crypto.randomUUID()
  const channels = { changes: `byref_${schema}`, streams: `byref_${schema}_s` }
  let number = 0
  let changes: Change[] = []
  let streams = new Map<string, Streamed>()
  let waiting = 0
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | null = null

  function send(): Promise<void> {
    sending ??= run().finally(() => {
      sending = null
    })
    return sending
  }

  async function run(): Promise<void> {
    // Those who change something at the same time go together.
    await null
    while (changes.length > 0 || streams.size > 0) {
      const count = (): number => ++number
      const streamed = [...streams.values()].flatMap(({ namespace, id, events }) =>
        inPieces(events).map((event): Streamed => ({ namespace, id, events: [event] })),
      )
      const sent = [
        ...payloadsOf(name, count, streamed).map((payload) => [channels.streams, payload]),
        ...payloadsOf(name, count, changes).map((payload) => [channels.changes, payload]),
      ]
      changes = []
      streams = new Map()
      waiting = 0
      clearTimeout(timer)
      timer = undefined
      await query(SEND, [sent.map(([channel]) => channel), sent.map(([, text]) => text)]).catch(
        () => {},
      )
    }
  }

  return {
    name,
    channels,
    notify(change) {
      if (changes.length < MAX_CHANGES) changes.push(change)
      inBackground('Notifying other hosts', send())
    },
    stream({ namespace, id }, event) {
      const size = 'delta' in event ? event.delta.length : 500
      if (waiting + size > MAX_WAITING) return
      waiting += size
      const key = `${namespace}\0${id}`
      const its = streams.get(key) ?? { namespace, id, events: [] }
      its.events.push(event)
      streams.set(key, its)
      timer ??= setTimeout(() => inBackground('Notifying other hosts', send()), STREAM_MS).unref()
    },
    async flush() {
      clearTimeout(timer)
      await send()
    },
  }
}
