import type { UploadResult } from '../wire/types.ts'
import { pause, pauseAfter } from './follow-stream.ts'
import { sendBlob } from './send-blob.ts'
import { readEventStream } from './server-sent-events.ts'
import {
  ApiError,
  parseAnswer,
  refusal,
  request,
  requestJson,
  type Transport,
  unreachable,
} from './transport.ts'

/** Progress of importing a table: `bytes` of `size` were read, or read a second time for writing. */
export interface ImportProgress {
  phase: 'reading' | 'writing'
  bytes: number
  size: number
}

/** Options of an upload. */
export interface UploadOptions {
  /** The name of the file. Default: that of a `File`, else `file`. */
  name?: string
  /** Default: the blob's type, else `application/octet-stream`. The server trusts the bytes more than this type. */
  mimeType?: string
  /** Called with the fraction that has been sent, from 0 to 1. */
  onProgress?: (fraction: number) => void
  /** Called while the server makes a table of a large file. */
  onImport?: (progress: ImportProgress) => void
  /** An abort ends the upload and leaves nothing behind. */
  signal?: AbortSignal
  /** Larger files are sent in pieces of this size, and continue after an interruption, in bytes. Default: 16 MiB. */
  pieceBytes?: number
  /** The first pause before another attempt, in milliseconds; doubles up to 20 times. Default: 500. */
  retryDelay?: number
}

const PIECE_BYTES = 16 * 1024 * 1024

/**
 * Uploads a file. A large file is sent in pieces. After a lost connection or a restart of the server it continues with the
 * missing bytes, and gives up after 15 consecutive attempts without progress.
 */
export async function upload(
  transport: Transport,
  file: Blob,
  options: UploadOptions = {},
): Promise<UploadResult> {
  const { name = fileName(file), onProgress, signal, pieceBytes = PIECE_BYTES } = options
  const mimeType = options.mimeType || file.type || 'application/octet-stream'
  signal?.throwIfAborted()
  onProgress?.(0)
  const onSent = (bytes: number) => {
    if (file.size > 0) onProgress?.(Math.min(1, bytes / file.size))
  }
  if (file.size > pieceBytes) {
    const { retryDelay = 500, onImport } = options
    const pieces = { name, mimeType, onSent, onImport, signal, pieceBytes, retryDelay }
    const made = await uploadInPieces(transport, file, pieces)
    if (made) return made
  }
  const path = `/api/assets?name=${encodeURIComponent(name)}`
  const headers = { 'content-type': mimeType }
  const { status, text } = await sendBlob(transport, path, file, {
    method: 'POST',
    headers,
    onSent,
    signal,
  })
  if (file.size === 0) onProgress?.(1)
  return parseAnswer<UploadResult>(status, text)
}

function fileName(file: Blob): string {
  const name = (file as { name?: unknown }).name
  return typeof name === 'string' && name !== '' ? name : 'file'
}

/** Options of {@link uploadInPieces}, with all defaults. */
type PiecesOptions = Required<
  Pick<UploadOptions, 'name' | 'mimeType' | 'pieceBytes' | 'retryDelay'>
> &
  Pick<UploadOptions, 'onImport' | 'signal'> & {
    /** Called with the number of bytes that the server has. */
    onSent: (bytes: number) => void
  }

/** An upload that has started. */
interface StartedUpload {
  path: string
  /** How many bytes the server has; null if this is unknown. */
  offset: number | null
}

/** Maximum number of consecutive attempts without progress. */
const MAX_ATTEMPTS = 15

const TUS = { 'tus-resumable': '1.0.0' }

/**
 * Uploads a file by the tus protocol 1.0 (tus.io/protocols/resumable-upload). After a failure it asks how many bytes the server
 * has, and sends the rest. Null if the server does not support it. An abort deletes the upload.
 */
async function uploadInPieces(
  transport: Transport,
  file: Blob,
  options: PiecesOptions,
): Promise<UploadResult | null> {
  const { signal, retryDelay } = options
  let upload: StartedUpload | null = null
  for (let failures = 0; ; ) {
    try {
      upload ??= await startUpload(transport, file, options)
      if (!upload) return null
      upload.offset ??= await offsetOf(transport, upload, signal)
      while (upload.offset < file.size) {
        upload.offset = await sendPiece(transport, file, upload, options)
        failures = 0
      }
      return await finish(transport, upload, options)
    } catch (error) {
      if (signal?.aborted && upload) deleteUpload(transport, upload)
      failures++
      if (failures === MAX_ATTEMPTS || !mayRetry(error, upload)) throw error
      await pause(pauseAfter(failures - 1, retryDelay), signal)
      if (isNotFound(error)) upload = null
      else if (upload && upload.offset !== file.size) upload.offset = null
    }
  }
}

/** Starts an upload; null if the server does not support it. */
async function startUpload(
  transport: Transport,
  file: Blob,
  { name, mimeType, signal }: PiecesOptions,
): Promise<StartedUpload | null> {
  const metadata = `filename ${base64(name)},filetype ${base64(mimeType)}`
  const headers = { ...TUS, 'upload-length': String(file.size), 'upload-metadata': metadata }
  try {
    const made = await request(transport, '/api/uploads', { method: 'POST', headers, signal })
    const id = made.headers.get('location')?.split('/').at(-1)
    if (!id) throw protocolError(made.status)
    return { path: `/api/uploads/${id}`, offset: 0 }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

async function offsetOf(
  transport: Transport,
  { path }: StartedUpload,
  signal?: AbortSignal,
): Promise<number> {
  const known = await request(transport, path, { method: 'HEAD', headers: TUS, signal })
  return offsetIn(known.status, known.headers.get('upload-offset'))
}

async function sendPiece(
  transport: Transport,
  file: Blob,
  { path, offset }: StartedUpload,
  { pieceBytes, onSent, signal }: PiecesOptions,
): Promise<number> {
  const start = offset ?? 0
  const headers = {
    ...TUS,
    'upload-offset': String(start),
    'content-type': 'application/offset+octet-stream',
  }
  const piece = file.slice(start, start + pieceBytes)
  const { status, header } = await sendBlob(transport, path, piece, {
    method: 'PATCH',
    headers,
    signal,
    onSent: (bytes) => onSent(start + bytes),
  })
  return offsetIn(status, header('upload-offset'))
}

/** Makes an asset of the upload. Another attempt gets the same answer. */
async function finish(
  transport: Transport,
  { path }: StartedUpload,
  { signal, onImport }: PiecesOptions,
): Promise<UploadResult> {
  const method = 'POST'
  if (!onImport) return requestJson<UploadResult>(transport, `${path}/asset`, { method, signal })
  const headers = { accept: 'text/event-stream' }
  const { body } = await request(transport, `${path}/asset`, { method, headers, signal })
  for await (const { event, data } of body ? readEventStream(body) : []) {
    if (event === 'progress') onImport(JSON.parse(data) as ImportProgress)
    if (event === 'done') return JSON.parse(data) as UploadResult
    // The status was sent before, with the first progress event.
    if (event === 'error') throw refusal(422, data)
  }
  throw unreachable()
}

/** Deletes the upload. A server that cannot be reached deletes it after a day. */
function deleteUpload(transport: Transport, { path }: StartedUpload): void {
  request(transport, path, { method: 'DELETE', headers: TUS }).catch(() => {})
}

/** Returns whether to try again: after a passing failure, or if the server has another offset or no upload. */
function mayRetry(error: unknown, upload: StartedUpload | null): boolean {
  if (!(error instanceof ApiError)) return false
  const isOutOfStep = error.status === 409 || error.status === 423
  return error.transient || (upload !== null && (isOutOfStep || isNotFound(error)))
}

function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 410)
}

function offsetIn(status: number, text: string | null): number {
  const offset = text === null ? Number.NaN : Number(text)
  if (Number.isSafeInteger(offset) && offset >= 0) return offset
  throw protocolError(status)
}

function protocolError(status: number): ApiError {
  const message =
    'The server did not answer the upload by the tus protocol. Check that the URL is that of a byref server.'
  return new ApiError(status, 'unexpected_response', message)
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
