import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetBody } from '../asset-store.ts'
import { asBytes, cancelBody, copyBytes, plain } from './body.ts'

const { Readable } = nodeBuiltin('node:stream')

/** The part of Node's `Readable` that byref's types need. They work without Node's types. */
export interface NodeStream extends AsyncIterable<unknown> {
  readonly readable: boolean
  destroy(error?: Error): unknown
}

/** What users may pass as a body: bytes, a Blob or File, a Response, or a stream of the web or of Node. */
export type BodyInput =
  | ArrayBufferView
  | ArrayBuffer
  | SharedArrayBuffer
  | Blob
  | Response
  | ReadableStream<Uint8Array>
  | NodeStream

/** A body as the caller passed it, with its declared type. */
export interface TakenBody {
  body: AssetBody
  /** In bytes. 0 if the size is known only after reading. */
  size: number
  /** The declared type, unchanged. It may be malformed. */
  mime: string | null
  name: string | null
}

/**
 * Takes a body that nobody else will change. Bytes are copied unless they are `owned`; everything else becomes a
 * stream.
 *
 * @throws ByrefError `asset_invalid` for anything else, for a response with an error status, and for a stream that was
 *   read before or is being read
 */
export function takeBody(input: BodyInput, owned = false): TakenBody {
  const unknown = { size: 0, mime: null, name: null }
  if (input instanceof Blob) {
    const name = input instanceof File ? input.name : null
    return { body: input.stream(), size: input.size, mime: input.type || null, name }
  }
  if (input instanceof Response) {
    if (!input.ok) throw failed(input)
    const body = input.body ? unread(input.body) : new Uint8Array()
    const mime = input.headers.get('content-type')
    const disposition = input.headers.get('content-disposition') ?? ''
    const name = /filename="?([^";]+)"?/i.exec(disposition)?.[1] ?? null
    return { body, size: 0, mime, name }
  }
  if (input instanceof Readable) {
    if (input.errored) throw input.errored
    if (!input.readable || input.readableDidRead) throw alreadyRead()
    return { ...unknown, body: webStream(input) }
  }
  if (input instanceof ReadableStream) return { ...unknown, body: unread(input) }
  const bytes = asBytes(input)
  const isOwned = owned && !(bytes.buffer instanceof SharedArrayBuffer)
  const body = isOwned ? plain(bytes) : copyBytes(bytes)
  return { ...unknown, body, size: bytes.byteLength }
}

/**
 * Returns a stream of Node as a stream of the web, which destroys it if it is cancelled. `Readable.toWeb` of Node is not
 * used, because it ends the process if data arrive after the stream was cancelled.
 */
export function webStream(stream: NodeStream): ReadableStream<Uint8Array> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  // The iterator throws the error when it is read.
  const source = stream as InstanceType<typeof Readable>
  source.on('error', () => {})
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await chunks.next()
    if (done) controller.close()
    else controller.enqueue(value instanceof Uint8Array ? plain(value) : value)
  }
  const cancel = (): void => {
    stream.destroy()
  }
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
}

/** Returns whether a value is a readable stream of Node. */
export function isNodeStream(value: unknown): value is NodeStream {
  return value instanceof Readable
}

function unread(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (stream.locked || Readable.isDisturbed(stream as NodeJS.ReadableStream & typeof stream)) {
    throw alreadyRead()
  }
  return stream
}

/** The error for an error page that would be stored as the file that the caller wanted. */
function failed(response: Response): ByrefError {
  const { status, statusText, url, body } = response
  const of = url && ` of ${url}`
  const error = new ByrefError(
    'asset_invalid',
    `The response${of} has the status ${[status, statusText].join(' ').trim()}. Its body is not saved.`,
  )
  cancelBody(body, error)
  return error
}

function alreadyRead(): ByrefError {
  const message = 'The stream has been read before, or somebody else is reading it.'
  return new ByrefError('asset_invalid', message)
}
