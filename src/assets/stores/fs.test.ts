import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { crash } from '../../../scripts/torture/crash.ts'
import { mixed } from '../../../scripts/torture/mixed.ts'
import { assertSoundFolder } from '../../../scripts/torture/sound.ts'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import type { FullAssetStore, StoreVerified } from '../asset-store.ts'
import { sha256 } from '../bodies/digest.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { createAssets } from '../create-assets.ts'
import { mountSmallDisk } from '../fixtures/small-disk.ts'
import { testFolder } from '../fixtures/stores.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
import { createFsAssetStore, type FsAssetStoreOptions } from './fs.ts'

const HOUR = 3_600_000
const folder = testFolder()
let count = 0
const newRoot = () => join(folder, String(count++))

describe('createFsAssetStore', () => {
  let rootDir: string
  const create = () => {
    rootDir = newRoot()
    return createFsAssetStore({ rootDir })
  }
  testAssetStore(create, it, { loseBodies: () => rm(join(rootDir, 'bodies'), { recursive: true }) })
})

describe('createFsAssetStore with a baseUrl', () => {
  const baseUrl = 'https://cdn.example.com/assets/'
  testAssetStore(() => createFsAssetStore({ rootDir: newRoot(), baseUrl }), it)

  it('publishes bodies under their extension, as long as they exist', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir, baseUrl })
    const namespace = 'Tenant/../A'
    for (const [mime, extension] of [
      ['image/png', 'png'],
      ['text/csv', 'csv'],
      ['application/x-unknown', 'bin'],
    ] as const) {
      const bytes = Buffer.from(mime)
      const { assetId } = await store.save(bytes, mime, { namespace })
      const url = await store.urlFor(assetId, { namespace })
      expect(url).toMatch(new RegExp(`^${baseUrl}tenant-a-[0-9a-f]{24}/.*\\.${extension}$`))
      const path = join(rootDir, 'bodies', decodeURI(url.slice(baseUrl.length)))
      expect(await readFile(path)).toEqual(bytes)
      await store.delete(assetId, { namespace })
      await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })
})

describe('a folder of assets', () => {
  const stores: FullAssetStore[] = []
  const opened = (options: FsAssetStoreOptions) => {
    const store = createFsAssetStore(options)
    stores.push(store)
    return store
  }
  const closeAll = () => Promise.all(stores.splice(0).map((store) => store.close?.()))

  it('can be opened by another store, with everything in it', async () => {
    const rootDir = newRoot()
    const before = createAssets({ store: createFsAssetStore({ rootDir }) })
    const content = { rows: [{ a: 1 }, { a: 2 }], image: new Uint8Array([1, 2, 3]) }
    const table = await before.saveAsset({ content_type: 'data', content })
    const big = await before.save(new Blob([new Uint8Array(300_000).fill(7)]), 'audio/wav')
    const after = createAssets({ store: createFsAssetStore({ rootDir }) })
    expect(await after.resolve(table.ref)).toEqual(content)
    expect((await after.get(big.ref)).bytes.byteLength).toBe(300_000)
    expect((await after.list()).assets).toEqual((await before.list()).assets)
  })

  it('contains no name that two file systems read differently', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    for (const assetId of ['A', 'a', 'CON', 'é', '../x', 'a/b']) {
      await store.save(Buffer.from(assetId), 'text/plain', { assetId, namespace: `N ${assetId}` })
    }
    const entries = await readdir(rootDir, { recursive: true })
    for (const path of entries) expect(basename(path)).toMatch(/^[0-9a-z_][0-9a-z_.-]*$/)
    expect(new Set(entries.map((path) => path.toLowerCase())).size).toBe(entries.length)
  })

  it('names the asset whose record is damaged', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const { assetId } = await store.save(Buffer.from('text'), 'text/plain')
    const index = new DatabaseSync(join(rootDir, 'records.sqlite'))
    index.exec(`UPDATE assets SET record = '{"mime":"text'`)
    index.close()
    const damaged = {
      code: 'storage_failed',
      message: expect.stringContaining(`The record of asset "${assetId}" is damaged`),
    }
    await expect(store.info(assetId)).rejects.toMatchObject(damaged)
    await expect(store.list()).rejects.toMatchObject(damaged)
  })

  it('uses bytes without a copy if they are handed over', async () => {
    const store = createFsAssetStore({ rootDir: newRoot() })
    await store.ready()
    const bytes = [Buffer.from('before'), Buffer.alloc(200_000, 'b')]
    const saving = bytes.map((body) => store.save(body, 'text/plain'))
    await new Promise((go) => setTimeout(go, 0))
    for (const body of bytes) body.fill('x')
    for (const { assetId, info } of await Promise.all(saving)) {
      expect(sha256((await store.get(assetId)).bytes)).toBe(info.digest)
    }
  })

  it('lets one of many concurrent saves fail alone, and keeps nothing of it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('taken'), 'text/plain', { assetId: 'taken' })
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, i) =>
        store.save(Buffer.from(`body ${i % 200}`), 'text/plain', {
          assetId: i === 4 ? 'taken' : `id${i}`,
        }),
      ),
    )
    for (const [i, result] of results.entries()) {
      expect(result.status).toBe(i === 4 ? 'rejected' : 'fulfilled')
    }
    expect(Buffer.from((await store.get('taken')).bytes).toString()).toBe('taken')
    expect(Buffer.from((await store.get('id299')).bytes).toString()).toBe('body 99')
    const big = new Blob([new Uint8Array(100_000)]).stream()
    await expect(store.save(big, 'image/png', { assetId: 'taken' })).rejects.toThrow('taken')
    const files = (await readdir(join(rootDir, 'bodies'), { recursive: true })).filter((name) =>
      name.endsWith('.txt'),
    )
    expect(files).toHaveLength(201)
    await assertSoundFolder(rootDir, store)
  })

  it('works again after its folders were removed', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('first'), 'text/plain')
    for (const body of [
      Buffer.from('small'),
      new Blob([new Uint8Array(200_000)]).stream(),
      Buffer.from('other'),
    ]) {
      await rm(join(rootDir, 'bodies'), { recursive: true })
      const { assetId, info } = await store.save(body, 'text/plain')
      expect((await store.get(assetId)).bytes).toHaveLength(info.size)
    }
  })

  it('reports a changed, cut or removed body as damaged, and no save repairs it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const saved = await store.save(Buffer.alloc(300_000, 'x'), 'text/plain')
    const { assetId } = saved
    const [path = ''] = await filesOf(rootDir)
    for (const damage of [
      () => writeFile(path, Buffer.alloc(300_000, 'x').fill('y', 200_000, 200_001)),
      () => writeFile(path, Buffer.alloc(100, 'x')),
      () => rm(path),
    ]) {
      await damage()
      const failed = { code: 'storage_failed', message: expect.stringContaining(assetId) }
      await expect(store.get(assetId)).rejects.toMatchObject(failed)
      const opened = await store.open(assetId)
      await expect(new Response(opened?.stream).arrayBuffer()).rejects.toMatchObject(failed)
      expect(await problems(store)).toHaveLength(1)
    }
    expect(await problems(store)).toMatchObject([{ assetId, problem: 'body_missing' }])
  })

  it('sweeps bodies that no record needs, after a day, and not while they are written', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('x'), 'text/plain')
    const left = join(rootDir, 'bodies', '_', '00000', 'left.bin')
    await mkdir(join(left, '..'))
    await writeFile(left, 'half')
    const went = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new Uint8Array(200_000))
        if (await store.sweep({ now: Date.now() + 12 * HOUR })) controller.close()
      },
    })
    const { assetId } = await store.save(went, 'video/mp4')
    expect((await store.get(assetId)).bytes).toHaveLength(200_000)
    for (const [hours, leftovers] of [
      [23, 0],
      [25, 1],
    ] as const) {
      const old = new Date(Date.now() - hours * HOUR)
      await utimes(left, old, old)
      expect((await problems(store)).map(({ problem }) => problem)).toEqual(
        leftovers ? ['body_unused'] : [],
      )
      expect(await store.sweep({ graceMs: 0 })).toMatchObject({ leftovers, bodies: leftovers })
    }
    await assertSoundFolder(rootDir, store)
  })

  it('returns no asset whose body was swept while its stream was waiting', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pulled++ === 3) await store.sweep({ now: Date.now() + 25 * HOUR })
        if (pulled > 5) return controller.close()
        controller.enqueue(new Uint8Array(100_000).fill(pulled))
      },
    })
    await expect(store.save(body, 'video/mp4')).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await store.usage()).toEqual({ assets: 0, bytes: 0 })
    expect((await store.save(new Uint8Array(9), 'image/png')).info.size).toBe(9)
    await assertSoundFolder(rootDir, store)
  })

  it('sweeps no bodies of another index, so a lost index costs no bodies', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const { assetId } = await store.save(Buffer.from('kept'), 'text/plain')
    await store.sweep()
    await store.close?.()
    await rename(join(rootDir, 'records.sqlite'), join(rootDir, 'saved.sqlite'))
    const other = createFsAssetStore({ rootDir })
    const later = { now: Date.now() + 48 * HOUR }
    await expect(other.sweep(later)).rejects.toMatchObject({ code: 'config_invalid' })
    await other.close?.()
    const again = createStore({
      records: sqliteRecords(join(rootDir, 'saved.sqlite')),
      bodies: fsBodies(join(rootDir, 'bodies')),
    })
    expect(await again.sweep(later)).toMatchObject({ bodies: 0 })
    expect(Buffer.from((await again.get(assetId)).bytes).toString()).toBe('kept')
  })

  it('reports that a folder cannot be created, and works when it can', async () => {
    const rootDir = newRoot()
    await writeFile(rootDir, 'a file')
    const store = createFsAssetStore({ rootDir })
    await expect(store.list()).rejects.toMatchObject({ code: 'storage_failed' })
    await rm(rootDir)
    expect((await store.save(new Uint8Array(1), 'image/png')).info.size).toBe(1)
  })

  it('reports a full disk, loses nothing, and can be read and emptied, even by a new store', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const rootDir = join(disk.path, 'assets')
      const before = opened({ rootDir })
      const save = (text: string) => before.save(Buffer.from(text), 'text/plain')
      const [read, removed] = await Promise.all(['read', 'removed'].map(save))
      const full = { code: 'storage_full' }
      await expect(before.save(new Uint8Array(9_000_000), 'image/png')).rejects.toMatchObject(full)
      const long = new Blob([new Uint8Array(9_000_000)]).stream()
      await expect(before.save(long, 'image/png')).rejects.toMatchObject(full)
      await before.close?.()
      disk.fill()
      const store = opened({ rootDir })
      expect((await store.list()).records).toHaveLength(2)
      expect(Buffer.from((await store.get(read?.assetId ?? '')).bytes).toString()).toBe('read')
      await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toMatchObject(full)
      for (let i = 0; i < 100; i++) await rm(join(disk.path, `big${i}`))
      for (let i = 0; i < 10; i++) await rm(join(disk.path, `empty${i}`)).catch(() => {})
      expect((await store.save(new Uint8Array(1), 'image/png')).info.size).toBe(1)
      disk.fill()
      expect((await store.list()).records).toHaveLength(3)
      expect(await store.delete(removed?.assetId ?? '')).toBe(true)
      expect(await problems(store)).toEqual([])
    } finally {
      await closeAll()
      disk.unmount()
    }
  })

  it('reads on a read-only disk, and reports why it cannot write', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const rootDir = join(disk.path, 'assets')
      const before = opened({ rootDir })
      const { assetId } = await before.save(Buffer.from('x'), 'text/plain')
      await before.save(Buffer.from('y'), 'text/plain', { namespace: 'a' })
      await before.close?.()
      disk.makeReadOnly()
      const store = opened({ rootDir })
      expect((await store.list()).records).toHaveLength(1)
      expect((await store.usage()).assets).toBe(1)
      expect(await store.namespaces()).toEqual([null, 'a'])
      expect(Buffer.from((await store.get(assetId)).bytes).toString()).toBe('x')
      expect(await new Response((await store.open(assetId))?.stream).text()).toBe('x')
      expect(await problems(store)).toEqual([])
      const refused = { code: 'storage_failed' }
      await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toMatchObject(refused)
      await expect(store.delete(assetId)).rejects.toMatchObject(refused)
    } finally {
      await closeAll()
      disk.unmount()
    }
  })

  it('reports what it cannot read', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const { assetId } = await store.save(Buffer.from('x'), 'text/plain')
    const [path = ''] = await filesOf(rootDir)
    await rm(path)
    await mkdir(path)
    const failed = { code: 'storage_failed', message: expect.not.stringMatching(/\bE[A-Z]{3,}\b/) }
    await expect(store.get(assetId)).rejects.toMatchObject(failed)
    expect(await problems(store)).toMatchObject([{ problem: 'body_missing' }])
    const broken = newRoot()
    await mkdir(broken)
    await writeFile(join(broken, 'records.sqlite'), 'this is no database'.repeat(100))
    await expect(createFsAssetStore({ rootDir: broken }).list()).rejects.toMatchObject(failed)
  })

  it('contains exactly what was returned after a process was killed', async () => {
    const report = await crash({ rounds: 3, saves: 150, folder: newRoot() })
    expect(report.givenOut).toBeGreaterThan(0)
  })

  it('contains exactly what exists after two processes worked on it', async () => {
    const report = await mixed({
      operations: 500,
      processes: 2,
      place: { folder: newRoot(), postgres: null },
    })
    expect(report.deleted).toBeGreaterThan(0)
  })
})

async function problems(store: FullAssetStore): Promise<StoreVerified[]> {
  const found: StoreVerified[] = []
  for await (const one of store.verify()) if (one.problem !== null) found.push(one)
  return found
}

async function filesOf(rootDir: string): Promise<string[]> {
  const names = await readdir(join(rootDir, 'bodies'), { recursive: true, withFileTypes: true })
  return names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}
