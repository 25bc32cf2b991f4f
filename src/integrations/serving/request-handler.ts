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
 * Requires a body of JSON. Forms on other sites cannot send this content type, so this prevents cross-site requests.
 *
 * @throws ByrefError `bad_request`
 */
export function requireJson({ headers }: Request): void {
  if (/^application\/json\b/i.test(headers.get('content-type') ?? '')) return
  throw new ByrefError('bad_request', 'The content type of the request must be application/json')
}

/**
 * Parses the body of a request.
 *
 * @throws ByrefError `bad_request`
 */
export function parseBody(text: string): unknown {
  if (text === '') throw noBody()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is not valid JSON', { cause })
  }
}

function noBody(cause?: unknown): ByrefError {
  const message =
    'The body is empty or cannot be read. A body parser may have read it: put this handler before express.json() and the like'
  return new ByrefError('bad_request', message, { cause })
}

/** Rethrows an error about options that a client sent: if they are invalid, its request is, and not the configuration. */
export function rethrowForClient(error: unknown): never {
  const isInvalid = error instanceof ByrefError && error.code === 'config_invalid'
  throw isInvalid ? new ByrefError('bad_request', error.message, { cause: error }) : error
}

/**
 * Reads the body of a request and checks its form.
 *
 * @param what The name of the form, for errors.
 * @throws ByrefError `bad_request` that names the invalid field, or for another content type than JSON
 */
export async function readJson<Value>(
  request: Request,
  schema: StandardSchemaV1<unknown, Value>,
  what: string,
): Promise<Value> {
  requireJson(request)
  const text = await request.text().catch((cause) => {
    throw noBody(cause)
  })
  const result = await schema['~standard'].validate(parseBody(text))
  if (!result.issues) return result.value
  const { path, message } = result.issues[0] as StandardSchemaV1.Issue
  const place = path?.join('.') || 'body'
  throw new ByrefError('bad_request', `The body is not a valid ${what}: ${place}: ${message}`)
}
