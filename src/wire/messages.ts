import { z } from 'zod'
import { AGENT_METADATA_KEYS } from '../core/messages/read-metadata.ts'
import { id, jsonObject, limit, time } from './common.ts'

const participant = z.looseObject({
  participant_id: z.string(),
  participant_role: z.string(),
  name: z.string().optional(),
})

/** A stored message. Other keys are returned unchanged. */
export const message = z
  .looseObject({
    id: z.string(),
    sender: participant,
    receiver: participant.optional(),
    message_type: z.enum(['chat', 'note', 'notice', 'command', 'command-response', 'log']),
    content_type: z.string(),
    content: z.unknown(),
    timestamp: time,
    metadata: z.looseObject({}),
  })
  .meta({ id: 'Message' })

/** A message with its position in the log. */
export const messageEntry = z.object({ position: z.int(), message })

/** `GET /api/conversations/:id/messages`: those after `after` in order, or the last ones before `before`. */
export const messagesQuery = z
  .strictObject({
    after: z.coerce.number().int().min(0).optional(),
    before: z.coerce.number().int().min(1).optional(),
    limit: limit(500, 100),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    error: 'use after or before, not both',
  })

/**
 * A page of messages, oldest first. The cursors are positions, which never change: `newer` is the `after` of the next page,
 * `older` the `before` of the previous page; null at the ends.
 */
export const messagesPage = z.object({
  messages: z.array(messageEntry),
  older: z.int().nullable(),
  newer: z.int().nullable(),
})

/** Metadata that a person sends. */
export const sentMetadata = z
  .looseObject({})
  .refine((given) => !AGENT_METADATA_KEYS.some((key) => key in given), {
    error: `only the agent may write ${AGENT_METADATA_KEYS.join(', ')}`,
  })
  .optional()

/** A message in any form that `toMessage` accepts. Missing fields get defaults. */
export const messageInput = z
  .looseObject({
    id: id.optional(),
    role: z.string().max(100).optional(),
    name: z.string().max(200).optional(),
    message_type: message.shape.message_type.optional(),
    content_type: z.string().max(200).optional(),
    content: z.unknown().optional(),
    type: z.enum(['text', 'data', 'input', 'state']).optional(),
    /** Files by reference, stored in the metadata. */
    attachments: z
      .array(z.looseObject({ assetRef: z.string() }))
      .max(100)
      .optional(),
    metadata: sentMetadata,
  })
  .refine(({ content, attachments = [] }) => !isBlank(content) || attachments.length > 0, {
    error: 'a message needs text or an attachment',
    path: ['content'],
  })
  .meta({ id: 'MessageInput' })

function isBlank(content: unknown): boolean {
  return typeof content === 'string' && content.trim() === ''
}

const label = z.strictObject({
  integrity: z.enum(['trusted', 'untrusted']).optional(),
  confidentiality: z.enum(['public', 'private']).optional(),
  readers: z.array(z.string().max(200)).max(1000).nullable().optional(),
})

const overrides = {
  /** Which agent answers. Default: the one that answered last, else the first. */
  agent: z.string().max(100).optional(),
  /** What to do during a run: `queue` waits for a new run, `steer` for the next step of the run, `reject` fails. */
  ifBusy: z.enum(['queue', 'steer', 'reject']).default('reject'),
  /** Whether it is private and who may read it, for agents with trust on (docs/reference/trust.md). */
  label: label.optional(),
  /** JSON that the tools of the run get. */
  context: z.unknown().optional(),
  /** A JSON Schema: the answer is JSON that matches it. */
  output: jsonObject.optional(),
  /** Settings of the model calls, by the AI SDK's names. */
  settings: jsonObject.optional(),
}

/** `POST /api/conversations/:id/messages`: one message, or a list of messages that start one run. */
export const sendBody = z.union([
  z.strictObject({ messages: z.array(messageInput).min(1).max(100), ...overrides }),
  messageInput.safeExtend({ ...overrides, messages: z.never().optional() }),
])

/** The accepted messages, and the run that they start, wait for or join. */
export const sent = z.object({
  messageIds: z.array(z.string()),
  /** The id of the first message. */
  messageId: z.string(),
  runId: z.string(),
})

/**
 * `POST /api/conversations/:id/messages/:messageId/retry`: forks the conversation before the message and sends it again,
 * unchanged or with other content.
 */
export const retryBody = z.strictObject({
  content: z
    .unknown()
    .refine((content) => !isBlank(content), { error: 'a message needs text' })
    .optional(),
  agent: z.string().max(100).optional(),
})

/** The fork in which a message was sent again. */
export const retried = sent.extend({ conversation: z.string() })
