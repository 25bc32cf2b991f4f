import { flatten } from '../../content/flatten.ts'
import { ByrefError } from '../../errors.ts'
import { formatAssetRef } from '../../refs/asset-ref.ts'
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
import { type Call, type Route, route } from '../route.ts'
import { sendContent } from './asset-content.ts'

const PATH = '/api/assets/:id'

/** The reference of the asset that a path names. Throws `invalid_reference` for what can be no id. */
export function refOf({ param }: Pick<Call<unknown, unknown>, 'param'>): string {
  return formatAssetRef({ id: param('id') })
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
      async ({ query, agent, json }) => {
        const { assets, next } = await agent().assets.list(query)
        return json({ assets: assets.map(publicInfo), next })
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
        errors: ['asset_exists', 'asset_invalid', 'quota_exceeded', 'storage_full'],
      },
      async ({ body, agent, json }) => {
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
        errors: ['asset_not_found', 'invalid_reference'],
      },
      async (call) => {
        const ref = refOf(call)
        const { assets } = call.agent()
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
        ],
      },
      (call) => {
        const { path, download } = call.query
        const asked = { path, download: download !== undefined }
        return sendContent(call.c, call.agent().assets, refOf(call), asked)
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
        errors: ['asset_not_found', 'invalid_reference', 'config_invalid'],
      },
      async (call) => {
        const { caller, body, json } = call
        const { assetId } = await call.agent().assets.info(refOf(call))
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
