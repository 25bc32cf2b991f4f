import type { LogRecord } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { Database } from '../../postgres/database.ts'
import type { Listening } from '../../postgres/listening.ts'
import type { LogChange } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { type Audience, listeners } from '../listeners.ts'
import type { Crier } from './crier.ts'
import { look, recordsSince, type Sight } from './look.ts'
import { type News, parsePayload, type Streamed } from './news.ts'
import { recent } from './recent.ts'

/** Tells subscribers what changes in the log, whoever changes it. */
export interface Feed {
  subscribe(listener: (change: LogChange) => void, audience: Audience): () => void
  /** Resolves when it is known what was there before the first subscriber. */
  begun(): Promise<void>
  /** Tells a change of this log object, in its conversation's turn; what others stored before it comes first. */
  tell(news: News, records?: readonly LogRecord[]): Promise<void>
  close(): Promise<void>
}

/** What the feed works with. */
export interface FeedOptions {
  database: Database
  crier: Crier
  /** Changes of one conversation come one after the other. */
  inTurn<T>(place: Place, run: () => Promise<T>): Promise<T>
}

/** What was told of a conversation. */
interface Told {
  key: number
  position: number
  gone: boolean
}

/** Time between two looks, in milliseconds: what is not heard is seen then. */
const LOOK_MS = { hearing: 700, deaf: 200 }
const MOST_TOLD = 20_000

/**
 * Hears of others' changes by notifications, and looks for those of which none came: the sender died before it sent one, or
 * the connection was lost. Positions that were told are kept by conversation, so that both say nothing twice.
 */
export function feed({ database, crier, inTurn }: FeedOptions): Feed {
  const subscribers = listeners()
  const told = recent<Told>(MOST_TOLD)
  const notices = recent<true>(MOST_TOLD)
  /** What is older was told or came before the first subscriber; null before the first look. */
  let mark: number | null = null
  let beginning: Promise<void> | null = null
  let looking: Promise<void> | null = null
  let hearing: Listening | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function emit(place: Place, change: Partial<LogChange> = {}): void {
    const conversation = place.id
    subscribers.tell({ conversation, namespace: place.namespace || null, records: [], ...change })
  }

  /** What was told of the conversation that has the place now; one that had it before is told to be gone. */
  function known(place: Place, key: number): Told | undefined {
    const entry = told.get(placeKey(place))
    if (!entry || entry.key === key) return entry
    told.delete(placeKey(place))
    if (!entry.gone) emit(place, { deleted: true })
    return undefined
  }

  function isPast(place: Place, key: number): boolean {
    return (told.get(placeKey(place))?.key ?? 0) > key
  }

  function set(place: Place, key: number, position: number, gone = false): void {
    told.set(placeKey(place), { key, position, gone })
  }

  /** Tells records of others up to a position, as far as they were not told. */
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

  async function receive(news: News): Promise<void> {
    const { key, kind } = news
    if (isPast(news, key)) return
    if (kind === 'appended') return catchUp(news, key, news)
    if (news.notice !== null) {
      // A notification and a look may bring the same.
      if (notices.get(`${news.notice}`)) return
      notices.set(`${news.notice}`, true)
    }
    const entry = known(news, key)
    if (kind === 'deleted') {
      if (!entry?.gone) emit(news, { deleted: true })
      set(news, key, entry?.position ?? 0, true)
    } else if (kind === 'renamed') emit(news)
    else if (!entry) {
      set(news, key, news.position)
      emit(news)
    }
  }

  async function receiveSight({ now, rows, notices: seen }: Sight): Promise<void> {
    const work = [
      ...seen.map((one) => ({ at: one.at, place: one, run: () => receive(newsOf(one)) })),
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
            // Of an import its notice tells.
            if (row.imported === 0) emit(row)
          }
        },
      })),
    ]
    work.sort((a, b) => a.at - b.at)
    await Promise.all(work.map(({ place, run }) => inTurn(place, run)))
    mark = now
  }

  /** The first look: what is there was told to nobody, and will not be. */
  async function begin(): Promise<void> {
    const { now, rows, notices: seen } = await look(database, null)
    for (const row of rows) if (!told.get(placeKey(row))) set(row, row.key, row.position)
    for (const { notice } of seen) notices.set(`${notice}`, true)
    mark = now
  }

  function lookAgain(): Promise<void> {
    looking ??= (async () => {
      try {
        if (mark === null) await begin()
        else await receiveSight(await look(database, mark))
      } catch {
        // The next look sees it.
      } finally {
        looking = null
      }
    })()
    return looking
  }

  function schedule(): void {
    clearTimeout(timer)
    if (closed) return
    if (subscribers.size === 0) {
      inBackground('Ending to listen', rest())
      return
    }
    const wait = hearing?.isUp ? LOOK_MS.hearing : LOOK_MS.deaf
    timer = setTimeout(poll, wait).unref()
  }

  /** Looks, and whatever comes of it looks again later. */
  function poll(): void {
    inBackground('Looking for changes', lookAgain().finally(schedule))
  }

  /** Nobody listens any more. */
  async function rest(): Promise<void> {
    mark = null
    beginning = null
    told.clear()
    notices.clear()
    const last = hearing
    hearing = null
    await last?.end()
  }

  function hear(channel: string, text: string): void {
    if (channel === crier.channels.streams) {
      const { by, items } = parsePayload<Streamed>(text)
      if (by !== crier.name) for (const item of items) emit(item, { streamed: item.events })
      return
    }
    const { by, items } = parsePayload<News>(text)
    // What comes before the first look, and what fails, is seen by the next look.
    if (by === crier.name || mark === null) return
    for (const news of items) inTurn(news, () => receive(news)).catch(() => {})
  }

  return {
    subscribe(listener, audience) {
      const leave = subscribers.add(listener, audience)
      if (!beginning) {
        const { news, streams } = crier.channels
        beginning = database.use(lookAgain).catch(() => {})
        hearing = database.listen({
          channels: [news, streams],
          heard: hear,
          begun: () => inBackground('Looking for changes', beginning?.then(lookAgain)),
        })
        inBackground('Listening for changes', beginning.then(schedule))
      }
      return leave
    },
    begun: async () => beginning ?? undefined,
    async tell(news, records = []) {
      crier.tell(news)
      if (subscribers.size === 0) return
      const { key, kind } = news
      if (kind === 'appended') {
        const entry = known(news, key)
        const isGap = entry ? entry.position < news.from : news.from > 0
        // Where others' records cannot be read now, the next look tells them, and these behind them.
        if (isGap && !(await tellBefore(news, entry))) return
        set(news, key, news.to)
        emit(news, { records })
        return
      }
      if (news.notice !== null) notices.set(`${news.notice}`, true)
      if (kind !== 'renamed') {
        const position = kind === 'made' ? news.position : 0
        known(news, key)
        set(news, key, position, kind === 'deleted')
      }
      emit(news, kind === 'deleted' ? { deleted: true } : {})
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await looking
      await rest()
    },
  }

  /** Tells what others stored before this process did; false where that cannot be read. */
  async function tellBefore(
    news: News & { kind: 'appended' },
    entry: Told | undefined,
  ): Promise<boolean> {
    if (!subscribers.wants(news.id, news.namespace || null)) return true
    const start = entry ? { after: entry.position } : { since: mark, before: news.from }
    try {
      const all = await recordsSince(database, news.key, start)
      const records = all.filter(({ position }) => position <= news.from)
      if (records.length > 0) emit(news, { records })
      return true
    } catch {
      return false
    }
  }
}

function newsOf({ notice, key, namespace, id, deleted }: Sight['notices'][number]): News {
  const place = { key, namespace, id, notice }
  return deleted ? { ...place, kind: 'deleted' } : { ...place, kind: 'renamed' }
}

function placeKey({ namespace, id }: Place): string {
  return `${namespace}\0${id}`
}
