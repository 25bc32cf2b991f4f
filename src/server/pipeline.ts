import { randomUUID } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { ByrefError } from '../core/errors.ts'
import type { Caller } from './caller.ts'
import { errorResponse, isOurFault } from './error-response.ts'
import type { AnyAnswer } from './json-answer.ts'
import type { Metrics } from './metrics.ts'
import type { ServerLogger } from './server-log.ts'

/** Answers a request within what every request goes through; `route` is what the metrics call it. */
export type Pipeline = (c: Context, route: string, answer: Answerer) => Promise<Response>

type Answerer = () => AnyAnswer | Promise<AnyAnswer>

/** What a pipeline checks and whom it tells. */
export interface PipelineOptions {
  /** Throws for who is not answered at all. */
  guard(c: Context): void
  /** Answers instead of everybody else; null for who may go on. */
  draining(c: Context): Response | null
  log: ServerLogger
  metrics: Metrics
}

/** Characters of a path and its query. */
const MAX_URL = 16 * 1024

/**
 * Makes what every request goes through, as one function: a chain of middleware costs more than all that it does. It gives the
 * request an id, checks where it comes from, makes an answer of what is thrown, compresses, and counts and logs it.
 */
export function createPipeline({ guard, draining, log, metrics }: PipelineOptions): Pipeline {
  async function answered(c: Context, answer: Answerer): Promise<AnyAnswer> {
    try {
      guard(c)
      if (c.req.url.length > MAX_URL) {
        throw new ByrefError('bad_request', `An address has at most ${MAX_URL} characters`)
      }
      return draining(c) ?? (await answer())
    } catch (error) {
      // Nobody hears what becomes of a request that was broken off, and it is nobody's fault here.
      if (!c.req.raw.signal.aborted) report(error, c)
      return errorResponse(error, c)
    }
  }

  function report(error: unknown, c: Context): void {
    if (isOurFault(error)) log.error({ err: error, path: c.req.path })
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
    const subject = (c.get('caller' as never) as Caller | undefined)?.subject ?? 'anybody'
    log.info({ id, method, path, status, ms: Math.round(ms * 10) / 10, subject })
    return response
  }
}

/** The response with the headers that every one has. As long as it may, JSON has them as a plain object, which costs least. */
function responseOf(
  c: Context,
  answer: AnyAnswer,
  own: Readonly<Record<string, string>>,
): Response | Promise<Response> {
  if ('jsonText' in answer) {
    const { jsonText, status, headers } = answer
    const length = Buffer.byteLength(jsonText)
    const response = new Response(jsonText, {
      status,
      headers: {
        ...own,
        ...headers,
        'content-type': 'application/json',
        'content-length': String(length),
      },
    })
    return length < WORTH_COMPRESSING ? response : compressed(c, response)
  }
  for (const [name, value] of Object.entries(own)) {
    if (name === 'vary') answer.headers.append(name, value)
    else answer.headers.set(name, value)
  }
  return compressed(c, answer)
}

/** A pipeline around what other handlers answer. */
export function asMiddleware(pipeline: Pipeline, route: string): MiddlewareHandler {
  return (c, next) =>
    pipeline(c, route, async () => {
      await next()
      return c.res
    })
}

/** The id of a request: the proxy's where it is one that may stand in a log, else a new one. */
function requestId(given: string | undefined): string {
  return given !== undefined && /^[\w.:/+=-]{1,200}$/.test(given) ? given : randomUUID()
}

/** Bytes below which compression costs more than it spares. */
const WORTH_COMPRESSING = 1024

const gzip = compress({ threshold: WORTH_COMPRESSING })

/** The answer as the client takes it: compressed, unless it is too short (by its content-length), a range, or no text. */
async function compressed(c: Context, answer: Response): Promise<Response> {
  if (c.req.header('accept-encoding') === undefined) return answer
  await gzip(c, async () => {
    if (c.res !== answer) c.res = answer
  })
  return c.res
}
