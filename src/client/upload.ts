import type { UploadResult } from '../wire/types.ts'
import { parseAnswer, type Transport } from './request.ts'
import { sendBlob } from './send-blob.ts'
import { type ImportProgress, uploadInPieces } from './upload-in-pieces.ts'

/** Options of an upload. */
export interface UploadOptions {
  /** The file's name; default: that of a `File`, else `file`. */
  name?: string
  /** Default: the blob's own type, else `application/octet-stream`. The server trusts the bytes more. */
  mimeType?: string
  /** Called with the share that has been sent, from 0 to 1. */
  onProgress?: (fraction: number) => void
  /** Called while a large file that was sent is made a table: so many bytes of its size were read, then once more. */
  onImport?: (progress: ImportProgress) => void
  /** Its abort ends the upload, of which nothing is left then. */
  signal?: AbortSignal
  /** Files above so many bytes go in pieces of that size, and go on after a cut. Default 16 MiB. */
  pieceBytes?: number
  /** The first pause before it goes on, in milliseconds; doubles up to 20 times itself. Default 500. */
  retryDelay?: number
}

const PIECE_BYTES = 16 * 1024 * 1024

/**
 * Sends a file. A large one goes in pieces: after a broken line, or while its server starts anew, it goes on with what is
 * missing, and gives up when nothing came of 15 tries in a row.
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
    ...{ method: 'POST', headers, onSent, signal },
  })
  if (file.size === 0) onProgress?.(1)
  return parseAnswer<UploadResult>(status, text)
}

function fileName(file: Blob): string {
  const name = (file as { name?: unknown }).name
  return typeof name === 'string' && name !== '' ? name : 'file'
}
