import type { UploadResult } from '../wire/types.ts'
import { sendBlob } from './send-blob.ts'
import { parseAnswer, type Transport } from './transport.ts'
import { type ImportProgress, uploadInPieces } from './upload-in-pieces.ts'

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
