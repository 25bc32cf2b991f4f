import type { UploadResult } from '../wire/types.ts'
import { parseAnswer, refusal, requestJson, type Transport, unreachable } from './request.ts'

/** Options of an upload. */
export interface UploadOptions {
  /** The file's name; default: that of a `File`, else `file`. */
  name?: string
  /** Default: the blob's own type, else `application/octet-stream`. The server trusts the bytes more. */
  mimeType?: string
  /** Called with the share that has been sent, from 0 to 1. */
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

/**
 * Sends a file as it is, never read into memory as a whole. In a browser it goes by XMLHttpRequest, the only way that
 * tells the progress; elsewhere, and where a `fetch` was given, by fetch with progress at the start and the end.
 */
export async function upload(
  transport: Transport,
  file: Blob,
  { name = fileName(file), mimeType = file.type, onProgress, signal }: UploadOptions = {},
): Promise<UploadResult> {
  signal?.throwIfAborted()
  const path = `/api/assets?name=${encodeURIComponent(name)}`
  const headers = { 'content-type': mimeType || 'application/octet-stream' }
  const Xhr = (globalThis as { XMLHttpRequest?: new () => Xhr }).XMLHttpRequest
  onProgress?.(0)
  if (Xhr && transport.native) {
    const url = transport.baseUrl + path
    return sendByXhr(new Xhr(), file, {
      url,
      headers: { ...transport.headers, ...headers },
      onProgress,
      signal,
    })
  }
  const result = await requestJson<UploadResult>(transport, path, {
    method: 'POST',
    body: file,
    headers,
    signal,
  })
  onProgress?.(1)
  return result
}

/** The part of XMLHttpRequest that is used here, so that this file needs no types of the DOM. */
interface Xhr {
  status: number
  responseText: string
  upload: { onprogress: unknown }
  onload: unknown
  onerror: unknown
  onabort: unknown
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  send(body: Blob): void
  abort(): void
}

interface XhrOptions {
  url: string
  headers: Record<string, string>
  onProgress?: (fraction: number) => void
  signal?: AbortSignal
}

function sendByXhr(
  xhr: Xhr,
  file: Blob,
  { url, headers, onProgress, signal }: XhrOptions,
): Promise<UploadResult> {
  const { promise, resolve, reject } = Promise.withResolvers<UploadResult>()
  const abort = () => xhr.abort()
  xhr.upload.onprogress = (event: { loaded: number; total: number }) => {
    if (event.total > 0) onProgress?.(event.loaded / event.total)
  }
  xhr.onload = () => {
    try {
      if (xhr.status < 200 || xhr.status > 299) throw refusal(xhr.status, xhr.responseText)
      resolve(parseAnswer<UploadResult>(xhr.status, xhr.responseText))
    } catch (error) {
      reject(error)
    }
  }
  xhr.onerror = () => reject(unreachable())
  xhr.onabort = () => reject(signal?.reason ?? unreachable())
  signal?.addEventListener('abort', abort, { once: true })
  xhr.open('POST', url)
  for (const [key, value] of Object.entries(headers)) xhr.setRequestHeader(key, value)
  xhr.send(file)
  return promise.finally(() => signal?.removeEventListener('abort', abort))
}

function fileName(file: Blob): string {
  const name = (file as { name?: unknown }).name
  return typeof name === 'string' && name !== '' ? name : 'file'
}
