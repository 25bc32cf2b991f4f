import {
  ASSET_HEADERS,
  assetResponse,
  UnsatisfiableRangeError,
} from '../../assets/asset-response.ts'
import { ByrefError } from '../../core/errors.ts'
import { flatten } from '../../core/messages/flatten.ts'
import { formatAssetRef } from '../../core/refs/asset-ref.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import {
  assetAnswer,
  assetDetails,
  assetsPage,
  assetsQuery,
  contentQuery,
  signBody,
  signed,
  structuredAsset,
  usageAnswer,
} from '../../wire/assets.ts'
import { signGrant } from '../auth/tokens.ts'
import { publicInfo } from '../public-info.ts'
import type { Reader } from '../readers/readers.ts'
import { type Call, type Route, route } from '../route.ts'

const PATH = '/api/assets/:id'

/** The reference of the asset that a path names. Throws `invalid_reference` for what can be no id. */
export function refOf({ param }: Pick<Call<unknown, unknown>, 'param'>): string {
  return formatAssetRef({ id: param('id') })
}

/** Throws `forbidden` for what names assets with readers: what comes of it is known to no conversation, so everybody may read it. */
export async function needsNoReaders(
  reader: Reader | null,
  log: ConversationLog,
  named: unknown,
): Promise<void> {
  if ((await reader?.labelOfNamed(log, named)) === undefined) return
  throw new ByrefError('forbidden', 'It names an asset with readers: ask in its conversation')
}

/** Assets: list, look, read, save structured ones, remove, sign addresses. `key` signs; null where no token is needed. */
export function assetRoutes(key: Uint8Array | null): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/api/assets',
        summary: 'Assets by pages, newest first',
        role: 'reader',
        query: assetsQuery,
        answers: { 200: assetsPage },
      },
      async ({ query, reader, agent, json }) => {
        const { log, assets: kept } = agent()
        const { assets, next } = await kept.list(query)
        const shown: typeof assets = []
        for (const one of assets) {
          if (!reader || (await reader.mayReadAsset(log, one.ref))) shown.push(one)
        }
        return json({ assets: shown.map(publicInfo), next })
      },
    ),
    route(
      {
        method: 'post',
        path: '/api/assets/structured',
        summary: 'Save structured content: JSON of any form',
        role: 'member',
        body: structuredAsset,
        answers: { 201: assetAnswer },
        errors: ['asset_exists', 'asset_invalid', 'quota_exceeded', 'storage_full', 'forbidden'],
      },
      async ({ body, reader, agent, json }) => {
        await needsNoReaders(reader, agent().log, body)
        const info = await agent().assets.saveAsset(body as never, { by: 'user' })
        return json({ asset: publicInfo(info) }, 201)
      },
    ),
    route(
      {
        method: 'get',
        path: '/api/usage',
        summary: 'How many assets there are, and their bytes',
        role: 'reader',
        answers: { 200: usageAnswer },
      },
      async ({ agent, json }) => {
        const { assets, bytes } = await agent().assets.usage()
        return json({ assets, bytes })
      },
    ),
    route(
      {
        method: 'get',
        path: PATH,
        summary: 'What is known of an asset',
        role: 'reader',
        answers: { 200: assetDetails },
        errors: ['asset_not_found', 'invalid_reference', 'forbidden'],
      },
      async (call) => {
        const ref = refOf(call)
        const { assets, log } = call.agent()
        await call.reader?.needAsset(log, ref)
        const info = await assets.info(ref)
        const meta = flatten(await assets.meta(ref)) as Record<string, unknown>
        return call.json({ asset: publicInfo(info), meta })
      },
    ),
    route(
      {
        method: 'delete',
        path: PATH,
        summary: 'Remove an asset',
        role: 'owner',
        answers: { 204: null },
        errors: ['asset_not_found', 'invalid_reference'],
      },
      async (call) => {
        const ref = refOf(call)
        if (await call.agent().assets.delete(ref)) return call.c.body(null, 204)
        throw new ByrefError('asset_not_found', `There is no asset ${ref}`)
      },
    ),
    route(
      {
        method: 'get',
        path: `${PATH}/content`,
        summary: 'The body of an asset, a range of it, or a field; also by a signed address',
        role: 'reader',
        query: contentQuery,
        answers: { 200: { types: ['*/*'] }, 206: { types: ['*/*'] }, 304: null },
        errors: [
          'asset_not_found',
          'invalid_reference',
          'field_not_found',
          'range_not_satisfiable',
          'asset_unsupported',
          'asset_too_large',
          'too_deep',
          'forbidden',
        ],
      },
      async (call) => {
        const { path, download, signature } = call.query
        const asked = { path, download: download !== undefined }
        const { assets, log } = call.agent()
        // Who signed an address might read it.
        if (signature === undefined) await call.reader?.needAsset(log, refOf(call))
        try {
          return await assetResponse(call.c.req.raw, assets, refOf(call), asked)
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
      {
        method: 'post',
        path: `${PATH}/sign`,
        summary: 'An address of an asset that needs no token until it expires',
        role: 'reader',
        body: signBody,
        answers: { 200: signed },
        errors: ['asset_not_found', 'invalid_reference', 'config_invalid', 'forbidden'],
      },
      async (call) => {
        const { caller, body, json } = call
        const { assets, log } = call.agent()
        await call.reader?.needAsset(log, refOf(call))
        const { assetId } = await assets.info(refOf(call))
        const query = new URLSearchParams()
        if (body.path !== undefined) query.set('path', body.path)
        if (body.download) query.set('download', '1')
        if (key) {
          const grant = { namespace: caller.namespace, assetId, path: body.path ?? null }
          query.set('signature', await signGrant(key, grant, body.expiresIn))
        }
        const url = `/api/assets/${encodeURIComponent(assetId)}/content`
        const expiresAt = new Date(Date.now() + body.expiresIn * 1000).toISOString()
        return json({ url: query.size > 0 ? `${url}?${query}` : url, expiresAt })
      },
    ),
  ]
}
