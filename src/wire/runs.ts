import { z } from 'zod'
import { id, jsonObject } from './common.ts'

/** A person's answer about a call that waits for one. */
export const approvalAnswer = z.strictObject({
  approved: z.boolean(),
  /** Told to the model where it was refused. */
  reason: z.string().max(10_000).optional(),
  /** What runs instead of what was shown; of a mapped call, a list with the arguments of each item. */
  arguments: z.union([jsonObject, z.array(jsonObject.nullable())]).optional(),
  /** The call's result, made elsewhere: then nothing runs. */
  result: z.json().optional(),
})

/** Whether the call was approved. */
export const approved = z.object({ approved: z.boolean() })
/** Whether there was a run to stop. */
export const cancelled = z.object({ cancelled: z.boolean() })
/** Whether there was something to go on with. */
export const resumed = z.object({ resumed: z.boolean() })

/** `GET /api/conversations/:id/prompts/:messageId` */
export const promptQuery = z.strictObject({
  /** The answer whose prompt it is held against; by default the one before. */
  against: id.optional(),
})

/** What two prompts have in common and what not, message by message, in the AI SDK's form. */
export const promptDifference = z.object({
  /** The answer of the other prompt. */
  messageId: z.string(),
  /** Messages that both begin with: what a provider's cache can keep. */
  kept: z.int(),
  /** Those of the other prompt behind that, which are not here any more. */
  removed: z.array(z.unknown()),
  /** Those that are new here. */
  added: z.array(z.unknown()),
})

/** What a model was given for one answer: bodies by their digests, as debug data have them. */
export const promptAnswer = z.object({
  messageId: z.string(),
  model: z.unknown(),
  prompt: z.array(z.unknown()),
  tools: z.array(z.unknown()),
  /** Against the prompt of another answer; null where there is none before. */
  difference: promptDifference.nullable(),
})
