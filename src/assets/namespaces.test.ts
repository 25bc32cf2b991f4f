import { describe, expect, it } from 'vitest'
import { errorMessage } from '../core/errors.ts'
import type { AssetRef } from '../core/refs/asset-ref.ts'
import type { AssetRefInput, NamespaceOption } from './asset-locator.ts'
import type { AssetStore } from './asset-store.ts'
import { fetchAssetTool, saveAssetTool } from './asset-tools.ts'
import type { Assets } from './assets-contract.ts'
import { createAssets } from './create-assets.ts'
import { everyStore, testFolder } from './fixtures/stores.ts'

const stores = everyStore(testFolder())

type Options = NamespaceOption | undefined

/** Every method that takes a reference. */
const methods: Record<string, (assets: Assets, ref: AssetRefInput, options: Options) => unknown> = {
  get: (assets, ref, options) => assets.get(ref, options),
  getBase64: (assets, ref, options) => assets.getBase64(ref, options),
  getDataUrl: (assets, ref, options) => assets.getDataUrl(ref, options),
  open: (assets, ref, options) => assets.open(ref, options),
  'open a range': (assets, ref, options) => assets.open(ref, { ...options, start: 0, end: 1 }),
  info: (assets, ref, options) => assets.info(ref, options),
  urlFor: (assets, ref, options) => assets.urlFor(ref, options),
  'urlFor inline': (assets, ref, options) => assets.urlFor(ref, { ...options, inline: true }),
  resolve: (assets, ref, options) => assets.resolve(ref, options),
  meta: (assets, ref, options) => assets.meta(ref, options),
  delete: async (assets, ref, options) => {
    if (await assets.delete(ref, options)) return true
    throw Object.assign(new Error(), { code: 'asset_not_found' })
  },
  fetch_asset: (assets, ref, options) =>
    fetchAssetTool.execute({ ref, format: 'base64' }, { assets: assets.scoped(options ?? {}) }),
  'save_asset with a ref': (assets, ref, options) =>
    saveAssetTool.execute({ ref }, { assets: assets.scoped(options ?? {}) }),
}

/** Every form that names an asset of tenant-a, and attempts to name it from elsewhere. */
function forms(id: string): Record<string, AssetRefInput> {
  const upper = id.toUpperCase()
  return {
    'bare id': id,
    URL: `asset://${id}`,
    'URL in capitals': `ASSET://${id}`,
    'namespaced URL': `asset://tenant-a/${id}`,
    'field URL': `asset://${id}/content`,
    'namespaced field URL': `asset://tenant-a/${id}/content`,
    object: { asset_id: id, field_path: null },
    'object with a path': { asset_id: id, field_path: ['content'] },
    'namespaced object': { asset_id: id, field_path: null, namespace: 'tenant-a' },
    'path trick': `asset://tenant-a/../tenant-b/${id}`,
    'encoded path trick': `asset://tenant-b%2F..%2Ftenant-a/${id}`,
    'encoded id trick': `asset://..%2Ftenant-a%2F${id}`,
    'bare path': `tenant-a/${id}`,
    'dotted path': `../tenant-a/${id}`,
    'secret file': '../../secret',
    'case of the namespace': `asset://Tenant-A/${id}`,
    'case of the id': upper === id ? `${id}x` : upper,
    'a dot namespace': `asset://./${id}`,
    'two dots': `asset://../${id}`,
    'nul byte': `asset://tenant-a%00/${id}`,
    'space around': ` asset://tenant-a/${id} `,
    'query and fragment': `asset://tenant-b/${id}?namespace=tenant-a#tenant-a`,
  }
}

const UNKNOWN = ['asset_not_found', 'invalid_reference']

/** The native tools accept references only as text. */
const UNKNOWN_TO_TOOLS = [...UNKNOWN, 'invalid_arguments']

async function setUp(store: AssetStore) {
  const config = { namespacing: { mode: 'context', includeInRef: true } } as const
  const assets = createAssets({ store, config })
  const bytes = Buffer.from('the secret of tenant a')
  const saved = await assets.save(bytes, 'text/plain', { namespace: 'tenant-a' })
  await assets.save(Buffer.from('of b'), 'text/plain', { namespace: 'tenant-b' })
  return { assets, id: saved.assetId, ref: saved.ref }
}

describe.each(Object.entries(stores))('namespaces on %s', (_, create) => {
  const cases = Object.entries(methods).flatMap(([method, run]) =>
    Object.keys(forms('x')).map((form) => ({ method, run, form })),
  )

  it.each(cases)(
    '$method finds nothing of another namespace by $form',
    async ({ method, run, form }) => {
      const { assets, id } = await setUp(create())
      const codes = /_asset/.test(method) ? UNKNOWN_TO_TOOLS : UNKNOWN
      for (const namespace of [
        'tenant-b',
        'TENANT-A',
        'tenant-a ',
        'tenant-c',
        '*',
        'tenant%2Da',
        'tenant-a\ud800',
      ]) {
        const ref = forms(id)[form] as AssetRefInput
        for (const attempt of [
          () => run(assets, ref, { namespace }),
          () => run(assets.scoped({ namespace }), ref, undefined),
        ]) {
          const outcome = await Promise.resolve()
            .then(attempt)
            .then(
              (value) => ({ value }),
              (error) => ({ code: error.code as string, message: errorMessage(error) }),
            )
          expect(codes).toContain('code' in outcome && outcome.code)
          expect(JSON.stringify(outcome)).not.toContain('secret of')
        }
      }
      const { bytes } = await assets.get(id, { namespace: 'tenant-a' })
      expect(Buffer.from(bytes).toString()).toBe('the secret of tenant a')
    },
  )

  it('rejects names that are not well-formed, because UTF-8 would make them equal', async () => {
    const { assets } = await setUp(create())
    for (const namespace of ['\ud800', 'a\udfff']) {
      const refused = expect.objectContaining({ code: 'invalid_reference' })
      await expect(assets.save(new Uint8Array(1), null, { namespace })).rejects.toEqual(refused)
      const about = { namespace: 'tenant-a', assetId: namespace }
      await expect(assets.save(new Uint8Array(1), null, about)).rejects.toEqual(refused)
    }
  })

  it('requires a namespace', async () => {
    const { assets, id, ref } = await setUp(create())
    const code = 'namespace_required'
    for (const run of Object.values(methods)) {
      for (const form of [id, ref]) {
        await expect(
          Promise.resolve().then(() => run(assets, form, undefined)),
        ).rejects.toMatchObject({
          code,
        })
      }
    }
    await expect(assets.save(new Uint8Array(1))).rejects.toMatchObject({ code })
    await expect(
      assets.saveAsset({ content_type: 'application/json', content: {} }),
    ).rejects.toMatchObject({ code })
    await expect(assets.list()).rejects.toMatchObject({ code })
    await expect(assets.usage()).rejects.toMatchObject({ code })
    await expect(assets.sweep()).rejects.toMatchObject({ code })
  })

  it('includes the namespace in references, and accepts them with and without it', async () => {
    const { assets, id, ref } = await setUp(create())
    expect(ref).toBe(`asset://tenant-a/${id}`)
    const a = assets.scoped({ namespace: 'tenant-a' })
    for (const form of ['bare id', 'URL', 'namespaced URL', 'object', 'namespaced object']) {
      expect((await a.info(forms(id)[form] as AssetRef)).ref).toBe(ref)
    }
    expect((await a.list()).assets.map((info) => info.assetId)).toEqual([id])
    expect((await assets.list({ namespace: 'tenant-c' })).assets).toEqual([])
  })

  it('does not confuse its own asset with another of the same id', async () => {
    const config = { namespacing: { mode: 'context' } } as const
    const assets = createAssets({ store: create(), config })
    const id = 'the-same'
    const save = (namespace: string) =>
      assets.save(Buffer.from(namespace), 'text/plain', { namespace, assetId: id })
    const saved = await save('tenant-a').catch((error) => error.code)
    if (saved === 'asset_unsupported') return
    await save('tenant-b')
    const options = { namespace: 'tenant-b' }
    for (const run of Object.values(methods)) {
      const ref = `asset://tenant-a/${id}`
      await expect(Promise.resolve().then(() => run(assets, ref, options))).rejects.toMatchObject({
        code: 'asset_not_found',
      })
    }
    expect(Buffer.from((await assets.get(id, options)).bytes).toString()).toBe('tenant-b')
  })

  it('uses the namespace of the call, then of the scope, then its own', async () => {
    const config = { namespacing: { mode: 'context' } } as const
    const assets = createAssets({ store: create(), config, namespace: 'agent' })
    const run = assets.scoped({ namespace: 'run' })
    const own = await assets.save(Buffer.from('1'))
    const scoped = await run.save(Buffer.from('2'))
    const called = await run.save(Buffer.from('3'), null, { namespace: 'call' })
    expect(own.ref).toBe(`asset://${own.assetId}`)
    for (const [info, namespace] of [
      [own, 'agent'],
      [scoped, 'run'],
      [called, 'call'],
    ] as const) {
      expect((await assets.list({ namespace })).assets).toEqual([info])
    }
  })

  it.each(['', '.', '..', 'content', 'a\u0000b', 'x'.repeat(201), 'a\nb'])(
    'rejects the namespace %j',
    async (namespace) => {
      const { assets, id } = await setUp(create())
      const code = 'invalid_reference'
      await expect(assets.save(new Uint8Array(1), null, { namespace })).rejects.toMatchObject({
        code,
      })
      await expect(assets.get(id, { namespace })).rejects.toMatchObject({ code })
      await expect(assets.list({ namespace })).rejects.toMatchObject({ code })
    },
  )

  it('finds nothing in a namespace if the store has none', async () => {
    const assets = createAssets({ store: create() })
    const { assetId, ref } = await assets.save(Buffer.from('x'))
    expect(ref).toBe(`asset://${assetId}`)
    const code = 'asset_not_found'
    for (const [method, run] of Object.entries(methods)) {
      if (method === 'fetch_asset' || method.startsWith('save_asset')) continue
      const namespaced = `asset://tenant-a/${assetId}`
      await expect(
        Promise.resolve().then(() => run(assets, namespaced, undefined)),
      ).rejects.toMatchObject({ code })
      await expect(
        Promise.resolve().then(() => run(assets, assetId, { namespace: 'tenant-a' })),
      ).rejects.toMatchObject({ code })
    }
    const options = { namespace: 'tenant-a' }
    await expect(assets.save(new Uint8Array(1), null, options)).rejects.toMatchObject({
      code: 'config_invalid',
    })
    expect((await assets.get(ref)).bytes.byteLength).toBe(1)
  })

  it('tells how to write a field, because a model may omit "content"', async () => {
    const assets = createAssets({ store: create() })
    const { ref } = await assets.save(Buffer.from('{"a b": 1}'), 'application/json')
    await expect(assets.info(`${ref}/a%20b`)).rejects.toThrow(`write ${ref}/content/a%20b.`)
  })
})
