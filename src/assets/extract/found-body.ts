import { ByrefError } from '../../errors.ts'
import type { BodyInput } from '../bodies/body.ts'
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
 * @throws ByrefError `asset_invalid` when it does not decode
 */
export function loadBody(body: FoundBody | { type: 'data-url'; url: DataUrl }): LoadedBody {
  switch (body.type) {
    case 'base64':
      return loadBase64(body.text)
    case 'data-url':
      return loadDataUrl('url' in body ? body.url : parseDataUrl(body.text))
    case 'bytes':
      return { input: body.bytes, mime: null, name: null, owned: false }
    case 'blob': {
      const name = body.blob instanceof File ? body.blob.name : null
      return { input: body.blob, mime: body.blob.type || null, name, owned: false }
    }
    case 'stream':
      return { input: unused(body.stream), mime: null, name: null, owned: false }
    case 'response':
      return loadResponse(body.response)
  }
}

/** Bytes of the body, estimated from its encoding; 0 where only reading it would tell. */
export function sizeOf(body: FoundBody): number {
  switch (body.type) {
    case 'base64':
    case 'data-url':
      return body.text.length * 0.75
    case 'bytes':
      return body.bytes.byteLength
    case 'blob':
      return body.blob.size
    default:
      return 0
  }
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

function loadResponse(response: Response): LoadedBody {
  const input = response.body ? unused(response.body) : new Uint8Array()
  const mime = response.headers.get('content-type')
  const disposition = response.headers.get('content-disposition') ?? ''
  const name = /filename="?([^";]+)"?/i.exec(disposition)?.[1] ?? null
  return { input, mime, name, owned: false }
}

function unused(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  if (!stream.locked) return stream
  throw new ByrefError('asset_invalid', 'The stream is being read by somebody else.')
}

function undecodable(what: string): ByrefError {
  return new ByrefError('asset_invalid', `The body does not decode: ${what} is broken.`)
}
