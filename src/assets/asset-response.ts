import { ByrefError } from '../core/errors.ts'
import { ASSET_FIELDS } from '../core/refs/asset-id.ts'
import { parseAssetRef } from '../core/refs/asset-ref.ts'
import type { AssetInfo } from './asset-info.ts'
import type { Assets } from './assets-contract.ts'

/** What of an asset is asked for, and how it is shown. */
export interface AskedContent {
  /** A field, as behind an asset's URL, with or without its first slash. */
  path?: string
  /** As an attachment. */
  download: boolean
}

/** Content of other people is never a page of this origin: no scripts, no frames, no guessing of types. */
export const ASSET_HEADERS = {
  'content-security-policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const

/** A body of so many bytes is sent at once: a stream costs more than it spares. */
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
 * The answer to a GET or HEAD for the body of an asset, or for one of its fields: whole, a range, or 304.
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
  const headers = headersOf(info, download)
  if (field !== null) return fieldResponse(assets, field, headers)
  // What people download of a table is the file as it came.
  const source = download ? info.table?.source : null
  const answer = { request, assets, headers }
  if (source) return bodyResponse(await assets.info(source), answer)
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

/** A file's bytes, whole or the range asked for (RFC 9110, sections 13 and 14). */
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
  headers.set('content-type', mime)
  if (!range && size <= SMALL && request.method !== 'HEAD') {
    const { bytes } = await assets.get(ref)
    // What is too small is not compressed, which goes by this.
    headers.set('content-length', String(size))
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
  }
  const { start, end } = range ?? { start: 0, end: size }
  // Only who reads the body opens it: some stores give it once.
  const opened = request.method === 'HEAD' ? null : await assets.open(ref, { start, end })
  headers.set('content-length', String(end - start))
  if (range) headers.set('content-range', `bytes ${start}-${end - 1}/${size}`)
  return new Response(opened?.stream ?? null, { status: range ? 206 : 200, headers })
}

/** Whether a list of tags has this one (RFC 9110, section 13.1.2): weak ones too, or `*`. */
function names(header: string | null, digest: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(`"${digest}"`)
}

/** Whether `If-Range` lets a range pass: absent, or this very tag, which must be strong (RFC 9110, section 13.1.5). */
function isSame(header: string | null, digest: string): boolean {
  return header === null || header.trim() === `"${digest}"`
}

/** The content of a structured asset as it streams. */
async function jsonResponse(info: AssetInfo, answer: Answer): Promise<Response> {
  const { request, assets, headers } = answer
  const opened = request.method === 'HEAD' ? null : await assets.open(info.ref)
  headers.set('content-type', info.mime)
  if (!opened) return new Response(null, { headers })
  headers.set('content-length', String(opened.size))
  return new Response(opened.stream, { headers })
}

/** A field of a structured asset: text as JSON, as all other values, bytes as they are. */
async function fieldResponse(assets: Assets, ref: string, headers: Headers): Promise<Response> {
  const value = await assets.resolve(ref)
  const isText = typeof value === 'string'
  const { bytes, mime } = isText
    ? { bytes: new TextEncoder().encode(JSON.stringify(value)), mime: 'application/json' }
    : await assets.get(ref)
  headers.set('content-type', mime)
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
}

function headersOf(info: AssetInfo, download: boolean): Headers {
  const headers = new Headers(ASSET_HEADERS)
  headers.set('cache-control', 'private, max-age=31536000, immutable')
  if (download) headers.set('content-disposition', attachment(info.name ?? info.assetId))
  return headers
}

/**
 * One range of bytes, end exclusive; null for none, and for what may be ignored: several ranges, other units, what is no
 * range at all.
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

/** A `content-disposition` that has a browser save what is sent under this name. */
export function attachment(name: string): string {
  // RFC 8187 allows fewer characters than a URL does.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

/** A title as the name of a file that every system takes, with the day of a time (ISO 8601) and an extension. */
export function fileName(title: string, time: string, extension: string): string {
  const safe = title
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
  const short = [...safe].slice(0, 80).join('').trim() || 'conversation'
  return `${short} ${time.slice(0, 10)}.${extension}`
}
