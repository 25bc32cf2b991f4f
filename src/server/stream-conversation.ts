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

/** A watcher that falls behind by this many events is cut off; it reconnects and reads them from the log. */
const MAX_WAITING = 10_000

/**
 * Server-sent events: the log behind `after`, then everything as it happens (docs/http-api.md), until the conversation is
 * deleted. The watch begins before the log is read, so nothing falls between; positions say what came twice.
 */
export function streamConversation(c: Context, options: StreamOptions): Response {
  const { conversation, after, log, feed } = options
  c.header('cache-control', 'no-cache, no-transform')
  c.header('x-accel-buffering', 'no')
  return streamSSE(c, async (stream) => {
    let waiting: Foldable[] = []
    let closed = false
    let wake = (): void => {}
    const unwatch = feed.watch(conversation, (event) => {
      if (event === null) closed = true
      // Whoever does not read is cut off, and has the log when it comes back.
      else if (waiting.push(event) > MAX_WAITING) stream.abort()
      wake()
    })
    stream.onAbort(() => {
      closed = true
      wake()
    })
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS)
    let position = after

    async function send(event: Foldable): Promise<void> {
      const id = event.position === undefined ? undefined : String(event.position)
      await stream.writeSSE({ id, data: JSON.stringify(event) })
      position = event.position ?? position
    }

    /** What the log has up to this position. */
    async function sendLog(end: number): Promise<void> {
      if (position >= end) return
      for await (const record of readAll(log, conversation, position)) {
        if (closed || record.position > end) return
        await send(record)
      }
    }

    try {
      await stream.write('retry: 1000\n\n')
      await sendLog(Number.POSITIVE_INFINITY)
      // Read after the log: what was being written meanwhile is in here from its beginning.
      waiting = waiting.filter((event) => event.position !== undefined)
      for (const event of feed.soFar(conversation)) waiting.push({ event })
      while (!closed) {
        const next = waiting.shift()
        if (next?.position === undefined) {
          if (next) await send(next)
        } else {
          // No further than this one: what streamed before the records behind it stands before them.
          await sendLog(next.position - 1)
          if (next.position > position) await send(next)
        }
        if (waiting.length > 0 || closed) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      clearInterval(heartbeat)
      unwatch()
    }
  })
}
