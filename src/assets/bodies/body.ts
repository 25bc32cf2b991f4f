import { ByrefError } from '../../errors.ts'
import type { AssetBody } from '../asset-store.ts'

/** What users hand over as a body. */
export type BodyInput = Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | Blob

const CHUNK = 256 * 1024

/** Bytes and streams as they are; a Blob becomes its stream. */
export function toBody(input: BodyInput): AssetBody {
  if (input instanceof Uint8Array) return input
  if (input instanceof ArrayBuffer) return new Uint8Array(input)
  if (input instanceof Blob) return input.stream()
  return input
}

/** A copy that shares no memory. `slice` would not do: that of a Buffer is a view. */
export function copyBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes)
}

/** A stream over bytes, chunk by chunk, copied as it is read, so that no reader can change the source. */
export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= bytes.byteLength) return controller.close()
        controller.enqueue(copyBytes(bytes.subarray(at, at + CHUNK)))
        at += CHUNK
      },
    },
    { highWaterMark: 0 },
  )
}

/** A stream that yields what `chunks` yields, started by the first read and returned when it is cancelled. */
export function streamFrom(
  chunks: () => AsyncGenerator<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let source: AsyncGenerator<Uint8Array<ArrayBuffer>> | undefined
  return new ReadableStream(
    {
      async pull(controller) {
        source ??= chunks()
        const { value, done } = await source.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await source?.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The whole of a body in memory; for bodies that are small or asked for as a whole. The result may be the input. */
export async function readBytes(body: AssetBody): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(asBytes(chunk))
  const only = chunks[0]
  return only && chunks.length === 1 ? only : plain(Buffer.concat(chunks))
}

/** The same memory as a plain array: users compare and clone what they get. */
export function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The chunks of a body, in order. */
export async function* chunksOf(body: AssetBody): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) {
    if (body.byteLength > 0) yield body
    return
  }
  for await (const chunk of body) yield asBytes(chunk)
}

/** The first bytes of a body, up to `length`, and the body as it was. */
export async function peek(
  body: AssetBody,
  length: number,
  signal?: AbortSignal,
): Promise<{ head: Uint8Array; complete: boolean; body: AssetBody }> {
  if (body instanceof Uint8Array) {
    return { head: body.subarray(0, length), complete: body.byteLength <= length, body }
  }
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let done = false
  while (size < length && !done) {
    signal?.throwIfAborted()
    const next = await reader.read()
    done = next.done
    if (next.value) {
      const chunk = asBytes(next.value)
      chunks.push(chunk)
      size += chunk.byteLength
    }
  }
  const read = Buffer.concat(chunks)
  const head = read.subarray(0, length)
  const rest = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = chunks.shift()
        if (chunk) return controller.enqueue(chunk)
        const next = done ? { done: true, value: undefined } : await reader.read()
        if (next.value) controller.enqueue(asBytes(next.value))
        else controller.close()
      },
      async cancel(reason) {
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return { head, complete: done && read.byteLength <= length, body: rest }
}

/** The body, failing as soon as it is longer than `limit` bytes. */
export function limitBody(
  body: AssetBody,
  limit: number,
  tooLong: () => Error = () => tooLarge(limit),
): AssetBody {
  if (limit === Infinity) return body
  if (body instanceof Uint8Array) {
    if (body.byteLength > limit) throw tooLong()
    return body
  }
  let size = 0
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength
        if (size > limit) throw tooLong()
        controller.enqueue(chunk)
      },
    }),
  )
}

/** The body as it is, and a way to have its bytes afterwards, unless they were more than `limit`. */
export function tapBody(
  body: AssetBody,
  limit: number,
): { body: AssetBody; bytes(): Uint8Array | null } {
  if (body instanceof Uint8Array) return { body, bytes: () => body }
  let chunks: Uint8Array[] | null = []
  let size = 0
  const tapped = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength
        if (size > limit) chunks = null
        chunks?.push(copyBytes(chunk))
        controller.enqueue(chunk)
      },
    }),
  )
  return { body: tapped, bytes: () => chunks && Buffer.concat(chunks) }
}

function tooLarge(limit: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `The body has more than ${limit} bytes, the limit for one asset (limits.bodyBytes).`,
  )
}

function asBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  throw new ByrefError('asset_invalid', `A body's stream must yield bytes, not ${typeof chunk}.`)
}
