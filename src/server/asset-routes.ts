import type { Context } from 'hono'
import { Hono } from 'hono'
import type { AssetInfo } from '../assets/asset-info.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { jsonLine } from '../assets/tables/json-line.ts'
import type { TableRows } from '../assets/tables/table-rows.ts'
import { flatten } from '../content/flatten.ts'
import { ByrefError } from '../errors.ts'
import { ASSET_FIELDS } from '../refs/asset-id.ts'
import { formatAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import { publicInfo } from './public-info.ts'
import { assetPage, rowPage } from './request-body.ts'

/** Of rows in one answer. */
const MOST_CHARACTERS = 4_000_000

/** `/api/assets` and everything below it. */
export function assetRoutes(assets: Assets): Hono {
  const app = new Hono()

  app.post('/', async (c) => {
    const body = c.req.raw.body
    const name = c.req.query('name') || 'file'
    if (!body) throw new ByrefError('bad_request', 'The body of the request must be the file')
    const mime = c.req.header('content-type')
    const { asset, table } = await assets.importFile(body, { name, mime, by: 'user' })
    return c.json({ asset: publicInfo(asset), table: table && publicInfo(table) }, 201)
  })

  app.get('/', async (c) => {
    const { assets: page, next } = await assets.list(assetPage(c.req.query()))
    return c.json({ assets: page.map(publicInfo), next })
  })

  app.get('/:id', async (c) => {
    const ref = refOf(c)
    const info = await assets.info(ref)
    return c.json({ asset: publicInfo(info), meta: flatten(await assets.meta(ref)) })
  })

  app.get('/:id/rows', async (c) => {
    const { start, limit } = rowPage(c.req.query())
    return rowsFrom(c, await assets.rows(refOf(c), { signal: c.req.raw.signal }), start, limit)
  })

  app.get('/:id/content', async (c) => {
    const ref = refOf(c)
    const path = c.req.query('path')
    const info = await assets.info(ref)
    if (path !== undefined) return field(c, assets, info, at(ref, path))
    // What people download of a table is the file as it came.
    const source = c.req.query('download') === undefined ? null : info.table?.source
    if (source) return body(c, assets, await assets.info(source))
    return info.structured && !info.table ? json(c, assets, info) : body(c, assets, info)
  })

  return app
}

/** Rows of a table, fewer where they are long, and where the next ones begin. */
async function rowsFrom(
  c: Context,
  rows: TableRows,
  start: number,
  limit: number,
): Promise<Response> {
  const lines: string[] = []
  let characters = 0
  for await (const row of rows.select({ start, end: start + limit })) {
    const line = jsonLine(row)
    characters += line.length
    if (characters > MOST_CHARACTERS && lines.length > 0) break
    lines.push(line)
  }
  const next = start + lines.length
  const isLast = lines.length === 0 || next >= rows.count
  c.header('content-type', 'application/json')
  c.header('cache-control', 'private, max-age=31536000, immutable')
  return c.body(`{"rows":[${lines.join(',')}],"next":${isLast ? null : next}}`)
}

/** The asset that a path names. Throws `invalid_reference` for what can be no id. */
function refOf(c: Context): string {
  return formatAssetRef({ id: c.req.param('id') ?? '' })
}

/** The reference to a field; `path` is written as behind an asset's URL, with or without its first slash. */
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

/** A file's bytes, whole or the range asked for (RFC 9110, section 14). */
async function body(c: Context, assets: Assets, info: AssetInfo): Promise<Response> {
  const { ref, size, mime, digest } = info
  const known = isKnown(c.req.header('if-none-match'), digest)
  const range = known ? null : parseRange(c.req.header('range'), size)
  if (range === 'unsatisfiable') {
    c.header('content-range', `bytes */${size}`)
    throw new ByrefError('range_not_satisfiable', `The asset has ${size} bytes`)
  }
  const { start, end } = range ?? { start: 0, end: size }
  // Only who reads the body opens it: some stores give it once.
  const opened = known || c.req.method === 'HEAD' ? null : await assets.open(ref, { start, end })
  headers(c, info)
  c.header('etag', `"${digest}"`)
  if (known) return c.body(null, 304)
  c.header('accept-ranges', 'bytes')
  c.header('content-type', mime)
  c.header('content-length', String(end - start))
  if (range) c.header('content-range', `bytes ${start}-${end - 1}/${size}`)
  const status = range ? 206 : 200
  return opened ? c.body(opened.stream, status) : c.body(null, status)
}

/** Whether the client has the body already (RFC 9110, section 13.1.2): any of its tags, weak ones too, or `*`. */
function isKnown(header: string | undefined, digest: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes('*') || tags.includes(`"${digest}"`)
}

/** The content of a structured asset as it streams. */
async function json(c: Context, assets: Assets, info: AssetInfo): Promise<Response> {
  const opened = c.req.method === 'HEAD' ? null : await assets.open(info.ref)
  headers(c, info)
  c.header('content-type', info.mime)
  if (!opened) return c.body(null)
  c.header('content-length', String(opened.size))
  return c.body(opened.stream)
}

/** A field of a structured asset: text as JSON, as all other values, bytes as they are. */
async function field(c: Context, assets: Assets, info: AssetInfo, ref: string): Promise<Response> {
  const value = await assets.resolve(ref)
  const { bytes, mime } =
    typeof value === 'string'
      ? { bytes: Buffer.from(JSON.stringify(value)), mime: 'application/json' }
      : await assets.get(ref)
  headers(c, info)
  c.header('content-type', mime)
  return c.body(bytes as Uint8Array<ArrayBuffer>)
}

/** Content of other people is never a page of this origin: no scripts, no frames, no guessing of types. */
function headers(c: Context, info: AssetInfo): void {
  c.header(
    'content-security-policy',
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  )
  c.header('cache-control', 'private, max-age=31536000, immutable')
  c.header('cross-origin-resource-policy', 'same-origin')
  if (c.req.query('download') === undefined) return
  const name = (info.name ?? info.assetId).toWellFormed()
  // RFC 8187 allows fewer characters than a URL does.
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  )
  c.header('content-disposition', `attachment; filename*=UTF-8''${encoded}`)
}

/** One range of bytes, end exclusive; null for none or a form that may be ignored. */
function parseRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return null
  const [, first, last] = match
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start >= size || start >= end ? 'unsatisfiable' : { start, end }
}
