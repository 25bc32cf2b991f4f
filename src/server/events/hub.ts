import type { Agent } from '../../agent/agent-contract.ts'
import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import { type ConversationLog, type LogChange, readAll } from '../../log/conversation-log.ts'
import { type Channel, createChannel, jsonFrame, namedFrame } from './channel.ts'
import { createNamespaceFeed, type NamespaceFeed } from './namespace-feed.ts'
import { createWriting, type Writing } from './writing.ts'

/** What happens in the conversations of some agents, for all who watch: each event is read and encoded once. */
export interface Hub {
  /** How many streams are open. */
  readonly readers: number
  /** Another number after each change of a namespace's conversations: what was read since is still so. */
  version(namespace: string | null): number
  /**
   * The stream of a conversation: the log behind `after`, then everything as it happens; null where there is none.
   * Where the conversation is shorter than that, an event `reset` comes first, and then all of it.
   */
  conversation(
    log: ConversationLog,
    id: string,
    after: number,
  ): Promise<ReadableStream<Uint8Array> | null>
  /** The stream of a namespace: see {@link NamespaceFeed}. */
  namespace(log: ConversationLog, last: string | null): ReadableStream<Uint8Array>
  /** Ends every stream; those who listen come back to whoever serves then. */
  close(): void
}

const HEARTBEAT_MS = 15_000

/** Records that a channel keeps from before it was opened, for those who come back a little late. */
const KEEP_RECORDS = 200

/** A conversation that somebody watches. */
interface Watched {
  channel: Channel
  /** The position of the last record that was passed on. */
  end: number
  /** What came while the end of the log was read; null from then on. */
  meanwhile: LogRecord[] | null
  /** Until then `end` is not the end of the log. */
  opened: Promise<void>
}

/** A hub for agents that share one log. */
export function createHub(agents: readonly Agent[], log: ConversationLog): Hub {
  const watched = new Map<string, Watched>()
  const writing = new Map<string, Writing>()
  const feeds = new Map<string | null, NamespaceFeed>()
  const versions = new Map<string | null, number>()
  let readers = 0

  function told({ conversation, namespace, records, deleted, streamed }: LogChange): void {
    // The agents tell of what streams.
    if (streamed) return
    versions.set(namespace, (versions.get(namespace) ?? 0) + 1)
    const key = keyOf(namespace, conversation)
    const entry = watched.get(key)
    for (const record of records) {
      note(key, record.event)
      if (entry) pass(key, entry, record)
    }
    if (deleted) {
      writing.delete(key)
      entry?.channel.end(namedFrame('deleted', { conversation }))
    }
    feeds.get(namespace)?.changed(conversation, deleted === true)
  }

  function note(key: string, event: ConversationEvent): void {
    const its = writing.get(key) ?? createWriting()
    its.apply(event)
    if (its.isEmpty) writing.delete(key)
    else writing.set(key, its)
  }

  function pass(key: string, entry: Watched, record: LogRecord): void {
    if (entry.meanwhile) {
      entry.meanwhile.push(record)
    } else if (record.position === entry.end + 1) {
      entry.end = record.position
      entry.channel.push(recordFrame(record))
    } else if (record.position > entry.end) {
      // Something is missing in between: who comes back finds it in the log.
      entry.channel.end(namedFrame('cut', { reason: 'gap' }))
      forget(key, entry)
    }
  }

  function forget(key: string, entry: Watched): void {
    if (watched.get(key) === entry) watched.delete(key)
  }

  async function watch(key: string, its: ConversationLog, id: string): Promise<Watched | null> {
    const summary = watched.has(key) ? null : await its.find(id)
    // Somebody else may have begun meanwhile.
    const known = watched.get(key)
    if (known) {
      await known.opened
      return known
    }
    if (!summary) return null
    const after = Math.max(0, summary.position - KEEP_RECORDS)
    const entry: Watched = {
      channel: createChannel({ after }),
      end: after,
      meanwhile: [],
      opened: readEnd(),
    }
    watched.set(key, entry)
    await entry.opened
    return entry

    async function readEnd(): Promise<void> {
      try {
        const tail = await its.read(id, { after, limit: KEEP_RECORDS })
        const { meanwhile } = entry
        entry.meanwhile = null
        for (const record of [...tail, ...(meanwhile ?? [])]) pass(key, entry, record)
      } catch (error) {
        forget(key, entry)
        throw error
      }
    }
  }

  const unsubscribe = log.subscribe(told, {
    allNamespaces: true,
    wants(conversation, namespace) {
      const key = keyOf(namespace, conversation)
      return watched.has(key) || writing.has(key)
    },
  })
  const unhear = agents.map((agent) =>
    agent.onStream((conversation, event, { namespace }) => {
      const key = keyOf(namespace, conversation)
      note(key, event)
      watched.get(key)?.channel.push(jsonFrame({ event }, null))
    }),
  )
  const heartbeat = setInterval(() => {
    for (const { channel } of watched.values()) channel.beat()
    for (const feed of feeds.values()) feed.beat()
  }, HEARTBEAT_MS)
  heartbeat.unref()

  return {
    get readers() {
      return readers
    },
    version: (namespace) => versions.get(namespace) ?? 0,
    async conversation(its, id, after) {
      const key = keyOf(its.namespace, id)
      const entry = await watch(key, its, id)
      if (!entry) return null
      const { channel } = entry
      const isAhead = after > entry.end
      let position = isAhead ? 0 : after

      async function* before(): AsyncGenerator<Uint8Array> {
        if (isAhead) yield namedFrame('reset', { conversation: id })
        if (channel.since(position)) return
        for await (const record of readAll(its, id, position)) {
          yield recordFrame(record).bytes
          position = record.position
          if (channel.since(position)) return
        }
      }

      readers++
      return channel.listen({
        before: before(),
        now() {
          const streaming = writing.get(key)?.soFar() ?? []
          const frames = streaming.map((event) => jsonFrame({ event }, null))
          return [...(channel.since(position) ?? []), ...frames]
        },
        onEnd() {
          readers--
          if (channel.readers === 0) forget(key, entry)
        },
      })
    },
    namespace(its, last) {
      const feed = feeds.get(its.namespace) ?? createNamespaceFeed(its)
      feeds.set(its.namespace, feed)
      readers++
      return feed.listen(last, () => {
        readers--
        if (feed.readers === 0 && feeds.get(its.namespace) === feed) {
          feeds.delete(its.namespace)
          feed.close()
        }
      })
    },
    close() {
      clearInterval(heartbeat)
      unsubscribe()
      for (const end of unhear) end()
      for (const { channel } of watched.values()) channel.end()
      for (const feed of feeds.values()) feed.close()
    },
  }
}

function keyOf(namespace: string | null, conversation: string): string {
  return `${namespace ?? ''}\n${conversation}`
}

function recordFrame(record: LogRecord) {
  return jsonFrame(record, { number: record.position })
}
