import type { UploadResult } from '../wire/types.ts'
import { ApiError } from './api-error.ts'
import { readEventStream } from './event-stream.ts'
import { pause, pauseAfter } from './pause.ts'
import { refusal, request, requestJson, type Transport, unreachable } from './request.ts'
import { sendBlob } from './send-blob.ts'

/** How far the making of a table is: of `size` bytes `bytes` were read, or read once more to be written. */
export interface ImportProgress {
  phase: 'reading' | 'writing'
  bytes: number
  size: number
}

/** A file that goes in pieces. */
export interface PiecesOptions {
  name: string
  mimeType: string
  /** Called with the bytes that the server has. */
  onSent: (bytes: number) => void
  onImport?: (progress: ImportProgress) => void
  signal?: AbortSignal
  pieceBytes: number
  retryDelay: number
}

/** An upload that was begun. */
interface Begun {
  path: string
  /** How many bytes the server has; null where it must be asked. */
  offset: number | null
}

/** Tries in a row of which nothing comes. */
const TRIES = 15

const TUS = { 'tus-resumable': '1.0.0' }

/**
 * Sends a file by the tus protocol 1.0 (tus.io/protocols/resumable-upload): asks what is there, and sends the rest, until
 * all is. Null where the server takes no pieces. An abort takes back what was sent.
 */
export async function uploadInPieces(
  transport: Transport,
  file: Blob,
  options: PiecesOptions,
): Promise<UploadResult | null> {
  const { signal, retryDelay } = options
  let upload: Begun | null = null
  for (let failures = 0; ; ) {
    try {
      upload ??= await begin(transport, file, options)
      if (!upload) return null
      upload.offset ??= await offsetOf(transport, upload, signal)
      while (upload.offset < file.size) {
        upload.offset = await sendPiece(transport, file, upload, options)
        failures = 0
      }
      return await finish(transport, upload, options)
    } catch (error) {
      if (signal?.aborted && upload) takeBack(transport, upload)
      failures++
      if (failures === TRIES || !mayGoOn(error, upload)) throw error
      await pause(pauseAfter(failures - 1, retryDelay), signal)
      if (isGone(error)) upload = null
      else if (upload && upload.offset !== file.size) upload.offset = null
    }
  }
}

/** Begins an upload; null where the server takes none in pieces. */
async function begin(
  transport: Transport,
  file: Blob,
  { name, mimeType, signal }: PiecesOptions,
): Promise<Begun | null> {
  const metadata = `filename ${base64(name)},filetype ${base64(mimeType)}`
  const headers = { ...TUS, 'upload-length': String(file.size), 'upload-metadata': metadata }
  try {
    const made = await request(transport, '/api/uploads', { method: 'POST', headers, signal })
    const id = made.headers.get('location')?.split('/').at(-1)
    if (!id) throw strange(made.status)
    return { path: `/api/uploads/${id}`, offset: 0 }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

async function offsetOf(
  transport: Transport,
  { path }: Begun,
  signal?: AbortSignal,
): Promise<number> {
  const known = await request(transport, path, { method: 'HEAD', headers: TUS, signal })
  return offsetIn(known.status, known.headers.get('upload-offset'))
}

async function sendPiece(
  transport: Transport,
  file: Blob,
  { path, offset }: Begun,
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
    ...{ method: 'PATCH', headers, signal },
    onSent: (bytes) => onSent(start + bytes),
  })
  return offsetIn(status, header('upload-offset'))
}

/** Has an asset made of it. Tried again it is answered as the first time. */
async function finish(
  transport: Transport,
  { path }: Begun,
  { signal, onImport }: PiecesOptions,
): Promise<UploadResult> {
  const method = 'POST'
  if (!onImport) return requestJson<UploadResult>(transport, `${path}/asset`, { method, signal })
  const headers = { accept: 'text/event-stream' }
  const { body } = await request(transport, `${path}/asset`, { method, headers, signal })
  for await (const { event, data } of body ? readEventStream(body) : []) {
    if (event === 'progress') onImport(JSON.parse(data) as ImportProgress)
    if (event === 'done') return JSON.parse(data) as UploadResult
    // Its status went out before, with the first progress.
    if (event === 'error') throw refusal(422, data)
  }
  throw unreachable()
}

/** Has the server forget it, as far as it can be reached: else it does so after a day. */
function takeBack(transport: Transport, { path }: Begun): void {
  request(transport, path, { method: 'DELETE', headers: TUS }).catch(() => {})
}

/** What passes, and what only says that the server has something else than was thought: another offset, or nothing. */
function mayGoOn(error: unknown, upload: Begun | null): boolean {
  if (!(error instanceof ApiError)) return false
  const isOutOfStep = error.status === 409 || error.status === 423
  return error.transient || (upload !== null && (isOutOfStep || isGone(error)))
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 410)
}

function offsetIn(status: number, text: string | null): number {
  const offset = text === null ? Number.NaN : Number(text)
  if (Number.isSafeInteger(offset) && offset >= 0) return offset
  throw strange(status)
}

function strange(status: number): ApiError {
  const message = 'The server answered an upload with something else than tus. Is it byref?'
  return new ApiError(status, 'unexpected_response', message)
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
