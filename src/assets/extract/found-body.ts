import { ByrefError } from '../../errors.ts'
import { cancelBody } from '../bodies/body.ts'
import { type BodyInput, takeNodeStream, takeResponse, unread } from '../bodies/body-input.ts'
import { type DataUrl, decodeBase64, decodeDataUrl, parseDataUrl } from '../bodies/data-url.ts'
import type { FoundBody } from './asset-shapes.ts'

/** A body that can be saved, and what it says of itself. */
export interface LoadedBody {
  input: BodyInput
  mime: string | null
  name: string | null
  /** Whether the bytes were made here, so that nobody else holds them. */
  owned: boolean
}

/**
 * Decodes a body that was found.
 *
 * @throws ByrefError `asset_invalid` when it does not decode, or was read before
 */
export function loadBody(body: FoundBody | { type: 'data-url'; url: DataUrl }): LoadedBody {
  switch (body.type) {
    case 'base64':
      return loadBase64(body.text)
    case 'data-url':
      return loadDataUrl('url' in body ? body.url : parseDataUrl(body.text))
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
  }
}

const UNKNOWN = { mime: null, name: null, owned: false }

/** Bytes of the body, as its encoding, its Blob or its `content-length` says; 0 where only reading it tells. */
export function sizeOf(body: FoundBody): number {
  switch (body.type) {
    case 'base64':
    case 'data-url':
      return body.text.length * 0.75
    case 'bytes':
      return body.bytes.byteLength
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
