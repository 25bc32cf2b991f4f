import type { IncomingMessage, ServerResponse } from 'node:http'
import { ByrefError } from '../errors.ts'
import { failureOf } from './error-response.ts'

/**
 * Cuts a request off of whose body nothing comes for so many milliseconds, with 408. A body that flows may take as long as
 * it likes, and so may its answer.
 */
export function cutStalled(request: IncomingMessage, response: ServerResponse, ms: number): void {
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
