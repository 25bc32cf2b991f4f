import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { failureOf } from './error-response.ts'

/** Where to listen. */
export interface ListenOptions {
  /** Default 4114; 0 takes any that is free. */
  port?: number
  /** Default 127.0.0.1: this machine only. Others need `auth`. */
  hostname?: string
  /** After how long a request is cut off of whose body nothing comes, in milliseconds; default 60,000. */
  stalledMs?: number
  /** How long open requests may take to end when it closes, in milliseconds; default 3,000. */
  graceMs?: number
}

const OPTIONS: OptionTable<ListenOptions> = {
  port: is.wholeNumber,
  hostname: is.string,
  stalledMs: is.positive,
  graceMs: is.notNegative,
}

/** A server that listens. */
export interface Listening {
  url: string
  /**
   * Stops: answers `shutting_down` from now on, ends the streams, closes the agents, which leaves their runs to whoever resumes
   * them, lets open requests end, and frees the port.
   */
  close(): Promise<void>
}

/** What listening needs of the server. */
export interface Listener {
  needsToken: boolean
  /** Takes up nothing new, and hands over what is under way. */
  drain(): Promise<void>
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

/** Listens on Node. Throws ByrefError `config_invalid`. */
export function listen(
  app: Hono,
  options: ListenOptions | undefined,
  { needsToken, drain }: Listener,
): Promise<Listening> {
  checkOptions('server.listen', options, OPTIONS)
  const { port = 4114, hostname = '127.0.0.1', stalledMs = 60_000, graceMs = 3000 } = options ?? {}
  if (!needsToken && !LOOPBACK.test(hostname)) {
    throw new ByrefError(
      'config_invalid',
      `A server on ${hostname} is open to others: start it with --auth, which asks for tokens of byref token (in code: createServer({ auth }))`,
    )
  }
  const server = createAdaptorServer({ fetch: app.fetch, hostname }) as HttpServer
  completeResponse()
  // A head that comes in drops is not waited for; a body may take as long as it flows.
  server.headersTimeout = 30_000
  server.requestTimeout = 0
  server.on('request', (request, response) => cutStalled(request, response, stalledMs))
  return new Promise((resolve, reject) => {
    // Later ones are of a connection that could not be taken (no file descriptor is left): the others go on.
    server.on('error', (error: NodeJS.ErrnoException) => {
      reject(cannotListen(error, hostname, port))
    })
    server.listen(port, hostname, () => {
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      const shown = hostname.includes(':') ? `[${hostname}]` : hostname
      resolve({
        url: `http://${shown}:${actual}`,
        async close() {
          await drain()
          const closed = new Promise((done) => server.close(done))
          server.closeIdleConnections()
          await Promise.race([closed, sleep(graceMs, undefined, { ref: false })])
          server.closeAllConnections()
          await closed
        },
      })
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): ByrefError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken: stop what listens there, or choose another with --port`,
    EACCES: `Port ${port} may not be used by this user: choose one above 1023 with --port`,
    EADDRNOTAVAIL: `${hostname} is no address of this machine: choose another with --host`,
  }
  const reason =
    reasons[error.code ?? ''] ?? `Cannot listen on ${hostname}:${port}: ${error.message}`
  return new ByrefError('config_invalid', reason, { cause: error })
}

/** The adapter makes its faster Response everybody's in this process, and that one lacks `bytes()`. */
function completeResponse(): void {
  if (Object.hasOwn(Response.prototype, 'bytes')) return
  const bytes = async function (this: Response): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer())
  }
  Object.defineProperty(Response.prototype, 'bytes', {
    value: bytes,
    configurable: true,
    writable: true,
  })
}

/**
 * Cuts a request off of whose body nothing comes for so many milliseconds, with 408. A body that flows may take as long as
 * it likes, and so may its answer.
 */
function cutStalled(request: IncomingMessage, response: ServerResponse, ms: number): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  // Without a listener the line is cut once all of the body is there, while the answer is being made.
  response.on('timeout', () => {})
  request.setTimeout(ms, () => {
    const { socket } = request
    if (!response.headersSent) socket.write(tooSlow(ms))
    socket.destroySoon()
  })
}

/** Written past the response, which others still mean to write. */
function tooSlow(ms: number): string {
  const message = `Nothing of the request's body came for ${ms} ms`
  const body = JSON.stringify(failureOf(new ByrefError('request_timeout', message)))
  const head = [
    'HTTP/1.1 408 Request Timeout',
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
