import { z } from 'zod'

/** An id of a conversation, a message, a run or a call, which clients may choose. URLs cannot have "." and "..". */
export const id = z
  .string()
  .min(1)
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are rejected
  .regex(/^(?!\.{1,2}$)[^\u0000-\u001f\u007f]*$/, {
    error: 'an id must not contain control characters, and must not be "." or ".."',
  })

/** ISO 8601 in UTC. */
export const time = z.string().meta({ format: 'date-time' })

/** A reference to an asset, `asset://…`, or its bare id. */
export const assetRef = z.string().min(1).max(4096)

/** The `limit` of a page in a query. */
export const limit = (most: number, usual: number) =>
  z.coerce.number().int().min(1).max(most).default(usual)

/** JSON of any form. */
export const json = z.unknown()

/** A JSON object with any keys. */
export const jsonObject = z.record(z.string(), z.unknown())

/** The body of an error response; docs/reference/http-api.md lists the codes and their statuses. */
export const errorAnswer = z
  .object({
    error: z.object({
      /** Stable, for programs: a `ByrefErrorCode`, or `internal`. */
      code: z.string(),
      message: z.string(),
      /** The problems of a request, by field. */
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      /** For `table_invalid`: the file, which was saved. */
      asset: z.unknown().optional(),
    }),
  })
  .meta({ id: 'Error' })
