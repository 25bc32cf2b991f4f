import { randomUUID } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { ByrefError } from '../core/errors.ts'
import type { Caller } from './caller.ts'
import { errorResponse, isServerFault } from './error-response.ts'
import type { Metrics } from './metrics.ts'

/** Receives a line for each request and each failure: the part of pino's interface that the server uses. */
export interface ServerLogger {
  info(entry: Record<string, unknown>): void
  error(entry: Record<string, unknown>): void
}

/** Writes failures to stderr and nothing for requests. */
export const errorsOnly: ServerLogger = {
  info() {},
  error({ err }) {
    console.error(err)
  },
}

/** A JSON answer, from which the pipeline makes the response. */
export interface JsonAnswer {
  jsonText: string
  status: number
  /** Headers in addition to those that every response has. */
  headers?: Readonly<Record<string, string>>
}

/** The answer of a handler: a response with all its headers, or JSON. */
export type AnyAnswer = Response | JsonAnswer

/** Returns a value as a JSON answer. Headers set on Hono's context are not added to it. */
export function jsonAnswer(
  value: unknown,
  status = 200,
  headers?: JsonAnswer['headers'],
): JsonAnswer {
  return { jsonText: JSON.stringify(value), status, headers }
}

/** Runs a handler inside the steps that every request passes; `route` is its name in the metrics. */
export type Pipeline = (c: Context, route: string, answer: Answerer) => Promise<Response>

type Answerer = () => AnyAnswer | Promise<AnyAnswer>

/** Options of {@link createPipeline}. */
export interface PipelineOptions {
  /** Throws for a request that must be rejected. */
  guard(c: Context): void
  /** Answers in place of the handler, or returns null to let the request pass. */
  draining(c: Context): Response | null
  log: ServerLogger
  metrics: Metrics
}

/** Logs a failure that comes after the head of the answer, if the server caused it. */
export function reportFailure(c: Context, error: unknown): void {
  const report: ((error: unknown) => void) | undefined = c.get('report')
  report?.(error)
}

/** Maximum number of characters of a URL. */
const MAX_URL = 16 * 1024

/**
 * Makes the steps that every request passes: a request id, the guard, error responses, compression, metrics and the
 * log. It is one function because a chain of middleware takes longer than the work in it.
 */
export function createPipeline({ guard, draining, log, metrics }: PipelineOptions): Pipeline {
  async function answered(c: Context, answer: Answerer): Promise<AnyAnswer> {
    const report = (error: unknown): void => {
      // A client that aborted its request caused the error itself.
      if (c.req.raw.signal.aborted || !isServerFault(error)) return
      log.error({ err: error, path: c.req.path })
    }
    c.set('report', report)
    try {
      guard(c)
      if (c.req.url.length > MAX_URL) {
        throw new ByrefError('bad_request', `The URL is longer than ${MAX_URL} characters`)
      }
      return draining(c) ?? (await answer())
    } catch (error) {
      report(error)
      return errorResponse(error, c)
    }
  }

  return async (c, route, answer) => {
    const started = performance.now()
    const id = requestId(c.req.header('x-request-id'))
    const response = await responseOf(c, await answered(c, answer), {
      'x-request-id': id,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      vary: 'accept-encoding',
    })
    const ms = performance.now() - started
    const { method, path } = c.req
    const { status } = response
    metrics.request({ method, route, status }, ms)
    const subject = (c.get('caller') as Caller | undefined)?.subject ?? 'anybody'
    log.info({ id, method, path, status, ms: Math.round(ms * 10) / 10, subject })
    return method === 'HEAD' ? withoutBody(response) : response
  }
}

/** Ends the body, which nobody reads. A stream would stay open. */
async function withoutBody(response: Response): Promise<Response> {
  await response.body?.cancel()
  return new Response(null, response)
}

/** Adds the headers that every response has. JSON gets them as a plain object, which is the fastest way. */
function responseOf(
  c: Context,
  answer: AnyAnswer,
  shared: Readonly<Record<string, string>>,
): Response | Promise<Response> {
  if ('jsonText' in answer) {
    const { jsonText, status, headers } = answer
    const length = Buffer.byteLength(jsonText)
    const response = new Response(jsonText, {
      status,
      headers: {
        ...shared,
        ...headers,
        'content-type': 'application/json',
        'content-length': String(length),
      },
    })
    return length < MIN_COMPRESSED ? response : compressed(c, response)
  }
  for (const [name, value] of Object.entries(shared)) {
    if (name === 'vary') answer.headers.append(name, value)
    else answer.headers.set(name, value)
  }
  return compressed(c, answer)
}

/** Returns the pipeline as middleware, around handlers that Hono calls. */
export function asMiddleware(pipeline: Pipeline, route: string): MiddlewareHandler {
  return (c, next) =>
    pipeline(c, route, async () => {
      await next()
      return c.res
    })
}

/** Returns the id that a proxy gave the request, if it is safe to log; otherwise a new id. */
export function requestId(given: unknown): string {
  return typeof given === 'string' && /^[\w.:/+=-]{1,200}$/.test(given) ? given : randomUUID()
}

/** Shorter bodies, in bytes, take more time to compress than they save. */
const MIN_COMPRESSED = 1024

const gzip = compress({ threshold: MIN_COMPRESSED })

/** What {@link compressed} needs from the server that handles a request. */
export interface ServerEnv {
  /**
   * Whether responses are compressed. A server around `fetch` does that itself: Next.js removes `content-encoding`,
   * and browsers could not read the body.
   */
  compresses: boolean
}

/** Compresses text for clients that accept it; not ranges, and not short bodies. */
async function compressed(c: Context, answer: Response): Promise<Response> {
  const { compresses = false }: Partial<ServerEnv> = c.env ?? {}
  if (!compresses || c.req.header('accept-encoding') === undefined) return answer
  await gzip(c, async () => {
    if (c.res !== answer) c.res = answer
  })
  return c.res
}
