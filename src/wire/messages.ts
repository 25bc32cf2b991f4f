import { z } from 'zod'
import { id, jsonObject, limit, time } from './common.ts'

const participant = z.looseObject({
  participant_id: z.string(),
  participant_role: z.string(),
  name: z.string().optional(),
})

/** A stored message. What it holds beside these keys comes back as it came. */
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

/** A message with its place in the conversation's log. */
export const messageEntry = z.object({ position: z.int(), message })

/** `GET /api/conversations/:id/messages`: those behind `after` in order, or the last ones before `before`. */
export const messagesQuery = z
  .strictObject({
    after: z.coerce.number().int().min(0).optional(),
    before: z.coerce.number().int().min(1).optional(),
    limit: limit(500, 100),
  })
  .refine(({ after, before }) => after === undefined || before === undefined, {
    error: 'give after or before, not both',
  })

/**
 * A page of messages, oldest first. The cursors are positions, which never change: `newer` is the `after` of the page
 * behind it, `older` the `before` of the page before it; null at the ends.
 */
export const messagesPage = z.object({
  messages: z.array(messageEntry),
  older: z.int().nullable(),
  newer: z.int().nullable(),
})

/** What only the agent says of a message. */
const AGENTS_OWN = ['tool_calls', 'tool_result', 'has_debug_data', 'reasoning', 'incomplete']

/** Metadata as a person sends them. */
export const sentMetadata = z
  .looseObject({})
  .refine((given) => !AGENTS_OWN.some((key) => key in given), {
    error: `${AGENTS_OWN.join(', ')} are the agent's to say`,
  })
  .optional()

/** A message in any of the forms that `toMessage` takes; what it lacks gets a default. */
export const messageInput = z
  .looseObject({
    id: id.optional(),
    role: z.string().max(100).optional(),
    name: z.string().max(200).optional(),
    message_type: message.shape.message_type.optional(),
    content_type: z.string().max(200).optional(),
    content: z.unknown().optional(),
    type: z.enum(['text', 'data', 'input', 'state']).optional(),
    /** Files by reference, kept among the metadata. */
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

const ask = {
  /** Which agent answers; by default the one that has answered in the conversation, else the first. */
  agent: z.string().max(100).optional(),
  /** During a run: `queue` waits for a run of its own, `steer` for the next step of the run; else it is refused. */
  ifBusy: z.enum(['queue', 'steer', 'refuse']).default('refuse'),
  /** Whether it is private and who may read it, where the agent has trust on (docs/trust.md). */
  label: label.optional(),
  /** JSON that tools are given with the run. */
  context: z.unknown().optional(),
  /** JSON Schema of the answer, which then is JSON. */
  output: jsonObject.optional(),
  /** Of the model calls, by the AI SDK's names. */
  settings: jsonObject.optional(),
}

/** `POST /api/conversations/:id/messages`: one message by its own keys, or several; they start one run. */
export const sendBody = z.union([
  z.strictObject({ messages: z.array(messageInput).min(1).max(100), ...ask }),
  messageInput
    .safeExtend(ask)
    .refine((given) => !('messages' in given), { error: 'messages stand alone, in a list' }),
])

/** What was taken: the messages, and the run that they start, wait for or join. */
export const sent = z.object({
  messageIds: z.array(z.string()),
  /** Of the first one. */
  messageId: z.string(),
  runId: z.string(),
})

/**
 * `POST /api/conversations/:id/messages/:messageId/retry`: a conversation that begins as this one up to the message, and
 * says it again, as it was or with other content.
 */
export const retryBody = z.strictObject({
  content: z.unknown().optional(),
  agent: z.string().max(100).optional(),
})

/** The conversation in which a message was said again. */
export const retried = sent.extend({ conversation: z.string() })
