import type { Context } from 'hono'
import type { z } from 'zod'
import { TableError } from '../assets/tables/table-error.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { errorAnswer } from '../wire/common.ts'
import { HTTP_STATUS, publicMessage } from '../wire/http-status.ts'
import { publicInfo } from './public-info.ts'
import { RequestError } from './request-error.ts'

/**
 * What somebody is told of a failure: code, message and issues of byref's own errors. What a store or a disk says, and what is
 * no error of byref's, may name places of this machine, and stays here.
 */
export function failureOf(error: unknown): z.infer<typeof errorAnswer> {
  if (!(error instanceof ByrefError)) {
    const message = 'Something failed in the server; its own output says what'
    return { error: { code: 'internal', message } }
  }
  const { code } = error
  const issues = error instanceof RequestError ? [...error.issues] : undefined
  // A broken table's file was saved all the same.
  const asset = error instanceof TableError && error.asset ? publicInfo(error.asset) : undefined
  return { error: { code, message: publicMessage(error), issues, asset } }
}

/** Whether somebody here should hear of a failure, and not only who asked. */
export function isOurFault(error: unknown): boolean {
  const code = codeOf(error)
  const isStopping = code === 'shutting_down' || code === 'interrupted'
  return !isStopping && (code === null || HTTP_STATUS[code] >= 500)
}

/** The answer to a request that failed, with the headers that the context was given until then. */
export function errorResponse(error: unknown, c: Context): Response {
  const code = codeOf(error)
  const status = code === null ? 500 : HTTP_STATUS[code]
  if (status === 429 || status === 503) c.header('retry-after', '1')
  if (code === 'unauthorized') c.header('www-authenticate', 'Bearer realm="byref"')
  c.header('cache-control', 'no-store')
  return c.json(failureOf(error), status)
}

function codeOf(error: unknown): ByrefErrorCode | null {
  return error instanceof ByrefError ? error.code : null
}
