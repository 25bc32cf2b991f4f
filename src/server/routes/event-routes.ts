import type { Context } from 'hono'
import { ByrefError } from '../../core/errors.ts'
import { notFoundError } from '../../log/conversation-log.ts'
import { eventsPage, eventsQuery, streamQuery } from '../../wire/conversations.ts'
import type { EventHub } from '../events/event-hub.ts'
import { type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id'
const STREAM = { 200: { types: ['text/event-stream'] } }

/** Events: the log by pages, and streams of what happens. */
export function eventRoutes(hub: EventHub): Route[] {
  return [
    route(
      `GET ${PATH}/events`,
      {
        role: 'reader',
        summary: 'The log of a conversation by pages',
        query: eventsQuery,
        answers: { 200: eventsPage },
      },
      async ({ query, conversation, json }) => {
        const { id, log, readingOf } = await conversation()
        const records = await log.read(id, query)
        const reading = await readingOf()
        const next = records.length === query.limit ? (records.at(-1)?.position ?? null) : null
        return json({ records: reading ? records.map(reading.record) : records, next })
      },
    ),
    route(
      `GET ${PATH}/stream`,
      {
        role: 'reader',
        summary: 'The log after a position, then everything as it happens, as server-sent events',
        query: streamQuery,
        answers: STREAM,
      },
      async ({ c, query, reader, caller, param, agent }) => {
        const id = param('id')
        const { log } = agent()
        const after = lastPosition(c) ?? query.after ?? 0
        // Before the stream, which stays open if something fails here.
        const reading = await reader?.conversation(log, id)
        const stream = await hub.conversation(log, id, { after, until: caller.expiresAt })
        if (!stream) throw notFoundError(id)
        return eventStream(c, reading ? reading.stream(stream) : stream)
      },
    ),
    route(
      'GET /api/events',
      {
        role: 'reader',
        summary: 'Changes of the list of conversations, as server-sent events',
        answers: STREAM,
      },
      ({ c, reader, caller, agent }) => {
        const { log } = agent()
        const last = lastEventId(c) ?? null
        const stream = hub.namespace(log, { last, until: caller.expiresAt })
        return eventStream(c, reader ? reader.feed(log, stream) : stream)
      },
    ),
  ]
}

function eventStream(c: Context, stream: ReadableStream<Uint8Array>): Response {
  c.header('content-type', 'text/event-stream')
  c.header('cache-control', 'no-cache, no-transform')
  c.header('x-accel-buffering', 'no')
  return c.body(stream)
}

function lastEventId(c: Context): string | undefined {
  return c.req.header('last-event-id') || undefined
}

/** Returns the last position that a client has. @throws ByrefError `bad_request` */
function lastPosition(c: Context): number | undefined {
  const last = lastEventId(c)
  if (last === undefined) return undefined
  if (/^\d{1,15}$/.test(last)) return Number(last)
  throw new ByrefError('bad_request', 'Last-Event-ID must be the position of a record, such as 17')
}
