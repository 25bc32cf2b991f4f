import {
  answeredError,
  authorized,
  request,
  type Transport,
  unlessCut,
  unreachable,
} from './transport.ts'

/** Options of {@link sendBlob}. */
export interface BlobOptions {
  method: 'POST' | 'PATCH'
  headers: Record<string, string>
  /** Called with the number of bytes sent so far. */
  onSent?: (bytes: number) => void
  signal?: AbortSignal
}

/** The answer of the server. */
export interface BlobAnswer {
  status: number
  text: string
  header(name: string): string | null
}

/**
 * Sends bytes without reading them into memory. In a browser it uses XMLHttpRequest, which alone reports progress. Elsewhere,
 * and with a custom `fetch`, it uses fetch. Throws as `request` does.
 */
export async function sendBlob(
  transport: Transport,
  path: string,
  blob: Blob,
  { method, headers, onSent, signal }: BlobOptions,
): Promise<BlobAnswer> {
  const Xhr = (globalThis as { XMLHttpRequest?: new () => Xhr }).XMLHttpRequest
  if (Xhr && transport.native) {
    const url = transport.baseUrl + path
    return authorized(transport, async (authorization) => {
      signal?.throwIfAborted()
      const all = { ...authorization, ...headers }
      return sendByXhr(new Xhr(), url, blob, { method, headers: all, onSent, signal })
    })
  }
  const response = await request(transport, path, { method, body: blob, headers, signal })
  const text = await unlessCut(response.text(), signal)
  onSent?.(blob.size)
  return { status: response.status, text, header: (name) => response.headers.get(name) }
}

/** The used part of XMLHttpRequest, so that this file needs no DOM types. */
interface Xhr {
  status: number
  responseText: string
  upload: { onprogress: unknown }
  onload: unknown
  onerror: unknown
  onabort: unknown
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getResponseHeader(name: string): string | null
  send(body: Blob): void
  abort(): void
}

function sendByXhr(
  xhr: Xhr,
  url: string,
  blob: Blob,
  { method, headers, onSent, signal }: BlobOptions,
): Promise<BlobAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<BlobAnswer>()
  const abort = () => xhr.abort()
  xhr.upload.onprogress = ({ loaded }: { loaded: number }) => onSent?.(loaded)
  xhr.onload = () => {
    const { status, responseText: text } = xhr
    if (status < 200 || status > 299) return reject(answeredError(status, text))
    resolve({ status, text, header: (name) => xhr.getResponseHeader(name) })
  }
  xhr.onerror = () => reject(unreachable())
  xhr.onabort = () => reject(signal?.reason ?? unreachable())
  signal?.addEventListener('abort', abort, { once: true })
  xhr.open(method, url)
  for (const [key, value] of Object.entries(headers)) xhr.setRequestHeader(key, value)
  xhr.send(blob)
  return promise.finally(() => signal?.removeEventListener('abort', abort))
}
