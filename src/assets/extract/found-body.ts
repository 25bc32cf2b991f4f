import { ByrefError, errorMessage } from '../../core/errors.ts'
import { typeString } from '../../core/messages/asset-meta.ts'
import { bytesIn, cancelBody, isByteView } from '../bodies/body.ts'
import { type BodyInput, isNodeStream, takeBody } from '../bodies/body-input.ts'
import { type DataUrl, decodeBase64, decodeDataUrl } from '../bodies/data-url.ts'

/** A body that was found in a value and is not decoded yet. */
export type FoundBody =
  | { type: 'base64'; text: string }
  | { type: 'data-url'; url: DataUrl }
  | { type: 'binary'; input: BodyInput }
  /** Too many numbers for a list. They become structured content, in which each number has a reference. */
  | { type: 'numbers'; view: ArrayBufferView }
  /** A value whose getter or Proxy threw. */
  | { type: 'unreadable'; error: unknown }

/** A body that can be saved, and its declared type. */
export interface LoadedBody {
  input: BodyInput
  mime: string | null
  name: string | null
  /** Whether nobody else writes to the bytes. */
  owned: boolean
}

/** Structured content that can be saved. */
export interface LoadedContent {
  content: unknown
  contentType: string
}

/**
 * Decodes a body that was found.
 *
 * @throws ByrefError `asset_invalid` if it does not decode, was read before, or cannot be read at all
 */
export function loadBody(body: FoundBody): LoadedBody | LoadedContent {
  switch (body.type) {
    case 'base64': {
      const bytes = decodeBase64(body.text)
      if (!bytes) throw undecodable('base64')
      return { input: bytes, mime: null, name: null, owned: true }
    }
    case 'data-url': {
      const bytes = decodeDataUrl(body.url)
      if (!bytes) throw undecodable('the data URL')
      return { input: bytes, mime: body.url.mime ?? 'text/plain', name: null, owned: true }
    }
    case 'binary': {
      const { input } = body
      if (streamIn(body) === null) return { input, mime: null, name: null, owned: false }
      const { body: stream, mime, name } = takeBody(input)
      return { input: stream, mime, name, owned: true }
    }
    case 'numbers':
      return { content: body.view, contentType: typeString(body.view) }
    case 'unreadable': {
      const message = `The value cannot be read: ${errorMessage(body.error)}`
      throw new ByrefError('asset_invalid', message, { cause: body.error })
    }
  }
}

/**
 * Returns a body that is a value by itself: bytes (also a Buffer, a `Uint8ClampedArray` or a `DataView`), a Blob, a
 * Response, a web stream or a Node stream. Null for anything else, also for typed arrays of numbers.
 */
export function binaryBody(value: object): FoundBody | null {
  if (ArrayBuffer.isView(value) && !isByteView(value)) return null
  const bytes = bytesIn(value)
  if (bytes) return { type: 'binary', input: bytes }
  const isInput =
    value instanceof Blob || value instanceof Response || value instanceof ReadableStream
  return isInput || isNodeStream(value) ? { type: 'binary', input: value } : null
}

/**
 * Returns the bytes of the body, from its encoding, its Blob or its `content-length`. 0 if the size is known only after
 * reading.
 */
export function sizeOf(body: FoundBody): number {
  if (body.type === 'base64') return body.text.length * 0.75
  if (body.type === 'data-url') return body.url.data.length * 0.75
  if (body.type === 'numbers') return body.view.byteLength
  if (body.type === 'unreadable') return 0
  const { input } = body
  if (input instanceof Blob) return input.size
  if (input instanceof Response) return Number(input.headers.get('content-length')) || 0
  return input instanceof Uint8Array ? input.byteLength : 0
}

/** Returns the type of a Blob; null for other bodies, and for a Blob without a type. */
export function typeOfBlob(body: FoundBody): string | null {
  return body.type === 'binary' && body.input instanceof Blob ? body.input.type || null : null
}

/** Returns the stream of a body, which can be read only once. Null if the body is not a stream. */
export function streamIn(body: FoundBody): object | null {
  if (body.type !== 'binary') return null
  const { input } = body
  if (input instanceof Response) return input.body ?? input
  return input instanceof ReadableStream || isNodeStream(input) ? input : null
}

/** Ends a stream that nobody will read. */
export function cancelFound(body: FoundBody, reason: unknown): void {
  const stream = streamIn(body)
  if (isNodeStream(stream)) stream.destroy()
  else cancelBody(stream, reason)
}

function undecodable(what: string): ByrefError {
  return new ByrefError('asset_invalid', `The body cannot be decoded: ${what} is malformed.`)
}
