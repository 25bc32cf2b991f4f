import { z } from 'zod'
import { id, jsonObject } from './common.ts'

/** A person's answer to an approval. */
export const approvalAnswer = z.strictObject({
  approved: z.boolean(),
  /** Why it was denied; the model gets it. */
  reason: z.string().max(10_000).optional(),
  /** Changed arguments; for a mapped call, a list with the arguments of each item. */
  arguments: z.union([jsonObject, z.array(jsonObject.nullable())]).optional(),
  /** The result of the call, from elsewhere; the tool then does not run. */
  result: z.json().optional(),
})

/** Whether the call was approved. */
export const approved = z.object({ approved: z.boolean() })
/** `POST /api/conversations/:id/cancel`: only this run, and whether queued messages are deleted. Default: false. */
export const cancelAsk = z.strictObject({
  runId: id.optional(),
  discardQueued: z.boolean().optional(),
})
/** Whether there was something to cancel. */
export const cancelled = z.object({ cancelled: z.boolean() })
/** Whether the conversation was due. */
export const resumed = z.object({ resumed: z.boolean() })

/** `GET /api/conversations/:id/prompts/:messageId` */
export const promptQuery = z.strictObject({
  /** The answer to compare with. Default: the previous one. */
  against: id.optional(),
})

/** The difference between two prompts, by messages in the AI SDK's form. */
export const promptDifference = z.object({
  /** The answer of the other prompt. */
  messageId: z.string(),
  /** Number of equal messages at the beginning, which a provider can cache. */
  kept: z.int(),
  /** Messages of the other prompt after that. */
  removed: z.array(z.unknown()),
  /** Messages of this prompt after that. */
  added: z.array(z.unknown()),
})

/** The prompt of an answer. Bodies are replaced by their digests, as in debug data. */
export const promptAnswer = z.object({
  messageId: z.string(),
  model: z.unknown(),
  prompt: z.array(z.unknown()),
  tools: z.array(z.unknown()),
  /** The difference to the prompt of another answer; null for the first answer. */
  difference: promptDifference.nullable(),
})
