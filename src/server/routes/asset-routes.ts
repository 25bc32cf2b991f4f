import { z } from 'zod'
import {
  ASSET_HEADERS,
  assetResponse,
  UnsatisfiableRangeError,
} from '../../assets/asset-response.ts'
import type { AssetInfo } from '../../assets/asset-store.ts'
import { mayBeTable } from '../../assets/bodies/mime-type.ts'
import { ByrefError } from '../../core/errors.ts'
import { flatten } from '../../core/messages/flatten.ts'
import { formatAssetRef } from '../../core/refs/asset-ref.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import * as wire from '../../wire/assets.ts'
import type { Auth } from '../auth/auth.ts'
import { signGrant } from '../auth/tokens.ts'
import { publicInfo } from '../public-info.ts'
import type { Reader } from '../readers/readers.ts'
import { parse, RequestError } from '../request-body.ts'
import { type Call, type Route, route } from '../route.ts'
import { tablePage } from './table-page.ts'

/** Assets and tables: list, read, save structured assets, delete, rows, and SQL. */
export const assetRoutes: readonly Route[] = [
  route(
    'GET /api/assets',
    {
      role: 'reader',
      summary: 'Assets by pages, newest first',
      query: wire.assetsQuery,
      answers: { 200: wire.assetsPage },
    },
    async ({ query, reader, agent, json }) => {
      const { log, assets: store } = agent()
      const { assets, next } = await store.list(query)
      const shown = await readableAssets(reader, log, assets)
      return json({ assets: shown.map(publicInfo), next })
    },
  ),
  route(
    'POST /api/assets/structured',
    {
      role: 'member',
      summary: 'Save structured content: JSON of any form',
      body: wire.structuredAsset,
      answers: { 201: wire.assetAnswer },
      errors: ['asset_exists', 'asset_invalid', 'quota_exceeded', 'storage_full'],
    },
    async ({ body, reader, agent, json }) => {
      await requireNoReaders(reader, agent().log, body)
      const info = await agent().assets.saveAsset(body, { by: 'user' })
      return json({ asset: publicInfo(info) }, 201)
    },
  ),
  route(
    'GET /api/usage',
    {
      role: 'reader',
      summary: 'The number of assets, and their total bytes',
      answers: { 200: wire.usageAnswer },
    },
    async ({ agent, json }) => {
      const { assets, bytes } = await agent().assets.usage()
      return json({ assets, bytes })
    },
  ),
  route(
    'GET /api/assets/:id',
    {
      role: 'reader',
      summary: 'The metadata of an asset',
      answers: { 200: wire.assetDetails },
    },
    async (call) => {
      const { ref, assets } = await readableAsset(call)
      const info = await assets.info(ref)
      const meta = flatten(await assets.meta(ref)) as Record<string, unknown>
      return call.json({ asset: publicInfo(info), meta })
    },
  ),
  route(
    'DELETE /api/assets/:id',
    { role: 'owner', summary: 'Delete an asset', answers: { 204: null } },
    async ({ c, param, agent }) => {
      const ref = formatAssetRef({ id: param('id') })
      if (await agent().assets.delete(ref)) return c.body(null, 204)
      throw new ByrefError('asset_not_found', `There is no asset ${ref}`)
    },
  ),
  route(
    'GET /api/assets/:id/content',
    {
      role: 'reader',
      takesSignature: true,
      summary: 'The body of an asset, a range of it, or a field; also by a signed URL',
      query: wire.contentQuery,
      answers: { 200: { types: ['*/*'] }, 206: { types: ['*/*'] }, 304: null },
      errors: [
        'field_not_found',
        'range_not_satisfiable',
        'asset_unsupported',
        'asset_too_large',
        'too_deep',
      ],
    },
    async (call) => {
      const { path, download, signature } = call.query
      const options = { path, download: download !== undefined }
      // Whoever signed the URL was allowed to read the asset.
      const isSigned = signature !== undefined
      const { ref, assets } = await readableAsset(isSigned ? { ...call, reader: null } : call)
      try {
        return await assetResponse(call.c.req.raw, assets, ref, options)
      } catch (error) {
        for (const [name, value] of Object.entries(ASSET_HEADERS)) call.c.header(name, value)
        if (error instanceof UnsatisfiableRangeError) {
          call.c.header('content-range', error.contentRange)
        }
        throw error
      }
    },
  ),
  route(
    'GET /api/assets/:id/rows',
    {
      role: 'reader',
      summary: 'A page of rows of a table: some columns, sorted and filtered',
      query: wire.rowsQuery,
      answers: { 200: wire.rowsPage },
      errors: ['invalid_arguments', 'asset_too_large'],
    },
    async (call) => {
      const { columns, where, ...page } = call.query
      const { ref, assets } = await readableAsset(call)
      const { table, structured, mime } = await assets.info(ref)
      // Importing it would write, and readers may not write.
      if (!table && !structured && mayBeTable(mime)) throw notImported(ref)
      const rows = await assets.rows(ref, { signal: call.c.req.raw.signal })
      const answer = await tablePage(rows, {
        ...page,
        columns: columns === undefined ? undefined : listIn('columns', columns, columnNames),
        where: where === undefined ? [] : listIn('where', where, conditions),
      })
      return call.json(answer, 200, { 'cache-control': 'private, max-age=31536000, immutable' })
    },
  ),
  route(
    'POST /api/assets/:id/edit',
    {
      role: 'member',
      summary: 'Edit an asset: the answer is its new version',
      body: wire.editBody,
      answers: { 200: wire.edited, 201: wire.edited },
      errors: [
        'edit_rejected',
        'invalid_arguments',
        'invalid_reference',
        'field_not_found',
        'asset_unsupported',
        'asset_too_large',
        'quota_exceeded',
        'storage_full',
      ],
    },
    async ({ c, body, param, reader, agent, json }) => {
      const { edits, path, dryRun } = body
      const ref = `${formatAssetRef({ id: param('id') })}${path === undefined ? '' : `/${path}`}`
      const { assets, log } = agent()
      await requireNoReaders(reader, log, [ref, edits])
      const { signal } = c.req.raw
      const result = await assets.edit(ref, edits, { by: 'user', dryRun, signal })
      return json({ ...result, asset: publicInfo(result.asset) }, dryRun ? 200 : 201)
    },
  ),
  route(
    'GET /api/assets/:id/versions',
    {
      role: 'reader',
      summary: 'The versions of an asset, oldest first',
      answers: { 200: wire.versionsAnswer },
    },
    async (call) => {
      const { ref, assets } = await readableAsset(call)
      const all = await assets.versions(ref)
      const versions = await readableAssets(call.reader, call.agent().log, all)
      return call.json({ versions: versions.map(publicInfo) })
    },
  ),
  route(
    'POST /api/query',
    {
      role: 'member',
      summary: 'Query tables with SQL; the result is a table',
      body: wire.queryBody,
      answers: { 201: wire.assetAnswer },
      errors: [
        'asset_not_found',
        'invalid_reference',
        'invalid_arguments',
        'result_too_large',
        'tool_timeout',
        'dependency_missing',
        'quota_exceeded',
        'storage_full',
      ],
    },
    async ({ c, body, reader, agent, json }) => {
      const { name, ...query } = body
      await requireNoReaders(reader, agent().log, query)
      const { signal } = c.req.raw
      const info = await agent().assets.query(query, { by: 'user', name, signal })
      return json({ asset: publicInfo(info) }, 201)
    },
  ),
]

/** Signs URLs of assets. Where no token is needed, a URL needs no signature, and does not expire. */
export function signRoute({ key, required }: Pick<Auth, 'key' | 'required'>): Route {
  return route(
    'POST /api/assets/:id/sign',
    {
      role: 'reader',
      summary: 'A URL of an asset that needs no token until it expires',
      body: wire.signBody,
      answers: { 200: wire.signed },
    },
    async (call) => {
      const { path, download, expiresIn } = call.body
      if (required && key === null) {
        throw new ByrefError(
          'forbidden',
          'The server cannot sign URLs: give createServer a secret in auth, in addition to jwks or verify',
        )
      }
      const { ref, assets } = await readableAsset(call)
      const { assetId } = await assets.info(ref)
      const query = new URLSearchParams()
      if (path !== undefined) query.set('path', path)
      if (download) query.set('download', '1')
      if (key) {
        const grant = { namespace: call.caller.namespace, assetId, path: path ?? null }
        query.set('signature', await signGrant(key, grant, expiresIn))
      }
      const url = `/api/assets/${encodeURIComponent(assetId)}/content`
      const expiresAt = new Date(Date.now() + expiresIn * 1000).toISOString()
      return call.json({ url: query.size > 0 ? `${url}?${query}` : url, expiresAt })
    },
  )
}

type AssetCall = Pick<Call<never, never>, 'param' | 'reader' | 'agent'>

/**
 * Returns the asset that the path names.
 *
 * @throws ByrefError `invalid_reference` for what cannot be an id, `forbidden` if the caller may not read it
 */
async function readableAsset({ param, reader, agent }: AssetCall) {
  const ref = formatAssetRef({ id: param('id') })
  const { assets, log } = agent()
  await reader?.needAsset(log, ref)
  return { ref, assets }
}

async function readableAssets(
  reader: Reader | null,
  log: ConversationLog,
  assets: readonly AssetInfo[],
): Promise<AssetInfo[]> {
  const shown: AssetInfo[] = []
  for (const one of assets) {
    if (!reader || (await reader.mayReadAsset(log, one.ref))) shown.push(one)
  }
  return shown
}

/**
 * Rejects assets that only some readers may see. What is made of them here would belong to no conversation, so everybody could
 * read it.
 *
 * @throws ByrefError `forbidden` for a value that names such an asset
 */
async function requireNoReaders(
  reader: Reader | null,
  log: ConversationLog,
  named: unknown,
): Promise<void> {
  if ((await reader?.labelOfNamed(log, named)) === undefined) return
  throw new ByrefError(
    'forbidden',
    'The request names an asset that only some readers may see: use it in its conversation instead',
  )
}

const columnNames = z.array(z.string()).max(10_000)
const conditions = z.array(wire.condition).max(20)

function notImported(ref: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${ref} is a file, not a table. Use the table's reference, which the upload returned, or POST /api/query, which also accepts files.`,
  )
}

/** Returns a JSON list in a query. @throws RequestError */
function listIn<T>(name: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RequestError('query', [{ path: name, message: 'must be a JSON list' }])
  }
  return parse(schema, value, 'query', [name])
}
