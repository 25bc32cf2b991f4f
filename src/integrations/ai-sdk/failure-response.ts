import { ByrefError } from '../../core/errors.ts'
import { HTTP_STATUS, publicMessage } from '../../wire/http-status.ts'

/** The answer to a request that failed: its text is what `useChat` has as its error. */
export function failureResponse(error: unknown): Response {
  if (error instanceof URIError) return new Response('The address is malformed', { status: 400 })
  if (!(error instanceof ByrefError)) return new Response('Something went wrong', { status: 500 })
  return new Response(publicMessage(error), { status: HTTP_STATUS[error.code] })
}
