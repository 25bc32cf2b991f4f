import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/** An answer in JSON. */
export function jsonAnswer(
  c: Context,
  value: unknown,
  status: ContentfulStatusCode = 200,
): Response {
  return jsonText(c, JSON.stringify(value), status)
}

/** An answer of a text that is JSON. It says its length: what is short is not compressed. */
export function jsonText(c: Context, text: string, status: ContentfulStatusCode = 200): Response {
  c.header('content-type', 'application/json')
  c.header('content-length', String(Buffer.byteLength(text)))
  return c.body(text, status)
}
