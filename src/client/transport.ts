import { ByrefError, type ByrefErrorCode, errorMessage } from '../core/errors.ts'

/**
 * A request that failed. `code` is the server's, `unreachable` without an answer, or `unexpected_response` if the answer is
 * not from byref. `status` is the HTTP status, 0 without an answer.
 */
export class ApiError extends ByrefError {
  readonly status: number

  constructor(status: number, code: string, message: string, options: { cause?: unknown } = {}) {
    // A newer server may send codes that this version does not know.
    super(code as ByrefErrorCode, message, options)
    this.status = status
  }

  /** Whether the same request may succeed later. */
  get transient(): boolean {
    const { status, code } = this
    if (code === 'config_invalid') return false
    return status === 0 || status === 408 || status === 429 || status >= 500
  }
}

/** How requests are sent. `createClient` makes it once. */
export interface Transport {
  /** Without a trailing slash. */
  baseUrl: string
  fetch: typeof fetch
  /** Whether `fetch` is the platform's own, so that XMLHttpRequest may replace it. */
  native: boolean
  /** Returns the header with the token, if there is one. */
  authorization(): Promise<{ authorization?: string }>
}

/** Options of one request. */
export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  body?: Blob | string
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Sends a request. Throws {@link ApiError} for an error response, and the signal's reason after an abort. */
export async function request(
  transport: Transport,
  path: string,
  { method = 'GET', json, body, headers, signal }: RequestOptions = {},
): Promise<Response> {
  return authorized(transport, async (authorization) => {
    signal?.throwIfAborted()
    const answer = transport.fetch(transport.baseUrl + path, {
      method,
      signal,
      headers: {
        ...authorization,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
    })
    const response = await unlessCut(answer, signal)
    if (response.ok) return response
    throw answeredError(response.status, await response.text().catch(() => ''))
  })
}

/** Sends with the current token. If the server rejects it, and there is another one by then, sends once more. */
export async function authorized<T>(
  { authorization }: Transport,
  send: (headers: { authorization?: string }) => Promise<T>,
): Promise<T> {
  const current = await authorization()
  try {
    return await send(current)
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error
    const next = await authorization()
    if (next.authorization === current.authorization) throw error
    return send(next)
  }
}

/** Sends a request like {@link request}, and parses the answer as JSON. */
export async function requestJson<T>(
  transport: Transport,
  path: string,
  options?: RequestOptions,
): Promise<T> {
  const response = await request(transport, path, options)
  return parseAnswer<T>(response.status, await unlessCut(response.text(), options?.signal))
}

/**
 * Waits for a part of a response. If the connection is lost meanwhile, it throws the same errors as {@link request}.
 */
export async function unlessCut<T>(part: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await part
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    throw cause instanceof ApiError ? cause : unreachable(cause)
  }
}

/** Parses the JSON of an answer. @throws ApiError for an answer that is not JSON */
export function parseAnswer<T>(status: number, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    const message =
      'The server did not answer with JSON. Check that the URL is that of a byref server.'
    throw new ApiError(status, 'unexpected_response', message, { cause })
  }
}

/** Returns the error for an error response, from its body. */
export function answeredError(status: number, body: string): ApiError {
  const { code, message } = readError(body)
  return new ApiError(
    status,
    code ?? 'unexpected_response',
    message ?? `${CAUSES[status] ?? 'The server rejected the request.'} (status ${status})`,
  )
}

const NO_ANSWER =
  'A proxy got no answer from the byref server. Check that it is running, and try again.'

/** What a response that is not from byref means, by its status. Proxies send their own pages. */
const CAUSES: Readonly<Record<number, string>> = {
  413: 'This is too large for a proxy between you and the byref server. Raise the size that it accepts.',
  429: 'There were too many requests. Wait a moment, and try again.',
  502: NO_ANSWER,
  503: NO_ANSWER,
  504: NO_ANSWER,
}

/** Returns the error for a request without an answer. */
export function unreachable(cause?: unknown): ApiError {
  const detail = cause === undefined ? '' : ` (${errorMessage(cause)})`
  const message = `The server cannot be reached${detail}. Check that it is running.`
  return new ApiError(0, 'unreachable', message, { cause })
}

function readError(body: string): { code?: string; message?: string } {
  try {
    const { error } = JSON.parse(body) as { error?: { code?: unknown; message?: unknown } }
    return {
      code: typeof error?.code === 'string' ? error.code : undefined,
      message: typeof error?.message === 'string' ? error.message : undefined,
    }
  } catch {
    return {}
  }
}
