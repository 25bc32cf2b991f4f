import type { Context } from 'hono'
import type { z } from 'zod'
import { TableError } from '../assets/tables/table-error.ts'
import { ByrefError, type ByrefErrorCode, HTTP_STATUS, publicMessage } from '../core/errors.ts'
import type { errorAnswer } from '../wire/common.ts'
import { RateLimitedError } from './caller.ts'
import { publicInfo } from './public-info.ts'
import { RequestError } from './request-body.ts'

/**
 * Returns the public part of a failure: code, message and issues of byref's errors. Messages of stores, of the
 * disk and of other errors may contain paths or hosts of this machine, so they are not sent.
 */
export function failureOf(error: unknown): z.infer<typeof errorAnswer> {
  if (!(error instanceof ByrefError)) {
    return { error: { code: 'internal', message: 'The server failed: see its log for the cause' } }
  }
  const { code } = error
  const issues = error instanceof RequestError ? [...error.issues] : undefined
  // The file of a broken table was saved.
  const asset = error instanceof TableError && error.asset ? publicInfo(error.asset) : undefined
  return { error: { code, message: publicMessage(error), issues, asset } }
}

/** Returns whether the server caused the failure, so that it must be logged. */
export function isServerFault(error: unknown): boolean {
  const code = codeOf(error)
  const isStopping = code === 'shutting_down' || code === 'interrupted'
  return !isStopping && (code === null || HTTP_STATUS[code] >= 500)
}

/** Returns the response to a failed request, with the headers that Hono's context already has. */
export function errorResponse(error: unknown, c: Context): Response {
  const code = codeOf(error)
  const status = code === null ? 500 : HTTP_STATUS[code]
  const seconds = error instanceof RateLimitedError ? error.seconds : 1
  if (status === 429 || status === 503) c.header('retry-after', `${seconds}`)
  if (code === 'unauthorized') c.header('www-authenticate', 'Bearer realm="byref"')
  c.header('cache-control', 'no-store')
  return c.json(failureOf(error), status)
}

function codeOf(error: unknown): ByrefErrorCode | null {
  return error instanceof ByrefError ? error.code : null
}
