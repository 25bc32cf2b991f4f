import type { Readable as NodeReadable } from 'node:stream'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { typeString } from '../../core/messages/asset-meta.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { cancelBody, isByteView } from '../bodies/body.ts'
import { type BodyInput, takeNodeStream, takeResponse, unread } from '../bodies/body-input.ts'
import { type DataUrl, decodeBase64, decodeDataUrl, readDataUrl } from '../bodies/data-url.ts'

const { Readable } = nodeBuiltin('node:stream')

/** A body that was found in a value, not decoded yet. */
export type FoundBody =
  | { type: 'base64'; text: string }
  | { type: 'data-url'; text: string }
  | { type: 'bytes'; bytes: Uint8Array }
  | { type: 'blob'; blob: Blob }
  | { type: 'stream'; stream: ReadableStream<Uint8Array> }
  | { type: 'response'; response: Response }
  | { type: 'node-stream'; stream: NodeReadable }
  /** Too many numbers for a list: they become structured content, of which each has an address. */
  | { type: 'numbers'; view: ArrayBufferView }
  /** What a getter or a Proxy threw in place of a value. */
  | { type: 'unreadable'; error: unknown }

/** A body that can be saved, and what it says of itself. */
export interface LoadedBody {
  input: BodyInput
  mime: string | null
  name: string | null
  /** Whether the bytes were made here, so that nobody else holds them. */
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
 * @throws ByrefError `asset_invalid` when it does not decode, was read before, or cannot be read at all
 */
export function loadBody(
  body: FoundBody | { type: 'data-url'; url: DataUrl },
): LoadedBody | LoadedContent {
  switch (body.type) {
    case 'base64':
      return loadBase64(body.text)
    case 'data-url':
      return loadDataUrl('url' in body ? body.url : readDataUrl(body.text))
    case 'bytes':
      return { ...UNKNOWN, input: body.bytes }
    case 'blob': {
      const name = body.blob instanceof File ? body.blob.name : null
      return { ...UNKNOWN, input: body.blob, mime: body.blob.type || null, name }
    }
    case 'stream':
      return { ...UNKNOWN, input: unread(body.stream) }
    case 'node-stream':
      return { ...UNKNOWN, input: takeNodeStream(body.stream) }
    case 'response': {
      const { body: input, mime, name } = takeResponse(body.response)
      return { input, mime, name, owned: false }
    }
    case 'numbers':
      return { content: body.view, contentType: typeString(body.view) }
    case 'unreadable':
      throw unreadable(body.error)
  }
}

const UNKNOWN = { mime: null, name: null, owned: false }

/**
 * A body that is a value by itself: bytes (a Buffer, a `Uint8ClampedArray`, a `DataView` too), a Blob, a Response, a
 * stream of the web or of Node. Null for all else, typed arrays of numbers among it.
 */
export function binaryBody(value: object): FoundBody | null {
  if (ArrayBuffer.isView(value)) return isByteView(value) ? bytesBody(value) : null
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return { type: 'bytes', bytes: new Uint8Array(value) }
  }
  if (value instanceof Blob) return { type: 'blob', blob: value }
  if (value instanceof Response) return { type: 'response', response: value }
  if (value instanceof ReadableStream) return { type: 'stream', stream: value }
  return value instanceof Readable ? { type: 'node-stream', stream: value } : null
}

function bytesBody({ buffer, byteOffset, byteLength }: ArrayBufferView): FoundBody {
  return { type: 'bytes', bytes: new Uint8Array(buffer, byteOffset, byteLength) }
}

/** Bytes of the body, as its encoding, its Blob or its `content-length` says; 0 where only reading it tells. */
export function sizeOf(body: FoundBody): number {
  switch (body.type) {
    case 'base64':
    case 'data-url':
      return body.text.length * 0.75
    case 'bytes':
      return body.bytes.byteLength
    case 'numbers':
      return body.view.byteLength
    case 'blob':
      return body.blob.size
    case 'response':
      return Number(body.response.headers.get('content-length')) || 0
    default:
      return 0
  }
}

/** What can be read once only, however often it stands in a value; null for all else. */
export function streamIn(body: FoundBody): object | null {
  switch (body.type) {
    case 'stream':
    case 'node-stream':
      return body.stream
    case 'response':
      return body.response.body ?? body.response
    default:
      return null
  }
}

/** Ends a stream that nobody will read. */
export function cancelFound(body: FoundBody, reason: unknown): void {
  if (body.type === 'node-stream') body.stream.destroy()
  else cancelBody(streamIn(body), reason)
}

function loadBase64(text: string): LoadedBody {
  const bytes = decodeBase64(text)
  if (!bytes) throw undecodable('base64')
  return { input: bytes, mime: null, name: null, owned: true }
}

function loadDataUrl(url: DataUrl | null): LoadedBody {
  const bytes = url && decodeDataUrl(url)
  if (!bytes) throw undecodable('the data URL')
  return { input: bytes, mime: url.mime ?? 'text/plain', name: null, owned: true }
}

function undecodable(what: string): ByrefError {
  return new ByrefError('asset_invalid', `The body does not decode: ${what} is broken.`)
}

function unreadable(error: unknown): ByrefError {
  const message = `The value cannot be read: ${errorMessage(error)}`
  return new ByrefError('asset_invalid', message, { cause: error })
}
