import type { StandardSchemaV1 } from '@standard-schema/spec'
import { ByrefError } from '../../core/errors.ts'

/** Answers web requests. It is a function with a `fetch` property, so it fits servers that take either. */
export interface RequestHandler {
  (request: Request): Promise<Response>
  fetch(request: Request): Promise<Response>
}

export function requestHandler(serve: (request: Request) => Promise<Response>): RequestHandler {
  return Object.assign((request: Request) => serve(request), { fetch: serve })
}

/**
 * Reads the body of a request and checks its form.
 *
 * @param what The name of the form, for errors.
 * @throws ByrefError `bad_request` that names the invalid field
 */
export async function readJson<Value>(
  request: Request,
  schema: StandardSchemaV1<unknown, Value>,
  what: string,
): Promise<Value> {
  const result = await schema['~standard'].validate(await request.json().catch(() => null))
  if (!result.issues) return result.value
  const { path, message } = result.issues[0] as StandardSchemaV1.Issue
  const place = path?.join('.') || 'body'
  throw new ByrefError('bad_request', `The body is not a valid ${what}: ${place}: ${message}`)
}
