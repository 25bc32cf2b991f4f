import { ByrefError } from '../core/errors.ts'
import { ASSET_FIELDS, parseAssetRef } from '../core/refs/asset-ref.ts'
import { findAsset } from './asset-facade.ts'
import type { AssetInfo } from './asset-store.ts'
import type { Assets, OpenedAsset } from './assets-contract.ts'
import { peek } from './bodies/body.ts'
import { extensionOf, isJsonType, mimeTypeOfName } from './bodies/mime-type.ts'

/** The requested part of an asset, and how to send it. */
export interface AskedContent {
  /** A field, as in an asset's URL, with or without the leading slash. */
  path?: string
  /** Whether to send it as an attachment. */
  download: boolean
}

/** Content from other people must never act as a page of this origin: no scripts, no frames, no sniffing of types. */
export const ASSET_HEADERS = {
  'content-security-policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const

/** Bodies up to this size are sent at once, because a stream would cost more. */
const SMALL = 128 * 1024

/** A request for bytes that an asset does not have. */
export class UnsatisfiableRangeError extends ByrefError {
  /** The `content-range` of the answer. */
  readonly contentRange: string

  constructor(size: number) {
    super('range_not_satisfiable', `The asset has ${size} bytes`)
    this.contentRange = `bytes */${size}`
  }
}

/**
 * Answers a GET or HEAD request for the body of an asset, or for one of its fields: whole, a range, or 304.
 *
 * @throws ByrefError `asset_not_found`, `invalid_reference`; UnsatisfiableRangeError
 */
export async function assetResponse(
  request: Pick<Request, 'method' | 'headers'>,
  assets: Assets,
  ref: string,
  { path, download }: AskedContent,
): Promise<Response> {
  const field = path === undefined ? null : at(ref, path)
  const info = await assets.info(ref)
  const headers = new Headers(ASSET_HEADERS)
  headers.set('cache-control', 'private, max-age=31536000, immutable')
  const name = info.name ?? info.assetId
  if (field !== null) {
    // A field has no name, and is not of the type of its asset.
    if (download) headers.set('content-disposition', attachment(name))
    return fieldResponse(assets, field, headers)
  }
  // Downloading a table gives the original file, unless that was deleted.
  const source = download && info.table?.source ? await findAsset(info.table.source, assets) : null
  const answer = { request, assets, headers }
  if (download) {
    headers.set('content-disposition', attachment(await fileNameOf(name, source ?? info)))
  }
  if (source) return bodyResponse(source, answer)
  return info.structured && !info.table ? jsonResponse(info, answer) : bodyResponse(info, answer)
}

interface Answer {
  request: Pick<Request, 'method' | 'headers'>
  assets: Assets
  headers: Headers
}

function at(ref: string, path: string): string {
  const below = path.replace(/^\//, '')
  const url = `${ref}/${below}`
  if (parseAssetRef(url)?.fieldPath && ASSET_FIELDS.includes(below.split('/', 1)[0] ?? ''))
    return url
  throw new ByrefError(
    'invalid_reference',
    `path names a field from the asset's first level on: did you mean content/${below}?`,
  )
}

/** Returns a file's bytes: whole, or the requested range (RFC 9110, sections 13 and 14). */
async function bodyResponse(info: AssetInfo, answer: Answer): Promise<Response> {
  const { request, assets, headers } = answer
  const { ref, size, mime, digest } = info
  headers.set('etag', `"${digest}"`)
  if (names(request.headers.get('if-none-match'), digest)) {
    return new Response(null, { status: 304, headers })
  }
  headers.set('accept-ranges', 'bytes')
  const range = isSame(request.headers.get('if-range'), digest)
    ? parseRange(request.headers.get('range'), size)
    : null
  if (range === 'unsatisfiable') throw new UnsatisfiableRangeError(size)
  // Some browsers render the parts, each with its own headers.
  headers.set('content-type', mime.startsWith('multipart/') ? 'application/octet-stream' : mime)
  if (!range && size <= SMALL && request.method !== 'HEAD') {
    const { bytes } = await assets.get(ref)
    // The compression step uses this to skip small bodies.
    headers.set('content-length', String(size))
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
  }
  const { start, end } = range ?? { start: 0, end: size }
  // HEAD must not open the body, because some stores give it only once.
  const opened = request.method === 'HEAD' ? null : await assets.open(ref, { start, end })
  const stream = opened && (await startedStream(opened))
  headers.set('content-length', String(end - start))
  if (range) headers.set('content-range', `bytes ${start}-${end - 1}/${size}`)
  return new Response(stream, { status: range ? 206 : 200, headers })
}

/** Returns whether a list of entity tags contains this one, also as a weak tag or as `*` (RFC 9110, section 13.1.2). */
function names(header: string | null, digest: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(`"${digest}"`)
}

/** Returns whether `If-Range` allows a range: it is absent, or this exact strong tag (RFC 9110, section 13.1.5). */
function isSame(header: string | null, digest: string): boolean {
  return header === null || header.trim() === `"${digest}"`
}

/** Streams the content of a structured asset. */
async function jsonResponse(info: AssetInfo, answer: Answer): Promise<Response> {
  const { request, assets, headers } = answer
  const opened = request.method === 'HEAD' ? null : await assets.open(info.ref)
  headers.set('content-type', info.mime)
  if (!opened) return new Response(null, { headers })
  const stream = await startedStream(opened)
  headers.set('content-length', String(opened.size))
  return new Response(stream, { headers })
}

/** Reads the first chunk, so that a body that cannot be read gets the status of its error. Returns the whole stream. */
async function startedStream({ stream }: OpenedAsset): Promise<ReadableStream<Uint8Array>> {
  return (await peek(stream, 1)).body
}

/** Returns a field of a structured asset: bytes unchanged, everything else as JSON. */
async function fieldResponse(assets: Assets, ref: string, headers: Headers): Promise<Response> {
  const value = await assets.resolve(ref)
  const isText = typeof value === 'string'
  const { bytes, mime } = isText
    ? { bytes: new TextEncoder().encode(JSON.stringify(value)), mime: 'application/json' }
    : await assets.get(ref)
  headers.set('content-type', mime)
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
}

/** Types that are too general to determine a file extension: `Makefile` and `LICENSE` are plain text. */
const UNSPECIFIC = /^(?:text\/plain|application\/octet-stream)\b/

/**
 * Returns a file name with the usual extension of its type. A file may have the extension of another type. A table and
 * JSON may not, because they may have the name of the file that they were imported from.
 */
async function fileNameOf(
  name: string,
  { mime, table, structured }: Pick<AssetInfo, 'mime' | 'table' | 'structured'>,
): Promise<string> {
  if (table) return /\.parquet$/i.test(name) ? name : `${name}.parquet`
  if (structured) return isJsonType((await mimeTypeOfName(name)) ?? '') ? name : `${name}.json`
  if (UNSPECIFIC.test(mime) || (await mimeTypeOfName(name)) !== null) return name
  const extension = await extensionOf(mime)
  return extension === 'bin' ? name : `${name}.${extension}`
}

/**
 * Parses one range of bytes; `end` is exclusive. Returns null for a header that may be ignored: none, several ranges,
 * other units, or malformed.
 */
function parseRange(
  header: string | null,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | null {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return null
  const [, first, last] = match
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start >= size || start >= end ? 'unsatisfiable' : { start, end }
}

/** Returns a `content-disposition` that makes a browser save the response under this name. */
export function attachment(name: string): string {
  // RFC 8187 allows fewer characters than URLs do.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

/** Returns a file name that every system accepts, from a title, the day of a time (ISO 8601) and an extension. */
export function fileName(title: string, time: string, extension: string): string {
  const safe = title
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
  const short = [...safe].slice(0, 80).join('').trim() || 'conversation'
  return `${short} ${time.slice(0, 10)}.${extension}`
}
