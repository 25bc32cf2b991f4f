import { describe, expect, it } from 'vitest'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import type { AssetStore } from '../asset-store.ts'
import { sha256 } from '../bodies/digest.ts'
import { createAssets } from '../create-assets.ts'
import { PNG, threeMethods } from '../fixtures/stores.ts'
import { createPassthroughStore } from './passthrough.ts'
import { withRecords } from './with-records.ts'

const code = (name: string) => expect.objectContaining({ code: name })

function fourMethods(): AssetStore {
  const deleted = new Set<string>()
  const store = threeMethods()
  return {
    ...store,
    get: async (assetId) => {
      if (deleted.has(assetId)) throw new Error('it was removed')
      return store.get(assetId)
    },
    delete: async (assetId: string) => deleted.add(assetId),
  } as AssetStore
}

describe('a store of three methods', () => {
  const loseBodies = (store: AssetStore) => {
    store.get = () => Promise.reject(new Error('it was lost'))
  }
  testAssetStore(threeMethods, it, { loseBodies })
})

describe('a store of three methods that can delete', () => {
  testAssetStore(fourMethods, it)
})

/** Each store that keeps its records in this process. */
describe.each([
  ['withRecords', () => withRecords(fourMethods())],
  ['createPassthroughStore', () => createPassthroughStore()],
])('%s', (_, create) => {
  it('stops a check of its bodies, and a sweep, when their signal aborts', async () => {
    const store = create()
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    for (const text of ['a', 'b']) await store.save(Buffer.from(text), 'text/plain', { expiresAt })
    const abort = new AbortController()
    const checked: unknown[] = []
    const checking = (async () => {
      for await (const one of store.verify({ signal: abort.signal })) {
        checked.push(one)
        abort.abort(new Error('enough'))
      }
    })()
    await expect(checking).rejects.toThrow('enough')
    expect(checked).toHaveLength(1)
    const later = { now: Date.now() + 120_000, signal: abort.signal }
    await expect(store.sweep(later)).rejects.toThrow('enough')
    expect((await store.list()).records).toHaveLength(2)
  })
})

describe('createAssets on a store of three methods', () => {
  it('finds its assets again after a restart, in their namespaces', async () => {
    const store = threeMethods()
    const config = { namespacing: { mode: 'context' } } as const
    const created: unknown[] = []
    const before = createAssets({ store, config, onEvent: (event) => created.push(event.payload) })
    const { ref } = await before.save(PNG, null, { namespace: 'a', name: 'x.png' })
    const table = await before.saveAsset(
      { content_type: 'data', content: { n: 1n } },
      { namespace: 'a' },
    )
    const after = createAssets({ store, config })
    await expect(after.get(ref, { namespace: 'a' })).rejects.toEqual(code('asset_not_found'))
    const log = JSON.parse(JSON.stringify(created))
    for (const event of log) after.remember(event, { namespace: 'b' })
    await expect(after.get(ref, { namespace: 'b' })).rejects.toEqual(code('asset_not_found'))
    for (const event of log) after.remember(event, { namespace: 'a' })
    expect(await after.info(ref, { namespace: 'a' })).toMatchObject({
      name: 'x.png',
      kind: 'image',
    })
    expect((await after.get(ref, { namespace: 'a' })).bytes.byteLength).toBe(PNG.byteLength)
    expect(await after.resolve(`${table.ref}/content/n`, { namespace: 'a' })).toBe(1n)
    await expect(after.get(ref, { namespace: 'b' })).rejects.toEqual(code('asset_not_found'))
  })

  it('finds what was saved before, if there are no namespaces', async () => {
    const store = threeMethods()
    const before = createAssets({ store })
    const { ref } = await before.save(PNG)
    const table = await before.saveAsset({
      content_type: 'data',
      content: { image: new Uint8Array(PNG) },
    })
    const after = createAssets({ store })
    expect(await after.info(ref)).toMatchObject({ mime: 'image/png', size: PNG.byteLength })
    expect(await after.meta(table.ref)).toEqual(await before.meta(table.ref))
    expect(await after.resolve(`${table.ref}/content/image/1`)).toBe(0x50)
  })

  it('uses its URLs, and lists what it does not support', async () => {
    const assets = createAssets({ store: threeMethods() })
    const { ref, assetId } = await assets.save(PNG)
    expect(await assets.urlFor(ref)).toBe(`https://example.com/${assetId}`)
    expect(await assets.urlFor(ref, { inline: true })).toMatch(/^data:/)
    await expect(assets.delete(ref)).rejects.toThrow('no method "delete"')
    const broken = createAssets({
      store: { ...threeMethods(), save: () => Promise.reject(new Error('kaputt')) },
    })
    await expect(broken.save(PNG)).rejects.toThrow('kaputt')
    await expect(broken.save(PNG)).rejects.toEqual(code('storage_failed'))
  })
})

describe('withRecords', () => {
  /** Returns one id for equal bytes, and counts requests for bodies. */
  function contentAddressed() {
    const bodies = new Map<string, Uint8Array>()
    const counts = { get: 0 }
    const store = {
      async save(bytes: Uint8Array) {
        const assetId = sha256(bytes)
        bodies.set(assetId, new Uint8Array(bytes))
        return { assetId }
      },
      async get(assetId: string) {
        counts.get++
        const bytes = bodies.get(assetId)
        if (!bytes) throw new Error('no such thing')
        return { bytes, mime: 'text/plain' }
      },
      urlFor: async (assetId: string) => `https://example.com/${assetId}`,
      delete: async (assetId: string) => bodies.delete(assetId),
    }
    return { store, bodies, counts }
  }

  it('keeps namespaces apart even if the store gives equal bytes the same id', async () => {
    const { store, bodies } = contentAddressed()
    const full = withRecords(store)
    const [a, b] = [{ namespace: 'a' }, { namespace: 'b' }]
    const { assetId } = await full.save(Buffer.from('x'), 'text/plain', { ...a, name: 'of a' })
    expect((await full.save(Buffer.from('x'), 'text/plain', { ...b, name: 'of b' })).assetId).toBe(
      assetId,
    )
    expect((await full.info(assetId, a))?.name).toBe('of a')
    expect((await full.info(assetId, b))?.name).toBe('of b')
    expect(await full.info(assetId)).toBe(null)
    expect(await full.delete(assetId, a)).toBe(true)
    await expect(full.get(assetId, a)).rejects.toEqual(code('asset_not_found'))
    expect(Buffer.from((await full.get(assetId, b)).bytes).toString()).toBe('x')
    expect(await full.delete(assetId, b)).toBe(true)
    expect(bodies.size).toBe(0)
  })

  it('calls info first, and does not treat a failure as a missing asset', async () => {
    const { store, counts } = contentAddressed()
    const known = new Set(['there'])
    const full = withRecords({
      ...store,
      info: async (assetId) => (known.has(assetId) ? {} : null),
    })
    expect(await full.info('unknown')).toBe(null)
    expect(counts.get).toBe(0)
    await expect(full.info('there')).rejects.toEqual(code('storage_failed'))
    await expect(full.info('there')).rejects.toThrow('no such thing')
    expect(await withRecords(store).info('there')).toBe(null)
  })

  it('keeps the expiry of what it remembers', async () => {
    const { store } = contentAddressed()
    const { assetId } = await withRecords(store).save(Buffer.from('x'), 'text/plain')
    const full = withRecords(store)
    const past = new Date(Date.now() - 1000).toISOString()
    full.remember?.({ assetId, mime: 'text/plain', expiresAt: past })
    expect(await full.info(assetId)).toBe(null)
    await expect(full.get(assetId)).rejects.toEqual(code('asset_not_found'))
  })

  it('does not find structured content of a namespace, or after its expiry, by its bare id', async () => {
    const store = threeMethods()
    const attributes = { structured: true }
    const save = (options: object) =>
      withRecords(store).save(Buffer.from('{}'), 'application/json', { attributes, ...options })
    const expiresAt = new Date(Date.now() - 1000).toISOString()
    const [ours, theirs, late] = [
      await save({}),
      await save({ namespace: 'a' }),
      await save({ expiresAt }),
    ]
    const after = withRecords(store)
    expect((await after.info(ours.assetId))?.namespace).toBe(null)
    expect(await after.info(theirs.assetId)).toBe(null)
    expect(await after.info(late.assetId)).toBe(null)
  })

  it('accepts synchronous results, and reports invalid ones and failures', async () => {
    const { store } = contentAddressed()
    const save = (saved: () => unknown) =>
      withRecords({ ...store, save: saved as never }).save(Buffer.from('x'), 'text/plain')
    expect((await save(() => ({ assetId: 'at-once' }))).assetId).toBe('at-once')
    for (const answer of [undefined, null, {}, { assetId: 7 }, { assetId: 'content' }]) {
      await expect(save(() => answer)).rejects.toEqual(code('storage_failed'))
    }
    const failing = save(() => {
      throw new Error('kaputt')
    })
    await expect(failing).rejects.toEqual(code('storage_failed'))
    const empty = withRecords({ ...store, get: (async () => undefined) as never })
    const { assetId } = await empty.save(Buffer.from('x'), 'text/plain')
    await expect(empty.get(assetId)).rejects.toEqual(code('storage_failed'))
  })

  it('finds the parts of what was saved before this process started', async () => {
    const { store } = contentAddressed()
    const bytes = Buffer.from('a part')
    const part = { digest: sha256(bytes), bytes }
    const { assetId, info } = await withRecords(store).save(Buffer.from('{}'), 'application/json', {
      parts: [part],
      attributes: { structured: true },
    })
    // Without the type, the small store would have to store it itself.
    const after = withRecords({
      ...store,
      get: async (id) => ({ ...(await store.get(id)), mime: 'application/vnd.byref.asset+json' }),
    })
    expect((await after.info(assetId))?.parts).toEqual(info.parts)
    const opened = await after.open(assetId, { part: part.digest, start: 2 })
    expect(await new Response(opened?.stream).text()).toBe('part')
  })
})
