import type { Context } from 'hono'
import { ByrefError } from '../../core/errors.ts'
import { eventsPage, eventsQuery, streamQuery } from '../../wire/events.ts'
import type { Hub } from '../events/hub.ts'
import { type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id'

/** Events: the log by pages, and streams of what happens. */
export function eventRoutes(hub: Hub): Route[] {
  return [
    route(
      {
        method: 'get',
        path: `${PATH}/events`,
        summary: 'The log of a conversation by pages',
        role: 'reader',
        query: eventsQuery,
        answers: { 200: eventsPage },
        errors: ['conversation_not_found'],
      },
      async ({ query, reader, conversation, json }) => {
        const { id, log } = await conversation()
        const records = await log.read(id, query)
        const reading = await reader?.conversation(log, id)
        const next = records.length === query.limit ? (records.at(-1)?.position ?? null) : null
        return json({ records: reading ? records.map(reading.record) : records, next })
      },
    ),
    route(
      {
        method: 'get',
        path: `${PATH}/stream`,
        summary: 'The log from there on, then what happens, as server-sent events',
        role: 'reader',
        query: streamQuery,
        answers: { 200: { types: ['text/event-stream'] } },
        errors: ['conversation_not_found'],
      },
      async ({ c, query, reader, param, agent }) => {
        const after = lastPosition(c) ?? query.after ?? 0
        const { log } = agent()
        const stream = await hub.conversation(log, param('id'), after)
        const reading = stream && (await reader?.conversation(log, param('id')))
        if (stream) return streamed(c, reading ? reading.stream(stream) : stream)
        throw new ByrefError('conversation_not_found', `There is no conversation "${param('id')}"`)
      },
    ),
    route(
      {
        method: 'get',
        path: '/api/events',
        summary: 'What changes in the list of conversations, as server-sent events',
        role: 'reader',
        answers: { 200: { types: ['text/event-stream'] } },
      },
      ({ c, reader, agent }) => {
        const { log } = agent()
        const stream = hub.namespace(log, lastId(c) ?? null)
        return streamed(c, reader ? reader.feed(log, stream) : stream)
      },
    ),
  ]
}

function streamed(c: Context, stream: ReadableStream<Uint8Array>): Response {
  c.header('content-type', 'text/event-stream')
  c.header('cache-control', 'no-cache, no-transform')
  c.header('x-accel-buffering', 'no')
  return c.body(stream)
}

function lastId(c: Context): string | undefined {
  return c.req.header('last-event-id') || undefined
}

/** The position that a client has. Throws `bad_request` for what is none. */
function lastPosition(c: Context): number | undefined {
  const last = lastId(c)
  if (last === undefined) return undefined
  if (/^\d{1,15}$/.test(last)) return Number(last)
  throw new ByrefError('bad_request', 'Last-Event-ID is the position of a record, such as 17')
}
