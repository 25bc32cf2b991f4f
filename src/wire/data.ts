import { z } from 'zod'
import { id, jsonObject } from './common.ts'
import { sentMetadata } from './messages.ts'

/** The entry of the board for one kind and instance. */
export const boardEntry = z
  .object({
    kind: z.string(),
    instance: z.string().optional(),
    /** Absent before the first write; null is a value. */
    data: z.unknown().optional(),
    schema: jsonObject.optional(),
    description: z.string().optional(),
    /** The last message that wrote here. */
    messageId: z.string(),
  })
  .meta({ id: 'BoardEntry' })

/** `GET /api/conversations/:id/data`: now, or after a message. */
export const dataQuery = z.strictObject({
  at: id.optional(),
  /** Only the value of this variable reference, such as `†state.total`. */
  ref: z.string().max(10_000).optional(),
  instance: z.string().max(200).optional(),
})

/** The board, or one value of it. */
export const dataAnswer = z.union([
  z.object({ entries: z.array(boardEntry) }),
  z.object({ value: z.unknown() }),
])

/** `POST /api/conversations/:id/data`: an edit by a person, as a data message; no run starts. */
export const dataEdit = z.looseObject({
  kind: z.string().max(200),
  data: z.unknown().optional(),
  schema: jsonObject.optional(),
  description: z.string().max(10_000).optional(),
  _instance: z.string().max(200).optional(),
  _path: z.union([z.string(), z.array(z.union([z.string(), z.number()]))]).optional(),
  _outputMethod: z.enum(['set', 'merge', 'assign', 'push', 'concat', 'delete']).optional(),
  metadata: sentMetadata,
})

/** The message of the edit. */
export const dataEdited = z.object({ messageId: z.string() })
