import type { LogRecord } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import { setRecent } from '../../core/recent.ts'
import type { Database } from '../../postgres/database.ts'
import type { Listening } from '../../postgres/listening.ts'
import { type LogChange, scopedKey } from '../conversation-log.ts'
import type { Place } from '../conversation-row.ts'
import { type Audience, changeOf, Listeners } from '../listeners.ts'
import type { Turns } from '../turns.ts'
import { type Change, type Notifier, parsePayload, type Streamed } from './notifier.ts'
import { pollChanges, recordsSince } from './poll-changes.ts'

/** The records of a conversation that were delivered. */
interface Delivered {
  key: number
  position: number
  gone: boolean
}

/** Time between two polls, in milliseconds. A poll finds changes for which no notification arrived. */
const POLL_MS = { listening: 700, alone: 200 }
const MAX_DELIVERED = 20_000

/**
 * Passes all changes of the log to subscribers. It gets changes of other processes by notifications, and polls for
 * those that were not notified because the sender died or the connection was lost. It keeps the delivered position of
 * each conversation, so that nothing is delivered twice.
 */
export class PostgresChanges {
  readonly #database: Database
  readonly #notifier: Notifier
  readonly #turns: Turns<string>
  readonly #subscribers = new Listeners()
  readonly #delivered = new Map<string, Delivered>()
  readonly #notices = new Map<number, true>()
  /**
   * The time of the last poll. Older changes were delivered, or happened before the first subscriber. Null before the
   * first poll.
   */
  #polledAt: number | null = null
  #beginning: Promise<void> | null = null
  #polling: Promise<void> | null = null
  #listening: Listening | null = null
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** @param turns Runs the changes of one conversation one after the other. */
  constructor(database: Database, notifier: Notifier, turns: Turns<string>) {
    this.#database = database
    this.#notifier = notifier
    this.#turns = turns
  }

  subscribe(listener: (change: LogChange) => void, audience: Audience): () => void {
    const leave = this.#subscribers.add(listener, audience)
    if (!this.#beginning) {
      const { changes, streams } = this.#notifier.channels
      const beginning = this.#database.use(() => this.#pollNow()).catch(() => {})
      this.#beginning = beginning
      this.#listening = this.#database.listen({
        channels: [changes, streams],
        onNotification: (channel, text) => this.#notified(channel, text),
        onListening: () =>
          inBackground(
            'Polling the log',
            beginning.then(() => this.#pollNow()),
          ),
      })
      inBackground(
        'Listening for changes',
        beginning.then(() => this.#schedule()),
      )
    }
    return leave
  }

  /** Resolves when the state before the first subscriber is known. */
  async begun(): Promise<void> {
    await this.#beginning
  }

  /**
   * Publishes a change of this process, in its conversation's turn. Records that other processes stored before come
   * first.
   *
   * @param records The records that were appended, if any.
   */
  async publish(change: Change, records: readonly LogRecord[] = []): Promise<void> {
    this.#notifier.notify(change)
    if (this.#subscribers.size === 0) return
    if (records.length === 0 || change.position === null) return this.#receive(change)
    const delivered = this.#current(change)?.position ?? 0
    const isNext = delivered === change.position - records.length
    if (isNext || this.#polledAt === null) {
      this.#set(change, change.position)
      this.#emit(change, { records })
    } else {
      // Records that cannot be read now are delivered by the next poll.
      await this.#catchUp(change, change.position).catch(() => {})
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#polling
    await this.#stopListening()
  }

  #emit(place: Place, change?: Partial<LogChange>): void {
    this.#subscribers.notify(changeOf(place, change))
  }

  /**
   * Returns what was delivered of a conversation. If that was an older conversation with the same id, reports its
   * deletion.
   */
  #current(change: Place & { key: number }): Delivered | undefined {
    const entry = this.#delivered.get(scopedKey(change.namespace, change.id))
    if (!entry || entry.key === change.key) return entry
    this.#delivered.delete(scopedKey(change.namespace, change.id))
    if (!entry.gone) this.#emit(change, { deleted: true })
    return undefined
  }

  #set(change: Place & { key: number }, position: number, gone = false): void {
    const delivered = { key: change.key, position, gone }
    setRecent(this.#delivered, scopedKey(change.namespace, change.id), delivered, MAX_DELIVERED)
  }

  /** Delivers the records up to a position that were not delivered yet. */
  async #catchUp(change: Place & { key: number }, last: number): Promise<void> {
    const entry = this.#current(change)
    if (entry && entry.position >= last) return
    if (!this.#subscribers.wants(change.id, change.namespace || null)) {
      this.#set(change, last)
      this.#emit(change)
      return
    }
    const start = entry ? { after: entry.position } : { since: this.#polledAt, last }
    const records = await recordsSince(this.#database, change.key, start)
    const end = records.at(-1)?.position
    // The conversation was deleted in the meantime, or has only imported records.
    if (end === undefined) return
    this.#set(change, end)
    this.#emit(change, { records })
  }

  #receiveInTurn(change: Change & { imported?: number }): Promise<void> {
    return this.#turns.take(scopedKey(change.namespace, change.id), () => this.#receive(change))
  }

  async #receive(change: Change & { imported?: number }): Promise<void> {
    const { key, notice, position, deleted, imported = 0 } = change
    if ((this.#delivered.get(scopedKey(change.namespace, change.id))?.key ?? 0) > key) return
    if (notice !== null) {
      // A notification and a poll may bring the same notice.
      if (this.#notices.has(notice)) return
      setRecent(this.#notices, notice, true, MAX_DELIVERED)
    }
    const entry = this.#current(change)
    if (deleted) {
      if (!entry?.gone) this.#emit(change, { deleted: true })
      this.#set(change, entry?.position ?? 0, true)
    } else if (notice !== null) {
      if (!entry && position !== null) this.#set(change, position)
      this.#emit(change)
    } else if (position !== null && position > imported) {
      await this.#catchUp(change, position)
    } else if (!entry && position !== null) {
      this.#set(change, position)
      // The change of an import is its notice.
      if (imported === 0) this.#emit(change)
    }
  }

  #pollNow(): Promise<void> {
    this.#polling ??= this.#poll()
      // The next poll finds it.
      .catch(() => {})
      .finally(() => {
        this.#polling = null
      })
    return this.#polling
  }

  async #poll(): Promise<void> {
    const isFirst = this.#polledAt === null
    const { now, changes } = await pollChanges(this.#database, this.#polledAt)
    if (isFirst) {
      // Changes from before the first subscriber are not delivered.
      for (const change of changes) {
        if (change.notice !== null) setRecent(this.#notices, change.notice, true, MAX_DELIVERED)
        else if (!this.#delivered.has(scopedKey(change.namespace, change.id)))
          this.#set(change, change.position ?? 0)
      }
    } else {
      await Promise.all(changes.map((change) => this.#receiveInTurn(change)))
    }
    this.#polledAt = now
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    if (this.#subscribers.size === 0) {
      inBackground('Ending the listener', this.#stopListening())
      return
    }
    const poll = () => {
      inBackground(
        'Polling the log',
        this.#pollNow().finally(() => this.#schedule()),
      )
    }
    const wait = this.#listening?.isUp ? POLL_MS.listening : POLL_MS.alone
    this.#timer = setTimeout(poll, wait).unref()
  }

  async #stopListening(): Promise<void> {
    this.#polledAt = null
    this.#beginning = null
    this.#delivered.clear()
    this.#notices.clear()
    const last = this.#listening
    this.#listening = null
    await last?.end()
  }

  #notified(channel: string, text: string): void {
    if (channel === this.#notifier.channels.streams) {
      const { by, items } = parsePayload<Streamed>(text)
      if (by === this.#notifier.name) return
      for (const item of items) this.#emit(item, { streamed: item.events })
      return
    }
    const { by, items } = parsePayload<Change>(text)
    // The first poll finds changes that are notified before it, and the next one those that fail here.
    if (by === this.#notifier.name || this.#polledAt === null) return
    for (const change of items) this.#receiveInTurn(change).catch(() => {})
  }
}
