import type { Context } from 'hono'
import type { z } from 'zod'
import { ByrefError } from '../core/errors.ts'
import { RequestError } from './request-error.ts'

/** Bytes of a body of JSON; files are uploaded, not said. */
const MAX_BODY = 4 * 1024 * 1024

/** Levels of a body of JSON. */
const MAX_DEPTH = 200

/**
 * The JSON body of a request by a schema; one that is empty is `{}`.
 *
 * @throws ByrefError `bad_request`, with every issue; `body_too_large`, `too_deep`
 */
export async function readJson<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await readText(c)
  if (text === '') return parse(schema, {}, 'body')
  if (!c.req.header('content-type')?.toLowerCase().startsWith('application/json')) {
    throw new ByrefError('bad_request', 'The body must be JSON, with content-type application/json')
  }
  if (depthOf(text) > MAX_DEPTH) {
    throw new ByrefError('too_deep', `A body of JSON has at most ${MAX_DEPTH} levels`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is no JSON', { cause })
  }
  return parse(schema, body, 'body')
}

/** The text of a body, as long as it may be. Of one that says its length, no more than that is read. */
async function readText({ req }: Context): Promise<string> {
  const said = req.header('content-length')
  if (said !== undefined && Number(said) <= MAX_BODY) return req.text()
  if (said !== undefined) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of req.raw.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

function tooLarge(): ByrefError {
  return new ByrefError(
    'body_too_large',
    `A body of JSON has at most ${MAX_BODY} bytes; upload files as assets`,
  )
}

/** The value by the schema. Throws `bad_request` with every issue. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, what: 'query' | 'body'): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const all = result.error.issues.flatMap((issue) =>
    issue.code === 'invalid_union' ? issue.errors.flat() : issue,
  )
  const issues = all.map(({ path, message }) => ({ path: path.join('.'), message }))
  throw new RequestError(`The ${what} of the request is not as it must be`, issues)
}

/** How deep brackets are nested in a text of JSON, without a parse: those in strings do not count. */
function depthOf(text: string): number {
  let depth = 0
  let most = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) i++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 91 || code === 123) most = Math.max(most, ++depth)
    else if (code === 93 || code === 125) depth--
  }
  return most
}
