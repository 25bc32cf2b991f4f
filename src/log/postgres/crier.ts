import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Database } from '../../postgres/database.ts'
import type { Place } from '../conversation-row.ts'
import { inPieces, type News, payloadsOf, type Streamed } from './news.ts'

/** Tells other processes what this one has stored, and what streams in it. */
export interface Crier {
  /** Who tells: what comes from oneself need not be heard. */
  readonly name: string
  readonly channels: { news: string; streams: string }
  tell(news: News): void
  stream(place: Place, event: ConversationEvent): void
  /** Resolves when all has been sent. */
  flush(): Promise<void>
}

/** What streams is collected for so long. */
const STREAM_MS = 50
/** What streams is dropped where more characters than these wait. */
const MAX_WAITING = 1_000_000
const MAX_NEWS = 10_000

// Nothing that must be kept: the news are in the tables.
const SEND = `SELECT set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
  FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)`

/**
 * One statement is on its way at most, and what comes meanwhile goes with the next. It is sent after the commit and not within
 * it, since commits that notify wait for each other. What cannot be sent is dropped: who misses it looks for itself.
 */
export function crier({ query, schema }: Database): Crier {
  const name = crypto.randomUUID()
  const channels = { news: `byref_${schema}`, streams: `byref_${schema}_s` }
  let number = 0
  let news: News[] = []
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
    while (news.length > 0 || streams.size > 0) {
      const count = (): number => ++number
      const streamed = [...streams.values()].flatMap(({ namespace, id, events }) =>
        inPieces(events).map((event): Streamed => ({ namespace, id, events: [event] })),
      )
      const sent = [
        ...payloadsOf(name, count, streamed).map((payload) => [channels.streams, payload]),
        ...payloadsOf(name, count, news).map((payload) => [channels.news, payload]),
      ]
      news = []
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
    tell(one) {
      if (news.length < MAX_NEWS) news.push(one)
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
