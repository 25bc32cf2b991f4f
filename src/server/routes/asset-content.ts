import type { Context } from 'hono'
import type { AssetInfo } from '../../assets/asset-info.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { ByrefError } from '../../errors.ts'
import { ASSET_FIELDS } from '../../refs/asset-id.ts'
import { parseAssetRef } from '../../refs/asset-ref.ts'
import { attachment } from '../attachment.ts'

/** What of an asset is asked for, and how it is shown. */
export interface AskedContent {
  /** A field, as behind an asset's URL, with or without its first slash. */
  path?: string
  /** As an attachment. */
  download: boolean
}

/** A body of so many bytes is sent at once: a stream costs more than it spares. */
const SMALL = 128 * 1024

/** Answers with the body of an asset, or with one of its fields. */
export async function sendContent(
  c: Context,
  assets: Assets,
  ref: string,
  { path, download }: AskedContent,
): Promise<Response> {
  const field = path === undefined ? null : at(ref, path)
  const info = await assets.info(ref)
  setHeaders(c, info, download)
  if (field !== null) return sendField(c, assets, field)
  // What people download of a table is the file as it came.
  const source = download ? info.table?.source : null
  if (source) return sendBody(c, assets, await assets.info(source))
  return info.structured && !info.table ? sendJson(c, assets, info) : sendBody(c, assets, info)
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
async function sendBody(c: Context, assets: Assets, info: AssetInfo): Promise<Response> {
  const { ref, size, mime, digest } = info
  c.header('etag', `"${digest}"`)
  if (names(c.req.header('if-none-match'), digest)) return c.body(null, 304)
  c.header('accept-ranges', 'bytes')
  const range = isSame(c.req.header('if-range'), digest)
    ? parseRange(c.req.header('range'), size)
    : null
  if (range === 'unsatisfiable') {
    c.header('content-range', `bytes */${size}`)
    throw new ByrefError('range_not_satisfiable', `The asset has ${size} bytes`)
  }
  if (!range && size <= SMALL && c.req.method !== 'HEAD') {
    const { bytes } = await assets.get(ref)
    c.header('content-type', mime)
    // What is too small is not compressed, which goes by this.
    c.header('content-length', String(size))
    return c.body(bytes as Uint8Array<ArrayBuffer>)
  }
  const { start, end } = range ?? { start: 0, end: size }
  // Only who reads the body opens it: some stores give it once.
  const opened = c.req.method === 'HEAD' ? null : await assets.open(ref, { start, end })
  c.header('content-type', mime)
  c.header('content-length', String(end - start))
  if (range) c.header('content-range', `bytes ${start}-${end - 1}/${size}`)
  const status = range ? 206 : 200
  return opened ? c.body(opened.stream, status) : c.body(null, status)
}

/** Whether a list of tags has this one (RFC 9110, section 13.1.2): weak ones too, or `*`. */
function names(header: string | undefined, digest: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(`"${digest}"`)
}

/** Whether `If-Range` lets a range pass: absent, or this very tag, which must be strong (RFC 9110, section 13.1.5). */
function isSame(header: string | undefined, digest: string): boolean {
  return header === undefined || header.trim() === `"${digest}"`
}

/** The content of a structured asset as it streams. */
async function sendJson(c: Context, assets: Assets, info: AssetInfo): Promise<Response> {
  const opened = c.req.method === 'HEAD' ? null : await assets.open(info.ref)
  c.header('content-type', info.mime)
  if (!opened) return c.body(null)
  c.header('content-length', String(opened.size))
  return c.body(opened.stream)
}

/** A field of a structured asset: text as JSON, as all other values, bytes as they are. */
async function sendField(c: Context, assets: Assets, ref: string): Promise<Response> {
  const value = await assets.resolve(ref)
  const isText = typeof value === 'string'
  const { bytes, mime } = isText
    ? { bytes: Buffer.from(JSON.stringify(value)), mime: 'application/json' }
    : await assets.get(ref)
  c.header('content-type', mime)
  return c.body(bytes as Uint8Array<ArrayBuffer>)
}

/** Content of other people is never a page of this origin: no scripts, no frames, no guessing of types. */
function setHeaders(c: Context, info: AssetInfo, download: boolean): void {
  c.header(
    'content-security-policy',
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  )
  c.header('cache-control', 'private, max-age=31536000, immutable')
  c.header('cross-origin-resource-policy', 'same-origin')
  if (!download) return
  c.header('content-disposition', attachment(info.name ?? info.assetId))
}

/**
 * One range of bytes, end exclusive; null for none, and for what may be ignored: several ranges, other units, what is no
 * range at all.
 */
function parseRange(
  header: string | undefined,
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
