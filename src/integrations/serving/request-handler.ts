import type { StandardSchemaV1 } from '@standard-schema/spec'
import { meterStream } from '../../assets/bodies/body.ts'
import { ByrefError, errorMessage, HTTP_STATUS, publicMessage } from '../../core/errors.ts'
import { warn } from '../../core/in-background.ts'

/** Answers web requests. It is a function with a `fetch` property, so it fits servers that take either. */
export interface RequestHandler {
  (request: Request): Promise<Response>
  fetch(request: Request): Promise<Response>
}

export function requestHandler(serve: (request: Request) => Promise<Response>): RequestHandler {
  return Object.assign((request: Request) => serve(request), { fetch: serve })
}

/** Default maximum of a request with its files, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024

/**
 * Reads the JSON of a request. Forms on other sites cannot send its content type, so this prevents cross-site requests.
 *
 * @throws ByrefError `bad_request`, `body_too_large`
 */
export async function readBody(request: Request, maxBytes = MAX_BYTES): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new ByrefError('bad_request', 'The content type of the request must be application/json')
  }
  const text = await readText(request, maxBytes)
  if (text === '') throw noBody()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is not valid JSON', { cause })
  }
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  try {
    return await boundedBody(request, maxBytes).text()
  } catch (error) {
    throw isTooLarge(error) ? error : noBody(error)
  }
}

/** Returns the body of a request. Reading more than `maxBytes` of it throws ByrefError `body_too_large`. */
export function boundedBody({ body, headers }: Request, maxBytes: number): Response {
  let size = 0
  const onChunk = (chunk: Uint8Array): void => {
    size += chunk.byteLength
    if (size <= maxBytes) return
    const message = `The request is too large: a message and its files may have at most ${maxBytes} bytes`
    throw new ByrefError('body_too_large', message)
  }
  return new Response(body && meterStream(body, { onChunk }).stream, {
    headers: { 'content-type': headers.get('content-type') ?? '' },
  })
}

export function isTooLarge(error: unknown): boolean {
  return error instanceof ByrefError && error.code === 'body_too_large'
}

function noBody(cause?: unknown): ByrefError {
  const message =
    'The body is empty or cannot be read. A body parser may have read it: put this handler before express.json() and the like'
  return new ByrefError('bad_request', message, { cause })
}

/**
 * Reads the JSON of a request and checks its form.
 *
 * @param what The name of the form, for errors.
 * @throws ByrefError as {@link readBody}, and `bad_request` that names the invalid field
 */
export async function readJson<Value>(
  request: Request,
  schema: StandardSchemaV1<unknown, Value>,
  { what, maxBytes }: { what: string; maxBytes?: number },
): Promise<Value> {
  const result = await schema['~standard'].validate(await readBody(request, maxBytes))
  if (!result.issues) return result.value
  const { path, message } = result.issues[0] as StandardSchemaV1.Issue
  const place = path?.join('.') || 'body'
  throw new ByrefError('bad_request', `The body is not a valid ${what}: ${place}: ${message}`)
}

/** Returns the response to a request that failed, or that was thrown. `useChat` shows its text as the error. */
export function failureResponse(error: unknown): Response {
  if (error instanceof Response) return error
  if (error instanceof URIError) return new Response('The URL is malformed', { status: 400 })
  const status = error instanceof ByrefError ? HTTP_STATUS[error.code] : 500
  return new Response(failureText(error), { status })
}

/** Returns the message of an error for a browser. What the browser must not read becomes a process warning. */
export function failureText(error: unknown): string {
  const text = error instanceof ByrefError ? publicMessage(error) : 'Something went wrong'
  const message = errorMessage(error)
  if (text !== message) warn(`A request failed: ${message}`, error)
  return text
}
