import { errorMessage } from '../core/errors.ts'
import { ApiError } from './api-error.ts'

/** Where requests go and how; made once by `createClient`. */
export interface Transport {
  /** Without a trailing slash. */
  baseUrl: string
  fetch: typeof fetch
  /** Whether `fetch` is the platform's own, so that another way of its may be taken where that can do more. */
  native: boolean
  headers: Readonly<Record<string, string>>
}

/** Options of one request. */
export interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: Blob | string
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Sends one request and gives its answer. Throws {@link ApiError} when refused; an abort throws the signal's reason. */
export async function request(
  transport: Transport,
  path: string,
  { method = 'GET', json, body, headers, signal }: RequestOptions = {},
): Promise<Response> {
  const response = await transport
    .fetch(transport.baseUrl + path, {
      method,
      signal,
      headers: {
        ...transport.headers,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: json === undefined ? body : JSON.stringify(json),
    })
    .catch((cause: unknown) => {
      if (signal?.aborted) throw signal.reason
      throw unreachable(cause)
    })
  if (response.ok) return response
  throw refusal(response.status, await response.text().catch(() => ''))
}

/** As {@link request}, and reads the answer as JSON of the type that the contract says. */
export async function requestJson<T>(
  transport: Transport,
  path: string,
  options?: RequestOptions,
): Promise<T> {
  const response = await request(transport, path, options)
  return parseAnswer<T>(response.status, await response.text())
}

/** The JSON of an answer, or an {@link ApiError} when something else than byref's server gave it. */
export function parseAnswer<T>(status: number, text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    const message = 'The server answered with something else than JSON. Is it byref?'
    throw new ApiError(status, 'unexpected_response', message, { cause })
  }
}

/** The error of a refused request from the body of the answer. */
export function refusal(status: number, body: string): ApiError {
  const { code, message } = readError(body)
  return new ApiError(
    status,
    code ?? 'unexpected_response',
    message ?? `The server answered with status ${status}.`,
  )
}

/** The error of a request without any answer. */
export function unreachable(cause?: unknown): ApiError {
  const detail = cause === undefined ? '' : ` (${errorMessage(cause)})`
  const message = `The server cannot be reached${detail}. Is it running?`
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
