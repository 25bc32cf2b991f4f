import { z } from 'zod'
import { id, limit, time } from './common.ts'

/**
 * How a conversation stands: nothing to do; a run under way; a run that waits for a person's answer; the last run
 * failed.
 */
export const runStatus = z.enum(['idle', 'running', 'waiting', 'failed'])

/** One line of the list of conversations. */
export const conversationSummary = z
  .object({
    id: z.string(),
    /** The name it was given, else the first words of its first message. */
    title: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
    /** How many messages it has, of every type. */
    messages: z.int(),
    /** Of its last record; 0 before the first. */
    position: z.int(),
    status: runStatus,
    /** Messages that wait for a run or a step of their own. */
    queued: z.int(),
    damage: z
      .object({ position: z.int(), reason: z.string() })
      .nullable()
      .describe('Where the conversation cannot be read, and why; null for a sound one.'),
    /** The name of the agent that answers, where it has one and has begun to. */
    agent: z.string().nullable(),
  })
  .meta({ id: 'Conversation' })

/** `GET /api/conversations` */
export const conversationsQuery = z.strictObject({
  limit: limit(500, 50),
  /** `next` of the page before. */
  cursor: z.string().optional(),
  /** Only those whose title or chat text contains this, whatever its letter case. */
  search: z.string().max(1000).optional(),
})

/** A page of conversations, last changed first; `next` is the cursor of the next one, null at the end. */
export const conversationsPage = z.object({
  conversations: z.array(conversationSummary),
  next: z.string().nullable(),
})

const title = z.string().trim().min(1).max(200)

/** `POST /api/conversations` */
export const newConversation = z.strictObject({ id: id.optional(), title: title.optional() })

/** `PATCH /api/conversations/:id`; a title of null gives it its own again. */
export const conversationChange = z.strictObject({ title: title.nullable() })

/** What was made, by its id. */
export const created = z.object({ id: z.string() })

/** `POST /api/conversations/:id/fork`: `at` is the last message that both share, all of it by default. */
export const forkAsk = z.strictObject({ at: id.optional(), id: id.optional() })

/** `GET /api/conversations/:id/export` */
export const exportQuery = z.strictObject({
  /** With the debug data, for those who may see them. */
  debug: z.stringbool().default(false),
})

/** `POST /api/conversations/import` */
export const importQuery = z.strictObject({ id: id.optional() })

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
