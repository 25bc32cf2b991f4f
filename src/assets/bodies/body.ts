import { ByrefError } from '../../core/errors.ts'
import type { AssetBody } from '../asset-store.ts'

const CHUNK = 256 * 1024

/** Returns whether a view contains bytes (a Buffer, a `Uint8ClampedArray`, a `DataView`), not numbers. */
export function isByteView(view: ArrayBufferView): boolean {
  const isArray = view instanceof Uint8Array || view instanceof Uint8ClampedArray
  return isArray || view instanceof DataView
}

/** Returns a copy that shares no memory, unlike `slice` of a Buffer. */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

/**
 * Returns a stream of the chunks that `next` returns, up to null. Nothing is read ahead. `cancel` is called when the
 * reader cancels the stream.
 */
export function pullStream<T extends Uint8Array>(
  next: () => T | null | Promise<T | null>,
  cancel: (reason: unknown) => unknown = () => {},
): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const chunk = await next()
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      async cancel(reason) {
        await cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns a stream over bytes. Chunks are copies, so that no reader can change the source. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return pullStream(() => {
    if (at >= bytes.byteLength) return null
    at += CHUNK
    return copyBytes(bytes.subarray(at - CHUNK, at))
  })
}

/** Returns all bytes of a body, in memory. The result may be the input. */
export async function readBytes(body: AssetBody): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks = await Array.fromAsync(body, asBytes)
  const [only] = chunks
  return only && chunks.length === 1 ? only : plain(Buffer.concat(chunks))
}

/** Returns the same memory as a plain `Uint8Array`, not a Buffer, because users compare and clone it. */
export function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns the chunks of a body, in order. */
export async function* chunksOf(body: AssetBody): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) {
    if (body.byteLength > 0) yield body
    return
  }
  for await (const chunk of body) yield asBytes(chunk)
}

/**
 * Reads the first bytes of a body, up to `length`: the `head`. `complete` says whether the head is the whole body. The
 * returned body includes the head. An error cancels the stream.
 *
 * @throws ByrefError `asset_invalid` for a stream of anything but bytes, or that somebody else reads
 */
export async function peek<Body extends AssetBody>(
  body: Body,
  length: number,
  signal?: AbortSignal,
): Promise<{ head: Uint8Array; complete: boolean; body: Body | ReadableStream<Uint8Array> }> {
  if (body instanceof Uint8Array) {
    return { head: body.subarray(0, length), complete: body.byteLength <= length, body }
  }
  const reader = readerOf(body)
  const chunks: Uint8Array[] = []
  let size = 0
  let done = false
  try {
    while (size < length && !done) {
      signal?.throwIfAborted()
      const chunk = await nextOf(reader)
      done = chunk === null
      if (chunk) chunks.push(chunk)
      size += chunk?.byteLength ?? 0
    }
  } catch (error) {
    reader.cancel(error).catch(() => {})
    throw error
  }
  const head = Buffer.concat(chunks).subarray(0, length)
  const stream = pullStream(
    async () => chunks.shift() ?? nextOf(reader),
    (reason) => reader.cancel(reason),
  )
  return { head, complete: done && size <= length, body: stream }
}

/** Returns the next chunk of a reader; null at the end. */
async function nextOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | null> {
  const { value, done } = await reader.read()
  return done ? null : asBytes(value)
}

/** A stream that is watched while it is read. */
export interface MeteredStream {
  stream: ReadableStream<Uint8Array>
  /** Ends the source, even if somebody else reads the stream. */
  cancel(reason: unknown): void
}

/** Options of {@link meterStream}. */
export interface MeterOptions {
  /** Called with each chunk before the reader gets it. What it throws ends the stream and its source. */
  onChunk?(chunk: Uint8Array): Promise<void> | void
  /** Called with the error of the source. */
  onError?(error: unknown): void
  /** Ends the stream and its source, also while the source is silent. */
  signal?: AbortSignal
}

/**
 * Wraps a stream so that it can be observed.
 *
 * @throws ByrefError `asset_invalid` for a stream that already has a reader
 */
export function meterStream(
  source: ReadableStream<Uint8Array>,
  { onChunk, onError, signal }: MeterOptions,
): MeteredStream {
  const reader = readerOf(source)
  const stop = (): void => cancel(signal?.reason)
  const release = (): void => signal?.removeEventListener('abort', stop)
  const cancel = (reason: unknown): void => {
    release()
    // Not awaited: a silent source may never report that it has ended.
    reader.cancel(reason).catch(() => {})
  }
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()

  async function read(): Promise<Uint8Array | null> {
    try {
      return await nextOf(reader)
    } catch (error) {
      onError?.(error)
      throw error
    }
  }

  async function next(): Promise<Uint8Array | null> {
    try {
      signal?.throwIfAborted()
      const chunk = await read()
      signal?.throwIfAborted()
      if (chunk) await onChunk?.(chunk)
      else release()
      return chunk
    } catch (error) {
      cancel(error)
      throw error
    }
  }

  return { stream: pullStream(next, cancel), cancel }
}

/** Cancels a stream that nobody has started to read. */
export function cancelBody(body: unknown, reason: unknown): void {
  if (body instanceof ReadableStream && !body.locked) body.cancel(reason).catch(() => {})
}

function readerOf(stream: ReadableStream<Uint8Array>): ReadableStreamDefaultReader<Uint8Array> {
  if (!stream.locked) return stream.getReader()
  throw new ByrefError(
    'asset_invalid',
    'Somebody else is reading the stream: pass a stream without a reader.',
  )
}

/** Returns bytes of any kind, in place. Null for a value that is not bytes. */
export function bytesIn(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return new Uint8Array(value)
  }
  if (!ArrayBuffer.isView(value)) return null
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

/**
 * Returns bytes of any kind, in place.
 *
 * @throws ByrefError `asset_invalid` for a value that is not bytes
 */
export function asBytes(value: unknown): Uint8Array {
  const bytes = bytesIn(value)
  if (bytes) return bytes
  const type = value === null ? 'null' : typeof value
  const hint =
    type === 'string'
      ? ' For text, pass Buffer.from(text). For a file on disk, pass await openAsBlob(path) of node:fs.'
      : ''
  throw new ByrefError(
    'asset_invalid',
    `A body must be bytes, a Blob, a Response or a stream of bytes, not ${type}.${hint}`,
  )
}

/** Bytes `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Returns the requested range within `size` bytes. A negative `start` counts from the end; `end` is exclusive and at
 * most `size`. The range of an empty body is empty.
 *
 * @throws ByrefError `range_not_satisfiable` if the range contains no byte
 */
export function byteRange(size: number, start = 0, end = size): ByteRange {
  const from = start < 0 ? Math.max(0, size + start) : start
  const to = Math.min(end, size)
  const whole = Number.isInteger(start) && (Number.isInteger(end) || end === Infinity)
  const empty = from === 0 && to === 0 && size === 0
  if (!whole || (from >= to && !empty)) {
    throw new ByrefError(
      'range_not_satisfiable',
      `Bytes ${start} to ${end} do not exist: the body has ${size} bytes.`,
    )
  }
  return { start: from, end: to }
}
