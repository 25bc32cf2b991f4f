import type { Context } from 'hono'
import { z } from 'zod'
import { ByrefError } from '../errors.ts'

const page = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
})

/** `after` and `limit` of a request for a page. Throws `bad_request` for what is no number. */
export function pageQuery(query: Record<string, string | undefined>): z.infer<typeof page> {
  return parse(page, query)
}

const assets = z.object({
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
})

/** `cursor` and `limit` of a request for a page of assets. Throws `bad_request` for what is no number. */
export function assetPage(query: Record<string, string | undefined>): z.infer<typeof assets> {
  return parse(assets, query)
}

const rows = z.object({
  start: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
})

/** `start` and `limit` of a request for rows of a table. Throws `bad_request` for what is no number. */
export function rowPage(query: Record<string, string | undefined>): z.infer<typeof rows> {
  return parse(rows, query)
}

/** The JSON body of a request by a schema. Throws `bad_request` with path and reason. */
export async function readJson<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  if (!c.req.header('content-type')?.toLowerCase().startsWith('application/json')) {
    throw new ByrefError('bad_request', 'The body must be JSON, with content-type application/json')
  }
  let body: unknown
  try {
    body = await c.req.json()
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is no JSON', { cause })
  }
  return parse(schema, body)
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message }) =>
    `${path.join('.')} ${message}`.trim(),
  )
  throw new ByrefError('bad_request', problems.join('; '))
}
