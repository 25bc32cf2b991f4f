import type { Agent } from '../../agent/agent-contract.ts'
import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import {
  type ConversationLog,
  type LogChange,
  readAll,
  scopedKey,
} from '../../log/conversation-log.ts'
import { Channel, jsonFrame, namedFrame } from './channel.ts'
import { NamespaceFeed } from './namespace-feed.ts'
import { PartialEvents } from './partial-events.ts'

const HEARTBEAT_MS = 10_000

/** Number of records before its opening that a channel keeps, for readers who reconnect a little late. */
const KEEP_RECORDS = 200

/** A conversation with readers. */
interface Watched {
  channel: Channel
  /** The position of the last record that was pushed. */
  end: number
  /** Records that arrive while the end of the log is being read; null afterwards. */
  meanwhile: LogRecord[] | null
  /** Resolves when `end` is the end of the log. */
  opened: Promise<void>
}

/**
 * The streams of all conversations of agents that share one log. Each event is read and encoded once for all readers.
 */
export class EventHub {
  readonly #watched = new Map<string, Watched>()
  readonly #partial = new Map<string, PartialEvents>()
  readonly #feeds = new Map<string | null, NamespaceFeed>()
  readonly #versions = new Map<string | null, number>()
  readonly #unsubscribe: (() => void)[]
  readonly #heartbeat: NodeJS.Timeout

  constructor(agents: readonly Agent[], log: ConversationLog) {
    this.#unsubscribe = agents.map((agent) =>
      agent.onStream((conversation, event, { namespace }) => {
        const key = scopedKey(namespace, conversation)
        this.#applyPartial(key, event)
        this.#watched.get(key)?.channel.push(jsonFrame({ event }, null))
      }),
    )
    const hasListener = (conversation: string, namespace: string | null) => {
      const key = scopedKey(namespace, conversation)
      return this.#watched.has(key) || this.#partial.has(key)
    }
    const listener = (change: LogChange) => this.#changed(change)
    this.#unsubscribe.push(log.subscribe(listener, { allNamespaces: true, wants: hasListener }))
    this.#heartbeat = setInterval(() => {
      for (const { channel } of this.#watched.values()) channel.beat()
      for (const feed of this.#feeds.values()) feed.beat()
    }, HEARTBEAT_MS).unref()
  }

  /** The number of open streams. */
  get readers(): number {
    const channels = [...this.#watched.values()].map(({ channel }) => channel)
    return [...channels, ...this.#feeds.values()].reduce((sum, one) => sum + one.readers, 0)
  }

  /** Returns a number that changes with every change of a namespace's conversations. */
  version(namespace: string | null): number {
    return this.#versions.get(namespace) ?? 0
  }

  /**
   * Returns the stream of a conversation: the log after a position, then everything as it happens, until a time. Null
   * for an unknown conversation. If the conversation is shorter than that position, an event `reset` comes first, and
   * then the whole log.
   */
  async conversation(
    log: ConversationLog,
    id: string,
    { after, until }: { after: number; until?: number },
  ): Promise<ReadableStream<Uint8Array> | null> {
    const key = scopedKey(log.namespace, id)
    const entry = await this.#watch(key, log, id)
    if (!entry) return null
    const { channel } = entry
    let isAhead = after > entry.end
    let position = isAhead ? 0 : after

    async function* before(): AsyncGenerator<Uint8Array> {
      if (isAhead) yield namedFrame('reset', { conversation: id })
      isAhead = false
      if (channel.since(position)) return
      for await (const record of readAll(log, id, position)) {
        yield recordFrame(record).bytes
        position = record.position
        if (channel.since(position)) return
      }
    }

    return channel.listen({
      before,
      now: () => {
        const recent = channel.since(position)
        if (!recent) return null
        const partial = this.#partial.get(key)?.events() ?? []
        const frames = partial.map((event) => jsonFrame({ event }, null))
        return [...recent, ...frames]
      },
      until,
      onEnd: () => {
        if (channel.readers === 0) this.#forget(key, entry)
      },
    })
  }

  /** Returns the stream of a namespace: see {@link NamespaceFeed}. */
  namespace(
    log: ConversationLog,
    { last, until }: { last: string | null; until?: number },
  ): ReadableStream<Uint8Array> {
    const { namespace } = log
    const feed = this.#feeds.get(namespace) ?? new NamespaceFeed(log)
    this.#feeds.set(namespace, feed)
    const onEnd = () => {
      if (feed.readers > 0 || this.#feeds.get(namespace) !== feed) return
      this.#feeds.delete(namespace)
      feed.close()
    }
    return feed.listen(last, { until, onEnd })
  }

  /** Ends every stream. Clients reconnect, to the server that runs by then. */
  close(): void {
    clearInterval(this.#heartbeat)
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { channel } of this.#watched.values()) channel.end()
    for (const feed of this.#feeds.values()) feed.close()
  }

  #changed({ conversation, namespace, records, deleted, streamed }: LogChange): void {
    // Events that are not durable come from the agents.
    if (streamed) return
    this.#versions.set(namespace, this.version(namespace) + 1)
    const key = scopedKey(namespace, conversation)
    const entry = this.#watched.get(key)
    for (const record of records) {
      if (this.#partial.has(key)) this.#applyPartial(key, record.event)
      if (entry) this.#push(key, entry, record)
    }
    if (deleted) {
      this.#partial.delete(key)
      this.#watched.delete(key)
      entry?.channel.end(namedFrame('deleted', { conversation }))
    }
    this.#feeds.get(namespace)?.changed(conversation, deleted === true)
  }

  #applyPartial(key: string, event: ConversationEvent): void {
    const partial = this.#partial.get(key) ?? new PartialEvents()
    partial.apply(event)
    if (partial.isEmpty) this.#partial.delete(key)
    else this.#partial.set(key, partial)
  }

  #push(key: string, entry: Watched, record: LogRecord): void {
    if (entry.meanwhile) {
      entry.meanwhile.push(record)
    } else if (record.position === entry.end + 1) {
      entry.end = record.position
      entry.channel.push(recordFrame(record))
    } else if (record.position > entry.end) {
      // A record is missing. Readers who reconnect find it in the log.
      entry.channel.end(namedFrame('cut', { reason: 'gap' }))
      this.#forget(key, entry)
    }
  }

  #forget(key: string, entry: Watched): void {
    if (this.#watched.get(key) === entry) this.#watched.delete(key)
  }

  async #watch(key: string, log: ConversationLog, id: string): Promise<Watched | null> {
    for (;;) {
      const summary = this.#watched.has(key) ? null : await log.find(id)
      // Another reader may have opened it meanwhile.
      const known = this.#watched.get(key)
      if (!known && !summary) return null
      const entry = known ?? this.#open(key, log, summary as { id: string; position: number })
      await entry.opened
      // It may have been deleted meanwhile, or its last reader may have left.
      if (this.#watched.get(key) === entry) return entry
    }
  }

  #open(
    key: string,
    log: ConversationLog,
    { id, position }: { id: string; position: number },
  ): Watched {
    const after = Math.max(0, position - KEEP_RECORDS)
    const readEnd = async (): Promise<void> => {
      try {
        // To the end of the log, which may have grown since its position was read.
        const tail = await Array.fromAsync(readAll(log, id, after))
        const { meanwhile } = entry
        entry.meanwhile = null
        for (const record of [...tail, ...(meanwhile ?? [])]) this.#push(key, entry, record)
      } catch (error) {
        this.#forget(key, entry)
        throw error
      }
    }
    const channel = new Channel({ after })
    const entry: Watched = { channel, end: after, meanwhile: [], opened: Promise.resolve() }
    this.#watched.set(key, entry)
    entry.opened = readEnd()
    return entry
  }
}

function recordFrame(record: LogRecord) {
  return jsonFrame(record, { number: record.position })
}
