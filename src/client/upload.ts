import { ByrefError } from '../core/errors.ts'
import { unlessAborted } from '../core/on-abort.ts'
import type { UploadResult } from '../wire/types.ts'
import { pause, pauseAfter } from './follow-stream.ts'
import { sendBlob } from './send-blob.ts'
import { readEventStream } from './server-sent-events.ts'
import {
  ApiError,
  answeredError,
  parseAnswer,
  request,
  type Transport,
  unlessCut,
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
  /**
   * Default: the blob's type, else `application/octet-stream`. The server prefers the type that it reads from the
   * bytes.
   */
  mimeType?: string
  /** Called with the fraction that has been sent, from 0 to 1. */
  onProgress?: (fraction: number) => void
  /** Called while the server makes a table of a large file. */
  onImport?: (progress: ImportProgress) => void
  /** Aborting it ends the upload, which leaves nothing behind. */
  signal?: AbortSignal
  /** Files of more bytes are sent in pieces of this size, and continue after an interruption. Default: 16 MiB. */
  pieceBytes?: number
  /** The first pause before another attempt, in milliseconds. It doubles, up to 20 times its value. Default: 500. */
  retryDelay?: number
}

const PIECE_BYTES = 16 * 1024 * 1024

/**
 * Uploads a file. A large file is sent in pieces. After a lost connection or a restart of the server it continues with
 * the missing bytes, and gives up after 15 consecutive attempts without progress.
 *
 * @throws ByrefError `asset_invalid` for a string, which may be a path; ApiError
 */
export async function upload(
  transport: Transport,
  file: Blob,
  options: UploadOptions = {},
): Promise<UploadResult> {
  if (typeof file === 'string') {
    const hint =
      'For text, pass new Blob([text]). For a file on disk, pass await openAsBlob(path) of node:fs.'
    throw new ByrefError('asset_invalid', `upload needs a Blob or a File, not a string. ${hint}`)
  }
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
    const made = await new PieceUpload(transport, file, pieces).run()
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

/** Options of a {@link PieceUpload}, with all defaults. */
type PiecesOptions = Required<
  Pick<UploadOptions, 'name' | 'mimeType' | 'pieceBytes' | 'retryDelay'>
> &
  Pick<UploadOptions, 'onImport' | 'signal'> & {
    /** Called with the number of bytes that the server has. */
    onSent: (bytes: number) => void
  }

/** Maximum number of consecutive attempts without progress. */
const MAX_ATTEMPTS = 15

/** Codes with a status of 5xx for which a retry is useless. */
const PERMANENT: ReadonlySet<string> = new Set(['storage_full', 'dependency_missing'])

const TUS = { 'tus-resumable': '1.0.0' }

/** An upload by the tus protocol 1.0 (tus.io/protocols/resumable-upload). */
class PieceUpload {
  readonly #transport: Transport
  readonly #file: Blob
  readonly #options: PiecesOptions
  /** The last request that starts the upload. */
  #start: Promise<string | null> = Promise.resolve(null)
  /** Null until the server has started the upload. */
  #path: string | null = null
  /** The number of bytes that the server has; null if it is unknown. */
  #offset: number | null = null

  constructor(transport: Transport, file: Blob, options: PiecesOptions) {
    this.#transport = transport
    this.#file = file
    this.#options = options
  }

  /** Uploads the file. Null if the server does not support it. If it gives up or is aborted, it deletes the upload. */
  async run(): Promise<UploadResult | null> {
    try {
      return await this.#sendAll()
    } catch (error) {
      this.#delete()
      throw error
    }
  }

  /** Sends the file. After a failure it asks how many bytes the server has, and sends the rest. */
  async #sendAll(): Promise<UploadResult | null> {
    const { signal, retryDelay } = this.#options
    for (let failures = 0; ; ) {
      try {
        const path = this.#path ?? (await this.#started())
        if (path === null) return null
        this.#offset ??= await this.#askOffset(path)
        while (this.#offset < this.#file.size) {
          this.#offset = await this.#sendPiece(path, this.#offset)
          failures = 0
        }
        return await this.#finish(path)
      } catch (error) {
        failures++
        if (failures === MAX_ATTEMPTS || !this.#mayRetry(error)) throw error
        await pause(pauseAfter(failures - 1, retryDelay), signal)
        if (isNotFound(error)) this.#path = null
        else if (this.#offset !== this.#file.size) this.#offset = null
      }
    }
  }

  /** Starts an upload. An abort does not end the request: its answer names the upload that must be deleted. */
  #started(): Promise<string | null> {
    const { signal } = this.#options
    if (!signal) return this.#begin()
    return unlessAborted(signal, () => {
      this.#start = this.#begin()
      return this.#start
    })
  }

  /** Starts an upload and returns its path; null if the server does not support it. */
  async #begin(): Promise<string | null> {
    const { name, mimeType } = this.#options
    const metadata = `filename ${base64(name)},filetype ${base64(mimeType)}`
    const size = String(this.#file.size)
    const headers = { ...TUS, 'upload-length': size, 'upload-metadata': metadata }
    try {
      const made = await request(this.#transport, '/api/uploads', { method: 'POST', headers })
      const id = made.headers.get('location')?.split('/').at(-1)
      if (!id) throw protocolError(made.status)
      this.#path = `/api/uploads/${id}`
      this.#offset = 0
      return this.#path
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  }

  async #askOffset(path: string): Promise<number> {
    const known = await this.#request(path, 'HEAD')
    return offsetIn(known.status, known.headers.get('upload-offset'))
  }

  /** Sends the bytes from a position on. Returns how many bytes the server has then. */
  async #sendPiece(path: string, start: number): Promise<number> {
    const { pieceBytes, onSent, signal } = this.#options
    const headers = {
      ...TUS,
      'upload-offset': String(start),
      'content-type': 'application/offset+octet-stream',
    }
    const piece = this.#file.slice(start, start + pieceBytes)
    const { status, header } = await sendBlob(this.#transport, path, piece, {
      method: 'PATCH',
      headers,
      signal,
      onSent: (bytes) => onSent(start + bytes),
    })
    return offsetIn(status, header('upload-offset'))
  }

  /** Creates an asset from the upload. Another attempt gets the same answer. */
  async #finish(path: string): Promise<UploadResult> {
    const { onImport, signal } = this.#options
    const accept = onImport ? 'text/event-stream' : 'application/json'
    const answer = await this.#request(`${path}/asset`, 'POST', { accept })
    if (!onImport) {
      return parseAnswer<UploadResult>(answer.status, await unlessCut(answer.text(), signal))
    }
    if (!answer.body) throw unreachable()
    const events = readEventStream(answer.body)
    try {
      for (;;) {
        const { done, value } = await unlessCut(events.next(), signal)
        if (done) throw unreachable()
        const { event, data } = value
        if (event === 'progress') onImport(JSON.parse(data) as ImportProgress)
        if (event === 'done') return JSON.parse(data) as UploadResult
        // The status was sent before, with the first progress event.
        if (event === 'error') throw answeredError(422, data)
      }
    } finally {
      await events.return()
    }
  }

  /** Deletes the upload. A server that cannot be reached deletes it after a day. */
  #delete(): void {
    const remove = async (): Promise<void> => {
      await this.#start
      if (this.#path === null) return
      await request(this.#transport, this.#path, { method: 'DELETE', headers: TUS })
    }
    remove().catch(() => {})
  }

  /** Returns whether to try again: after a temporary failure, or if the server has another offset or no upload. */
  #mayRetry(error: unknown): boolean {
    if (!(error instanceof ApiError) || PERMANENT.has(error.code)) return false
    const isOutOfStep = error.status === 409 || error.status === 423
    return error.transient || (this.#path !== null && (isOutOfStep || isNotFound(error)))
  }

  #request(path: string, method: 'HEAD' | 'POST', headers = {}): Promise<Response> {
    const { signal } = this.#options
    return request(this.#transport, path, { method, headers: { ...TUS, ...headers }, signal })
  }
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
