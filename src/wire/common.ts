import { z } from 'zod'

/** An id of a conversation, a message, a run or a call, as clients may choose it. */
export const id = z
  .string()
  .min(1)
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what an id may not have
  .regex(/^[^\u0000-\u001f\u007f]*$/, { error: 'an id has no control characters' })

/** ISO 8601 in UTC. */
export const time = z.string().meta({ format: 'date-time' })

/** A reference to an asset, `asset://…`, or its bare id. */
export const assetRef = z.string().min(1).max(4096)

/** `limit` of a page, as a query says it. */
export const limit = (most: number, usual: number) =>
  z.coerce.number().int().min(1).max(most).default(usual)

/** JSON of any form. */
export const json = z.unknown()

/** An object of which only some keys are known; others pass as they are. */
export const jsonObject = z.record(z.string(), z.unknown())

/** What the API answers where it fails: see docs/http-api.md for the codes and their statuses. */
export const errorAnswer = z
  .object({
    error: z.object({
      /** Stable, for programs: a `ByrefErrorCode`, or `internal`. */
      code: z.string(),
      message: z.string(),
      /** What is wrong with a request, by its fields. */
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      /** Of `table_invalid`: the file, which was kept. */
      asset: z.unknown().optional(),
    }),
  })
  .meta({ id: 'Error' })
