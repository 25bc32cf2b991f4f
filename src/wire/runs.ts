import { z } from 'zod'
import { jsonObject } from './common.ts'

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
