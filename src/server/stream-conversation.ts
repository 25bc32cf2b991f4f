import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import type { Foldable } from '../content/fold.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { readAll } from '../log/conversation-log.ts'
import type { LiveFeed } from './live-feed.ts'

/** What to stream to whom. */
export interface StreamOptions {
  conversation: string
  /** The last position that the reader has. */
  after: number
  log: ConversationLog
  feed: LiveFeed
}

const HEARTBEAT_MS = 15_000
const POLL_MS = 2_000

/** A watcher that falls behind by this many events is cut off; it reconnects and reads them from the log. */
const MAX_WAITING = 10_000

/**
 * Server-sent events: the log behind `after`, then everything as it happens (docs/http-api.md). The watch begins
 * before the log is read, so nothing falls between; what comes twice has the same position.
 */
export function streamConversation(c: Context, options: StreamOptions): Response {
  const { conversation, after, log, feed } = options
  c.header('cache-control', 'no-cache, no-transform')
  c.header('x-accel-buffering', 'no')
  return streamSSE(c, async (stream) => {
    const waiting: Foldable[] = []
    let closed = false
    let wake = (): void => {}
    const unwatch = feed.watch(conversation, (event) => {
      // Whoever does not read is cut off, and has the log when it comes back.
      if (waiting.push(event) > MAX_WAITING) stream.abort()
      wake()
    })
    stream.onAbort(() => {
      closed = true
      wake()
    })
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS)
    // What another process writes to the same log wakes nobody here.
    const poll = setInterval(() => wake(), POLL_MS)
    try {
      let position = after
      const send = async (record: Foldable): Promise<void> => {
        const id = record.position === undefined ? undefined : String(record.position)
        await stream.writeSSE({ id, data: JSON.stringify(record) })
      }
      const sendLog = async (): Promise<void> => {
        for await (const record of readAll(log, conversation, position)) {
          if (closed) return
          await send(record)
          position = record.position
        }
      }
      await stream.write('retry: 1000\n\n')
      await sendLog()
      // Read after the log: what was being written meanwhile is in here from its beginning.
      waiting.splice(0, waiting.length, ...waiting.filter((event) => event.position !== undefined))
      for (const event of feed.soFar(conversation)) waiting.push({ event })
      while (!closed) {
        const next = waiting.shift()
        // A durable event comes from the log, with those of other processes before it; so does what only they wrote.
        if (next && next.position === undefined) await send(next)
        else if (!next?.position || next.position > position) await sendLog()
        if (waiting.length > 0 || closed) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      clearInterval(heartbeat)
      clearInterval(poll)
      unwatch()
    }
  })
}
