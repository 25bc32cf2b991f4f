import { z } from 'zod'
import { id, limit, time } from './common.ts'

/**
 * The status of a conversation: nothing to do, a run is open, an open run waits for approval, or the last run failed.
 */
export const runStatus = z.enum(['idle', 'running', 'waiting', 'failed'])

/** One line of the list of conversations. */
export const conversationSummary = z
  .object({
    id: z.string(),
    /** The title it was given, else the first line of its first message. */
    title: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
    /** Number of messages of every type. */
    messages: z.int(),
    /** The position of the last record; 0 before the first. */
    position: z.int(),
    status: runStatus,
    /** Number of messages that wait for a run or a step. */
    queued: z.int(),
    hasRunner: z
      .boolean()
      .describe(
        'Whether a process worked on it when this was read, or workers will. If a run is open or messages wait, and this is false, `resume` continues it.',
      ),
    damage: z
      .object({ position: z.int(), reason: z.string() })
      .nullable()
      .describe('Where the conversation is damaged, and why; null for a sound one.'),
    /** The name of the agent that answers; null before the first run, and for an agent without a name. */
    agent: z.string().nullable(),
    /** Where it begins, for a branch: another version of the conversation `root`. */
    branch: z
      .object({ root: z.string(), from: z.string(), at: z.string().nullable() })
      .nullable()
      .describe('Null for a conversation that is not a branch of another.'),
  })
  .meta({ id: 'Conversation' })

/** `GET /api/conversations` */
export const conversationsQuery = z.strictObject({
  limit: limit(500, 50),
  /** `next` of the page before. */
  cursor: z.string().optional(),
  /** Only those with this text in the title or in a chat message; letter case does not matter. */
  search: z.string().max(1000).optional(),
  /** Only this conversation and its branches. */
  branchesOf: id.optional(),
})

/** A page of conversations, last changed first; `next` is the cursor of the next one, null at the end. */
export const conversationsPage = z.object({
  conversations: z.array(conversationSummary),
  next: z.string().nullable(),
})

const title = z.string().trim().min(1).max(200)

/** `POST /api/conversations` */
export const newConversation = z.strictObject({ id: id.optional(), title: title.optional() })

/** `PATCH /api/conversations/:id`; null restores the conversation's own title. */
export const conversationChange = z.strictObject({ title: title.nullable() })

/** The id of a new conversation. */
export const created = z.object({ id: z.string() })

/**
 * `POST /api/conversations/:id/fork`: `at` is the last shared message (default: the last message), or `before` the first
 * that is not. A `branch` is another version of the same conversation.
 */
export const forkAsk = z.strictObject({
  at: id.optional(),
  before: id.optional(),
  id: id.optional(),
  branch: z.boolean().optional(),
})

/** `GET /api/conversations/:id/export` */
export const exportQuery = z.strictObject({
  /** With debug data, for owners. */
  debug: z.stringbool().default(false),
})

/** `POST /api/conversations/import` */
export const importQuery = z.strictObject({
  id: id.optional(),
  /** Leaves an open run open. Only if nothing else continues the original. */
  resume: z.stringbool().default(false),
})

/** `GET /api/conversations/:id/events` */
export const eventsQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  limit: limit(1000, 500),
})

/** A durable event with its position in the log; `src/core/events/events.ts` defines the events. */
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

/** `GET /api/conversations/:id/stream`: the header `Last-Event-ID` has priority over `after`. */
export const streamQuery = z.strictObject({ after: z.coerce.number().int().min(0).optional() })
