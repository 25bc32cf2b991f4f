import { type Server as HttpServer, IncomingMessage, type ServerResponse } from 'node:http'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { called } from '../core/called.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { LONGEST_TIMER } from '../core/timer.ts'
import { failureOf } from './error-response.ts'
import { requestId, type ServerEnv } from './pipeline.ts'

/** Options of `Server.listen`. */
export interface ListenOptions {
  /** Default: 4114. 0 takes any free port. */
  port?: number
  /** Default: 127.0.0.1, which is this machine only. Other addresses need `auth`. */
  hostname?: string
  /** Time after which a request whose body stalls is ended, in milliseconds. Default: 60,000. */
  stalledMs?: number
  /** How long open requests may take to end when the server closes, in milliseconds. Default: 3,000. */
  graceMs?: number
}

const OPTIONS: OptionTable<ListenOptions> = {
  port: is.wholeNumber,
  hostname: called(is.string, 'host'),
  stalledMs: is.positive,
  graceMs: is.notNegative,
}

/** A listening server. */
export interface Listening {
  url: string
  /**
   * Stops the server. It rejects new requests with `shutting_down`, ends the streams and closes the agents, whose runs
   * can be resumed later. Then it lets open requests end, and frees the port.
   */
  close(): Promise<void>
}

/** The parts of the server that {@link listen} needs. */
export interface Listener {
  needsToken: boolean
  /** Stops accepting work, and releases what is running. */
  drain(): Promise<void>
}

const MAX_PORT = 65_535

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1|\[::1\])$/

/** Whether only programs on this machine reach this address. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname)
}

/** Returns the message for a server without tokens on an address that is not loopback. */
export function openToEveryone(hostname: string): string {
  return `A server on ${hostname} is open to everyone: require tokens (byref token) with --auth, or in code with createServer({ auth })`
}

/** Listens on Node. Throws ByrefError `config_invalid`. */
export function listen(
  app: Hono,
  options: ListenOptions | undefined,
  { needsToken, drain }: Listener,
): Promise<Listening> {
  checkOptions('server.listen', options, OPTIONS)
  const { port = 4114, hostname = '127.0.0.1', stalledMs = 60_000, graceMs = 3000 } = options ?? {}
  if (!needsToken && !isLoopback(hostname)) {
    throw new ByrefError('config_invalid', openToEveryone(hostname))
  }
  if (port > MAX_PORT) {
    throw new ByrefError('config_invalid', `${port} is not a port: use 0 to ${MAX_PORT}`)
  }
  const env: ServerEnv = { compresses: true }
  const server = createAdaptorServer({
    hostname,
    fetch: async (request, { incoming }) => {
      // After `closeAfter`, nobody would get the response.
      if (incoming.socket?.writableEnded) return new Response(null, { status: 503 })
      const response = await app.fetch(request, env)
      if (response.status < 400) return response
      // A body in the packet of the headers arrives after them.
      await setImmediate()
      const isUnread = incoming instanceof IncomingMessage && !incoming.complete
      return isUnread ? closeAfter(response, incoming) : response
    },
  }) as HttpServer
  // Headers must arrive soon. A body may take as long as bytes arrive.
  server.headersTimeout = 30_000
  server.requestTimeout = 0
  server.on('request', (request, response) => endStalled(request, response, stalledMs))
  return new Promise((resolve, reject) => {
    // A later error concerns one connection only, for example if no file descriptor is left.
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
          await Promise.race([
            closed,
            sleep(Math.min(graceMs, LONGEST_TIMER), undefined, { ref: false }),
          ])
          server.closeAllConnections()
          await closed
        },
      })
    })
  })
}

function cannotListen(error: NodeJS.ErrnoException, hostname: string, port: number): ByrefError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use: stop the program that listens there, or choose another port (--port on the command line)`,
    EACCES: `This user may not listen on port ${port}: choose a port above 1023 (--port on the command line)`,
    EADDRNOTAVAIL: `${hostname} is not an address of this machine: choose another (--host on the command line)`,
  }
  const reason =
    reasons[error.code ?? ''] ?? `Cannot listen on ${hostname}:${port}: ${error.message}`
  return new ByrefError('config_invalid', reason, { cause: error })
}

/** How long the rest of a rejected body is discarded, in milliseconds. */
const LINGER_MS = 2000

/**
 * Closes the connection of a request that was rejected before its body arrived, because the next request would be lost.
 * The rest of the body is discarded for a while: a client that is still sending would lose the response.
 */
function closeAfter(response: Response, incoming: IncomingMessage): Response {
  response.headers.set('connection', 'close')
  const { socket } = incoming
  // Node calls it after the response.
  socket.destroySoon = () => {
    socket.end()
    // The stream of the body, which nobody reads, would pause it.
    incoming.removeAllListeners('data').resume()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  return response
}

/**
 * Ends a request with 408 if no byte of its body arrives for `ms` milliseconds. A body that arrives steadily may take
 * any time, and so may the answer.
 */
function endStalled(request: IncomingMessage, response: ServerResponse, ms: number): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  // Without this listener Node ends the connection after the whole body arrived, while the answer is being made.
  response.on('timeout', () => {})
  request.setTimeout(ms, () => {
    const { socket } = request
    const id = requestId(request.headers['x-request-id'])
    if (!response.headersSent) socket.write(timeoutResponse(ms, id))
    socket.destroySoon()
  })
}

/** Returns an HTTP response, written to the socket because the handler still owns the response object. */
function timeoutResponse(ms: number, id: string): string {
  const message = `No byte of the request body arrived for ${ms} ms`
  const body = JSON.stringify(failureOf(new ByrefError('request_timeout', message)))
  const head = [
    'HTTP/1.1 408 Request Timeout',
    'connection: close',
    'content-type: application/json',
    `x-request-id: ${id}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
