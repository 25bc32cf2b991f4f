import type { LogRecord } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Database } from '../../postgres/database.ts'
import type { Listening } from '../../postgres/listening.ts'
import type { LogChange } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { type Audience, listeners } from '../listeners.ts'
import { type Change, parsePayload, type Streamed } from './changes.ts'
import type { Notifier } from './notifier.ts'
import { type PolledChanges, pollChanges, recordsSince } from './poll-changes.ts'
import { recent } from './recent.ts'

/** Tells subscribers what changes in the log, whoever changes it. */
export interface Feed {
  subscribe(listener: (change: LogChange) => void, audience: Audience): () => void
  /** Resolves when it is known what was there before the first subscriber. */
  begun(): Promise<void>
  /** Tells a change of this log object, in its conversation's turn; what others stored before it comes first. */
  publish(change: Change, records?: readonly LogRecord[]): Promise<void>
  close(): Promise<void>
}

/** What the feed works with. */
export interface FeedOptions {
  database: Database
  notifier: Notifier
  /** Changes of one conversation come one after the other. */
  inTurn<T>(place: Place, run: () => Promise<T>): Promise<T>
}

/** What was delivered of a conversation. */
interface Delivered {
  key: number
  position: number
  gone: boolean
}

/** Time between two polls, in milliseconds. A poll finds what no notification told. */
const POLL_MS = { listening: 700, alone: 200 }
const MAX_DELIVERED = 20_000

/**
 * Learns of others' changes by notifications, and polls for those of which none came: the sender died before it sent one, or
 * the connection was lost. Delivered positions are kept by conversation, so that nothing is delivered twice.
 */
export function feed({ database, notifier, inTurn }: FeedOptions): Feed {
  const subscribers = listeners()
  const delivered = recent<Delivered>(MAX_DELIVERED)
  const notices = recent<true>(MAX_DELIVERED)
  /** What is older was delivered, or came before the first subscriber; null before the first poll. */
  let mark: number | null = null
  let beginning: Promise<void> | null = null
  let polling: Promise<void> | null = null
  let listening: Listening | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function emit(place: Place, change: Partial<LogChange> = {}): void {
    const conversation = place.id
    subscribers.notify({ conversation, namespace: place.namespace || null, records: [], ...change })
  }

  /** What was delivered of the conversation that has the place now; one that had it before is gone. */
  function known(place: Place, key: number): Delivered | undefined {
    const entry = delivered.get(placeKey(place))
    if (!entry || entry.key === key) return entry
    delivered.delete(placeKey(place))
    if (!entry.gone) emit(place, { deleted: true })
    return undefined
  }

  function isPast(place: Place, key: number): boolean {
    return (delivered.get(placeKey(place))?.key ?? 0) > key
  }

  function set(place: Place, key: number, position: number, gone = false): void {
    delivered.set(placeKey(place), { key, position, gone })
  }

  /** Delivers records of others up to a position, but for those that were delivered. */
  async function catchUp(
    place: Place,
    key: number,
    { from, to }: { from: number; to: number },
  ): Promise<void> {
    const entry = known(place, key)
    if (entry && entry.position >= to) return
    const namespace = place.namespace || null
    if (!subscribers.wants(place.id, namespace)) {
      set(place, key, to)
      emit(place)
      return
    }
    const start = entry ? { after: entry.position } : { since: mark, before: from }
    const records = await recordsSince(database, key, start)
    const last = records.at(-1)?.position
    // Gone meanwhile, or its records are those of an import.
    if (last === undefined) return
    set(place, key, last)
    emit(place, { records })
  }

  async function receive(change: Change): Promise<void> {
    const { key, kind } = change
    if (isPast(change, key)) return
    if (kind === 'appended') return catchUp(change, key, change)
    if (change.notice !== null) {
      // A notification and a poll may bring the same.
      if (notices.get(`${change.notice}`)) return
      notices.set(`${change.notice}`, true)
    }
    const entry = known(change, key)
    if (kind === 'deleted') {
      if (!entry?.gone) emit(change, { deleted: true })
      set(change, key, entry?.position ?? 0, true)
    } else if (kind === 'renamed') emit(change)
    else if (!entry) {
      set(change, key, change.position)
      emit(change)
    }
  }

  async function receivePolled({ now, rows, notices: seen }: PolledChanges): Promise<void> {
    const work = [
      ...seen.map((one) => ({ at: one.at, place: one, run: () => receive(changeOf(one)) })),
      ...rows.map((row) => ({
        at: row.updated,
        place: row,
        run: async () => {
          if (isPast(row, row.key)) return
          const entry = known(row, row.key)
          if (entry && entry.position >= row.position) return
          if (row.position > row.imported) {
            await catchUp(row, row.key, { from: row.position, to: row.position })
          } else if (!entry) {
            set(row, row.key, row.position)
            // An import has a notice of its own.
            if (row.imported === 0) emit(row)
          }
        },
      })),
    ]
    work.sort((a, b) => a.at - b.at)
    await Promise.all(work.map(({ place, run }) => inTurn(place, run)))
    mark = now
  }

  /** The first poll: what is there already is not delivered. */
  async function begin(): Promise<void> {
    const { now, rows, notices: seen } = await pollChanges(database, null)
    for (const row of rows) if (!delivered.get(placeKey(row))) set(row, row.key, row.position)
    for (const { notice } of seen) notices.set(`${notice}`, true)
    mark = now
  }

  function pollNow(): Promise<void> {
    polling ??= (async () => {
      try {
        if (mark === null) await begin()
        else await receivePolled(await pollChanges(database, mark))
      } catch {
        // The next poll finds it.
      } finally {
        polling = null
      }
    })()
    return polling
  }

  function schedule(): void {
    clearTimeout(timer)
    if (closed) return
    if (subscribers.size === 0) {
      inBackground('Ending the listener', stopListening())
      return
    }
    const wait = listening?.isUp ? POLL_MS.listening : POLL_MS.alone
    timer = setTimeout(poll, wait).unref()
  }

  /** Polls, and again later, whatever comes of it. */
  function poll(): void {
    inBackground('Polling the log', pollNow().finally(schedule))
  }

  /** Nobody listens any more. */
  async function stopListening(): Promise<void> {
    mark = null
    beginning = null
    delivered.clear()
    notices.clear()
    const last = listening
    listening = null
    await last?.end()
  }

  function onNotification(channel: string, text: string): void {
    if (channel === notifier.channels.streams) {
      const { by, items } = parsePayload<Streamed>(text)
      if (by !== notifier.name) for (const item of items) emit(item, { streamed: item.events })
      return
    }
    const { by, items } = parsePayload<Change>(text)
    // The next poll finds what comes before the first one, and what fails here.
    if (by === notifier.name || mark === null) return
    for (const change of items) inTurn(change, () => receive(change)).catch(() => {})
  }

  return {
    subscribe(listener, audience) {
      const leave = subscribers.add(listener, audience)
      if (!beginning) {
        const { changes, streams } = notifier.channels
        beginning = database.use(pollNow).catch(() => {})
        listening = database.listen({
          channels: [changes, streams],
          onNotification,
          onListening: () => inBackground('Polling the log', beginning?.then(pollNow)),
        })
        inBackground('Listening for changes', beginning.then(schedule))
      }
      return leave
    },
    begun: async () => beginning ?? undefined,
    async publish(change, records = []) {
      notifier.notify(change)
      if (subscribers.size === 0) return
      const { key, kind } = change
      if (kind === 'appended') {
        const entry = known(change, key)
        const isGap = entry ? entry.position < change.from : change.from > 0
        // Where others' records cannot be read now, the next poll delivers them, and these behind them.
        if (isGap && !(await deliverBefore(change, entry))) return
        set(change, key, change.to)
        emit(change, { records })
        return
      }
      if (change.notice !== null) notices.set(`${change.notice}`, true)
      if (kind !== 'renamed') {
        const position = kind === 'made' ? change.position : 0
        known(change, key)
        set(change, key, position, kind === 'deleted')
      }
      emit(change, kind === 'deleted' ? { deleted: true } : {})
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await polling
      await stopListening()
    },
  }

  /** Delivers what others stored before this process did; false where that cannot be read. */
  async function deliverBefore(
    change: Change & { kind: 'appended' },
    entry: Delivered | undefined,
  ): Promise<boolean> {
    if (!subscribers.wants(change.id, change.namespace || null)) return true
    const start = entry ? { after: entry.position } : { since: mark, before: change.from }
    try {
      const all = await recordsSince(database, change.key, start)
      const records = all.filter(({ position }) => position <= change.from)
      if (records.length > 0) emit(change, { records })
      return true
    } catch {
      return false
    }
  }
}

function changeOf({
  notice,
  key,
  namespace,
  id,
  deleted,
}: PolledChanges['notices'][number]): Change {
  const place = { key, namespace, id, notice }
  return deleted ? { ...place, kind: 'deleted' } : { ...place, kind: 'renamed' }
}

function placeKey({ namespace, id }: Place): string {
  return `${namespace}\0${id}`
}
