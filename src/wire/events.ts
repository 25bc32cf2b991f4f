import { z } from 'zod'
import { limit, time } from './common.ts'

/** `GET /api/conversations/:id/events` */
export const eventsQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  limit: limit(1000, 500),
})

/** A durable event with its place in the log; the events are those of `src/core/events/events.ts`. */
export const logRecord = z
  .looseObject({
    v: z.int(),
    position: z.int(),
    timestamp: time,
    event: z.looseObject({ type: z.string() }),
  })
  .meta({ id: 'Record' })

/** A page of a conversation's log, oldest first. `next` is the `after` of the next page, null on the last. */
export const eventsPage = z.object({ records: z.array(logRecord), next: z.int().nullable() })

/** `GET /api/conversations/:id/stream`: `Last-Event-ID` comes before `after`. */
export const streamQuery = z.strictObject({ after: z.coerce.number().int().min(0).optional() })
