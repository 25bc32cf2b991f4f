import type { Readable as NodeReadable } from 'node:stream'
import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetBody } from '../asset-store.ts'
import { asBytes, copyBytes, plain } from './body.ts'

const { Readable } = nodeBuiltin('node:stream')

/** Node's `Readable`, by what tells it, so that whoever uses byref's types needs none of Node's. */
export interface NodeStream extends AsyncIterable<unknown> {
  readonly readable: boolean
  destroy(error?: Error): unknown
}

/** What users hand over as a body: bytes, a Blob or File, a Response, or a stream of the web or of Node. */
export type BodyInput =
  | ArrayBufferView
  | ArrayBuffer
  | SharedArrayBuffer
  | Blob
  | Response
  | ReadableStream<Uint8Array>
  | NodeStream

/** A body that was handed over, and what it says of itself. */
export interface TakenBody {
  body: AssetBody
  /** In bytes; 0 where only reading tells. */
  size: number
  /** As it was given; it may be no MIME type. */
  mime: string | null
  name: string | null
}

/**
 * What somebody handed over, as a body that nobody else changes: bytes are copied unless they are `owned`, all else
 * becomes its stream.
 *
 * @throws ByrefError `asset_invalid` for anything else, and for a stream that was read before or is being read
 */
export function takeBody(input: BodyInput, owned = false): TakenBody {
  if (input instanceof Blob) return takeBlob(input)
  if (input instanceof Response) return takeResponse(input)
  if (input instanceof Readable) return { ...UNKNOWN, body: takeNodeStream(input) }
  if (input instanceof ReadableStream) return { ...UNKNOWN, body: unread(input) }
  const bytes = asBytes(input)
  const isOurs = owned && !(bytes.buffer instanceof SharedArrayBuffer)
  const body = isOurs ? plain(bytes) : copyBytes(bytes)
  return { ...UNKNOWN, body, size: bytes.byteLength }
}

const UNKNOWN = { size: 0, mime: null, name: null }

/** The stream of a Node stream, which is destroyed when that is cancelled. */
export function takeNodeStream(stream: NodeStream): ReadableStream<Uint8Array> {
  const { errored, readable, readableDidRead } = stream as NodeReadable
  if (errored) throw errored
  if (!readable || readableDidRead) throw alreadyRead()
  return Readable.toWeb(stream as NodeReadable) as ReadableStream<Uint8Array>
}

/** A Response's body, with its `content-type` and the file name of its `content-disposition`. */
export function takeResponse(response: Response): TakenBody {
  const body = response.body ? unread(response.body) : new Uint8Array()
  const mime = response.headers.get('content-type')
  const disposition = response.headers.get('content-disposition') ?? ''
  const name = /filename="?([^";]+)"?/i.exec(disposition)?.[1] ?? null
  return { body, size: 0, mime, name }
}

function takeBlob(blob: Blob): TakenBody {
  const name = blob instanceof File ? blob.name : null
  return { body: blob.stream(), size: blob.size, mime: blob.type || null, name }
}

/** The stream, if nothing of it is missing. */
export function unread(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (stream.locked || Readable.isDisturbed(stream as never)) throw alreadyRead()
  return stream
}

function alreadyRead(): ByrefError {
  const message = 'The stream was read before, or is being read by somebody else.'
  return new ByrefError('asset_invalid', message)
}
