import { execFileSync } from 'node:child_process'
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { crash } from '../../../../scripts/torture/crash.ts'
import { mixed } from '../../../../scripts/torture/mixed.ts'
import { assertSoundFolder } from '../../../../scripts/torture/sound.ts'
import { testAssetStore } from '../../../testing/asset-store/asset-store.ts'
import type { FullAssetStore, StoreVerified } from '../../asset-store.ts'
import { createAssets } from '../../assets.ts'
import { sha256 } from '../../bodies/digest.ts'
import { mountSmallDisk } from '../../fixtures/small-disk.ts'
import { createFsAssetStore } from './fs.ts'
import { encodeJournal } from './journal.ts'
import { fsLayout } from './layout.ts'
import { readRecord } from './records.ts'

let folder: string
let count = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const newRoot = () => join(folder, String(count++))

describe('createFsAssetStore', () => {
  let rootDir: string
  const create = () => {
    rootDir = newRoot()
    return createFsAssetStore({ rootDir })
  }
  const loseBodies = () => rm(fsLayout(rootDir).space(null).bodies, { recursive: true })
  testAssetStore(create, it, { loseBodies })
})

describe('createFsAssetStore with a baseUrl', () => {
  const baseUrl = 'https://cdn.example.com/assets/'
  testAssetStore(() => createFsAssetStore({ rootDir: newRoot(), baseUrl }), it)

  it('publishes bodies under their extension, as long as they live', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir, baseUrl })
    for (const [mime, extension] of [
      ['image/png', 'png'],
      ['text/csv', 'csv'],
      ['application/x-unknown', 'bin'],
    ] as const) {
      const bytes = Buffer.from(mime)
      const { assetId } = await store.save(bytes, mime, { namespace: 'Tenant/../A' })
      const url = await store.urlFor(assetId, { namespace: 'Tenant/../A' })
      expect(url).toMatch(new RegExp(`^${baseUrl}tenant-a-[0-9a-f]{24}/bodies/.*\\.${extension}$`))
      const path = join(rootDir, decodeURI(url.slice(baseUrl.length)))
      expect(await readFile(path)).toEqual(bytes)
      await rm(path)
      expect(await store.urlFor(assetId, { namespace: 'Tenant/../A' })).toBe(url)
      expect(await readFile(path)).toEqual(bytes)
      await store.delete(assetId, { namespace: 'Tenant/../A' })
      await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })
})

describe('a folder of assets', () => {
  it('is found again by another store, with everything in it', async () => {
    const rootDir = newRoot()
    const before = createAssets({ store: createFsAssetStore({ rootDir }) })
    const rows = [{ a: 1 }, { a: 2 }]
    const image = new Uint8Array([1, 2, 3])
    const content = { rows, image }
    const table = await before.saveAsset({ content_type: 'data', content })
    const big = await before.save(new Blob([new Uint8Array(300_000).fill(7)]), 'audio/wav')
    const after = createAssets({ store: createFsAssetStore({ rootDir }) })
    expect(await after.resolve(table.ref)).toEqual(content)
    expect((await after.get(big.ref)).bytes.byteLength).toBe(300_000)
    expect((await after.list()).assets).toEqual((await before.list()).assets)
  })

  it('has no name that two disks would read differently', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    for (const assetId of ['A', 'a', 'CON', 'é', '../x', 'a/b']) {
      await store.save(Buffer.from(assetId), 'text/plain', { assetId, namespace: `N ${assetId}` })
    }
    const entries = await readdir(rootDir, { recursive: true })
    for (const path of entries) {
      if (path.startsWith('writers')) continue
      expect(basename(path)).toMatch(/^[0-9a-z_][0-9a-z_.-]*$/)
    }
    expect(new Set(entries.map((path) => path.toLowerCase())).size).toBe(entries.length)
  })

  it('writes many small assets that come at once through one journal, and then does without it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.ready()
    const saved = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        store.save(Buffer.from(`body ${i % 200}`), 'text/plain'),
      ),
    )
    for (const [i, { assetId }] of saved.entries()) {
      expect(Buffer.from((await store.get(assetId)).bytes).toString()).toBe(`body ${i % 200}`)
    }
    await settled(rootDir)
    await assertSoundFolder(rootDir, store)
  })

  it('takes small bytes as they are when they are handed over', async () => {
    const store = createFsAssetStore({ rootDir: newRoot() })
    const bytes = Buffer.from('before')
    const saving = [1, 2, 3].map(() => store.save(bytes, 'text/plain'))
    await store.ready()
    await new Promise((go) => setTimeout(go, 0))
    bytes.fill('x')
    for (const { assetId, info } of await Promise.all(saving)) {
      const { bytes: got } = await store.get(assetId)
      expect(sha256(got)).toBe(info.digest)
    }
    expect(await problems(store)).toEqual([])
  })

  it('lets one of a journal fail without the others, and keeps nothing of it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('taken'), 'text/plain', { assetId: 'taken' })
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, (_, i) =>
        store.save(Buffer.from(`${i}`), 'text/plain', { assetId: i === 4 ? 'taken' : `id${i}` }),
      ),
    )
    expect(results.map((result) => result.status === 'fulfilled')).toEqual(
      Array.from({ length: 9 }, (_, i) => i !== 4),
    )
    expect(Buffer.from((await store.get('taken')).bytes).toString()).toBe('taken')
    const big = new Uint8Array(100_000)
    await expect(store.save(big, 'image/png', { assetId: 'taken' })).rejects.toThrow('taken')
    await settled(rootDir)
    await assertSoundFolder(rootDir, store)
  })

  it('believes no journal that was not written to its end', async () => {
    const rootDir = newRoot()
    const layout = fsLayout(rootDir)
    const store = createFsAssetStore({ rootDir })
    const { assetId, info } = await store.save(Buffer.from('whole'), 'text/plain')
    const record = await readRecord(layout.space(null).record(assetId))
    const bodies = new Map([[info.digest, Buffer.from('whole')]])
    const journal = encodeJournal({ records: record ? [record] : [], bodies })
    const gone = join(layout.writers, '1-0-x-otherboot-othermachine-a')
    await mkdir(gone)
    await writeFile(join(gone, '0.journal'), journal.subarray(0, -2))
    const after = createFsAssetStore({ rootDir })
    expect(Buffer.from((await after.get(assetId)).bytes).toString()).toBe('whole')
    expect(await problems(after)).toEqual([])
  })

  it('repairs from the journal what the disk lost, and brings back nothing that was removed', async () => {
    const rootDir = newRoot()
    const layout = fsLayout(rootDir)
    const space = layout.space(null)
    const store = createFsAssetStore({ rootDir })
    const saved = await Promise.all(
      ['one', 'two', 'three', 'four'].map((text) => store.save(Buffer.from(text), 'text/plain')),
    )
    await settled(rootDir)
    const records = await Promise.all(saved.map(({ assetId }) => readRecord(space.record(assetId))))
    const bodies = new Map(
      ['one', 'two', 'three', 'four'].map((text) => [sha256(text), Buffer.from(text)] as const),
    )
    // A journal of before the machine stopped; since then the second was removed, and the disk lost what it had not.
    const gone = join(layout.writers, '1-0-x-otherboot-othermachine-a')
    await mkdir(gone)
    const journal = { records: records.filter((record) => record !== null), bodies }
    await writeFile(join(gone, '0.journal'), encodeJournal(journal))
    await store.delete(saved[1]?.assetId ?? '')
    await truncate(space.record(saved[0]?.assetId ?? ''), 0)
    await truncate(space.body(sha256('three')), 2)
    await writeFile(space.body(sha256('four')), 'XXXX')
    await writeFile(join(gone, '1.journal'), encodeJournal(journal).subarray(0, 900))

    const after = createFsAssetStore({ rootDir })
    for (const [i, text] of ['one', null, 'three', 'four'].entries()) {
      const assetId = saved[i]?.assetId ?? ''
      if (text === null) expect(await after.info(assetId)).toBe(null)
      else expect(Buffer.from((await after.get(assetId)).bytes).toString()).toBe(text)
    }
    expect(await problems(after)).toEqual([])
  })

  it('sweeps what a dead process left, and leaves alone what others are at', async () => {
    const rootDir = newRoot()
    const layout = fsLayout(rootDir)
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('x'), 'text/plain')
    const [own = ''] = await readdir(layout.writers)
    const dead = own.replace(/^\d+/, '999999999')
    const rebooted = own.split('-').with(3, 'otherboot').join('-')
    const elsewhere = own.split('-').with(4, 'othermachine').join('-')
    for (const name of [dead, rebooted, elsewhere]) {
      await mkdir(join(layout.writers, name))
      await writeFile(join(layout.writers, name, '0.body'), 'half')
    }
    await createFsAssetStore({ rootDir }).ready()
    const left = await readdir(layout.writers)
    expect(left).toContain(own)
    expect(left).toContain(elsewhere)
    expect(left).not.toContain(dead)
    expect(left).not.toContain(rebooted)
    expect((await store.sweep({ graceMs: 3_600_000 })).leftovers).toBe(0)
    for (const [hours, leftovers] of [
      [23, 0],
      [25, 1],
    ] as const) {
      const old = new Date(Date.now() - hours * 3_600_000)
      await utimes(join(layout.writers, elsewhere, '0.body'), old, old)
      await utimes(join(layout.writers, elsewhere), old, old)
      expect((await store.sweep({ graceMs: 0 })).leftovers).toBe(leftovers)
    }
    expect(await readdir(layout.writers)).not.toContain(elsewhere)
  })

  it('shows that it lives', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'Date'] })
    try {
      const rootDir = newRoot()
      const { writers } = fsLayout(rootDir)
      await createFsAssetStore({ rootDir }).save(Buffer.from('x'), 'text/plain')
      const [own = ''] = await readdir(writers)
      const before = await stat(join(writers, own))
      await vi.advanceTimersByTimeAsync(3_600_000)
      await vi.waitFor(async () => {
        expect((await stat(join(writers, own))).mtimeMs).toBeGreaterThan(before.mtimeMs + 3_000_000)
      })
    } finally {
      vi.useRealTimers()
    }
  })

  it('goes on when its own folder was swept while it slept', async () => {
    const rootDir = newRoot()
    const { writers } = fsLayout(rootDir)
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('first'), 'text/plain')
    const works = [
      () => store.save(Buffer.from('small'), 'text/plain'),
      () => store.save(new Blob([new Uint8Array(200_000)]).stream(), 'video/mp4'),
      () => Promise.all([1, 2, 3].map((n) => store.save(Buffer.from(`${n}`), 'text/plain'))),
      () => store.save(Buffer.from('other'), 'text/plain', { namespace: 'other' }),
    ]
    for (const work of works) {
      await rm(join(writers, (await readdir(writers))[0] ?? ''), { recursive: true })
      await work()
    }
    const { records } = await store.list()
    for (const { assetId } of records) {
      await settled(rootDir)
      for (const name of await readdir(writers)) await rm(join(writers, name), { recursive: true })
      expect(await store.delete(assetId)).toBe(true)
    }
    expect(records).toHaveLength(6)
    expect(await store.usage()).toEqual({ assets: 0, bytes: 0 })
  })

  it('lets go of a save whose writer was taken for dead in the middle of it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.delete((await store.save(Buffer.from('x'), 'text/plain')).assetId)
    const { writers } = fsLayout(rootDir)
    const [own = ''] = await readdir(writers)
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pulled++ === 3) {
          await rename(join(writers, own), join(writers, 'gone-x'))
          await createFsAssetStore({ rootDir }).ready()
        }
        if (pulled > 5) return controller.close()
        controller.enqueue(new Uint8Array(100_000).fill(pulled))
      },
    })
    await expect(store.save(body, 'video/mp4')).rejects.toMatchObject({ code: 'storage_failed' })
    expect(await store.usage()).toEqual({ assets: 0, bytes: 0 })
    expect((await store.save(new Uint8Array(9), 'image/png')).info.size).toBe(9)
    await assertSoundFolder(rootDir, store)
  })

  it('lists in order what other processes removed and saved again', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const other = createFsAssetStore({ rootDir })
    const save = (assetId: string, day: number) =>
      other.save(Buffer.from(assetId), 'text/plain', {
        assetId,
        createdAt: `2026-01-0${day}T00:00:00.000Z`,
      })
    await save('a', 1)
    await save('b', 2)
    const order = async () => (await store.list()).records.map((record) => record.assetId)
    expect(await order()).toEqual(['b', 'a'])
    await other.delete('a')
    await save('a', 3)
    expect(await order()).toEqual(['a', 'b'])
    await other.delete('b')
    expect(await order()).toEqual(['a'])
  })

  it('opens few files at once', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const saving = Array.from({ length: 400 }, (_, i) =>
      store.save(Buffer.from(`${i}`), 'text/plain', { expiresAt: i % 2 ? expiresAt : null }),
    )
    await Promise.all(saving)
    await settled(rootDir)
    const script = `
      import { createFsAssetStore } from '${join(import.meta.dirname, 'fs.ts')}'
      const store = createFsAssetStore({ rootDir: '${rootDir}' })
      for (let i = 0; i < 2; i++) console.log((await store.list({ limit: 1000 })).records.length)
      console.log((await store.sweep({ now: Date.now() + 120_000 })).assets)`
    const node = [process.execPath, '--input-type=module', '-e', script]
    const out = execFileSync('sh', ['-c', 'ulimit -n 150; exec "$@"', 'sh', ...node])
    expect(out.toString().split('\n')).toEqual(['400', '400', '200', ''])
  })

  it("passes on what the caller's stream failed with", async () => {
    const store = createFsAssetStore({ rootDir: newRoot() })
    for (const bytes of [10, 100_000]) {
      const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new Uint8Array(bytes))
        },
        pull: (controller) => controller.error(cause),
      })
      await expect(store.save(body, 'video/mp4')).rejects.toBe(cause)
    }
  })

  it('sweeps while a long upload is under way, and does not touch it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    let go = () => {}
    const waiting = new Promise<void>((resolve) => {
      go = resolve
    })
    let chunks = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (chunks === 3) await waiting
        if (chunks++ === 6) return controller.close()
        controller.enqueue(new Uint8Array(100_000).fill(chunks))
      },
    })
    const saving = store.save(body, 'video/mp4')
    await new Promise((next) => setTimeout(next, 20))
    const other = createFsAssetStore({ rootDir })
    await other.sweep({ graceMs: 0 })
    await store.sweep({ graceMs: 0 })
    go()
    const { assetId } = await saving
    expect((await other.get(assetId)).bytes.byteLength).toBe(600_000)
  })

  it('finds damage', async () => {
    const rootDir = newRoot()
    const space = fsLayout(rootDir).space(null)
    const store = createFsAssetStore({ rootDir })
    const bodies = ['missing', 'damaged', 'fine', 'record']
    const saved: Record<string, string> = {}
    for (const body of bodies) {
      saved[body] = (await store.save(Buffer.from(body), 'text/plain')).assetId
    }
    await rm(space.body(sha256('missing')))
    await appendFile(space.body(sha256('damaged')), '!')
    await writeFile(space.record(saved.record ?? ''), '{"half":')
    const found = await problems(store)
    expect(found.map(({ problem }) => problem).sort()).toEqual([
      'body_damaged',
      'body_missing',
      'record_damaged',
    ])
    const { path } = found.find(({ problem }) => problem === 'record_damaged') ?? {}
    expect(path).toBe(space.record(saved.record ?? ''))
    await expect(store.get(saved.missing ?? '')).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.get(saved.damaged ?? '')).rejects.toThrow('byref assets verify')
    expect(await store.info(saved.record ?? '')).toBe(null)
  })

  it('finds bodies that nobody needs, and sweeps them, but none while a record is damaged', async () => {
    const rootDir = newRoot()
    const space = fsLayout(rootDir).space(null)
    const store = createFsAssetStore({ rootDir })
    const lost = await store.save(Buffer.from('lost'), 'text/plain')
    const damaged = await store.save(Buffer.from('damaged'), 'text/plain')
    await store.save(Buffer.from('kept'), 'text/plain')
    await rm(space.record(lost.assetId))
    await writeFile(space.record(damaged.assetId), '{"half":')
    const old = new Date(Date.now() - 25 * 3_600_000)
    for (const name of await readdir(space.bodies, { recursive: true })) {
      await utimes(join(space.bodies, name), old, old)
    }
    expect((await problems(store)).map((found) => found.problem)).toEqual(['record_damaged'])
    expect(await store.sweep()).toMatchObject({ bodies: 0 })
    expect(await store.delete(damaged.assetId)).toBe(true)
    const unused = await problems(store)
    expect(unused.map(({ problem, size }) => [problem, size]).sort()).toEqual([
      ['body_unused', 4],
      ['body_unused', 7],
    ])
    expect(unused.map(({ path }) => path)).toContain(space.body(lost.info.digest))
    expect(await store.sweep()).toMatchObject({ bodies: 2, bytes: 11, leftovers: 2 })
    await assertSoundFolder(rootDir, store)
    expect((await store.usage()).assets).toBe(1)
  })

  it('names namespaces that hold something', async () => {
    const store = createFsAssetStore({ rootDir: newRoot() })
    const { assetId } = await store.save(Buffer.from('x'), 'text/plain', { namespace: 'a' })
    await store.save(Buffer.from('x'), 'text/plain', { namespace: 'b' })
    await store.delete(assetId, { namespace: 'a' })
    expect(await store.namespaces()).toEqual(['b'])
  })

  it('refuses a folder of a version that it does not know', async () => {
    const rootDir = newRoot()
    await mkdir(rootDir)
    await writeFile(join(rootDir, 'byref-assets.json'), '{"format":"byref-assets","version":9}')
    await expect(createFsAssetStore({ rootDir }).ready()).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })

  it('says that a folder cannot be made, and works once it can', async () => {
    const rootDir = newRoot()
    await writeFile(rootDir, 'a file')
    const store = createFsAssetStore({ rootDir })
    await expect(store.ready()).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toThrow(rootDir)
    await rm(rootDir)
    expect((await store.save(new Uint8Array(1), 'image/png')).info.size).toBe(1)
  })

  it('says that the disk is full, and loses nothing', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const store = createFsAssetStore({ rootDir: join(disk.path, 'assets') })
      const kept = new Map<string, number>()
      const failures: unknown[] = []
      for (let i = 0; i < 40; i++) {
        const body = new Uint8Array(i % 2 ? 200_000 : 20_000).fill(i)
        const saving = store.save(i % 4 ? body : new Blob([body]).stream(), 'image/png')
        await saving.then(
          ({ assetId }) => kept.set(assetId, i),
          (error) => failures.push(error),
        )
      }
      const group = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) =>
          store.save(new Uint8Array(30_000).fill(100 + i), 'image/png'),
        ),
      )
      for (const result of group) if (result.status === 'rejected') failures.push(result.reason)
      expect(failures.length).toBeGreaterThan(5)
      for (const error of failures) expect(error).toMatchObject({ code: 'storage_full' })
      for (const [id, i] of kept) expect((await store.get(id)).bytes[0]).toBe(i)
      expect(await problems(store)).toEqual([])
      const [first = ''] = kept.keys()
      for (const id of [...kept.keys()].slice(1)) await store.delete(id)
      expect((await store.save(new Uint8Array(100_000), 'image/png')).info.size).toBe(100_000)
      expect((await store.get(first)).bytes[0]).toBe(0)
    } finally {
      disk.unmount()
    }
  })

  it('reads and removes on a full disk that it opens anew', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const rootDir = join(disk.path, 'assets')
      const before = createFsAssetStore({ rootDir })
      const [read, removed] = await Promise.all(
        ['read', 'removed'].map((text) => before.save(Buffer.from(text), 'text/plain')),
      )
      const expiresAt = new Date(Date.now() + 60_000).toISOString()
      await before.save(new Uint8Array(50_000), 'image/png', { expiresAt })
      await settled(rootDir)
      await rm(join(rootDir, 'writers'), { recursive: true })
      await mkdir(join(rootDir, 'writers', '1-0-x-otherboot-othermachine-a'), { recursive: true })
      disk.fill()
      const store = createFsAssetStore({ rootDir })
      expect((await store.list()).records).toHaveLength(3)
      expect(Buffer.from((await store.get(read?.assetId ?? '')).bytes).toString()).toBe('read')
      await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toMatchObject({
        code: 'storage_full',
      })
      expect(await store.delete(removed?.assetId ?? '')).toBe(true)
      expect(await store.sweep({ now: Date.now() + 120_000 })).toMatchObject({
        assets: 1,
        bytes: 50_000,
      })
      expect(await problems(store)).toEqual([])
      for (let i = 0; i < 10; i++) await rm(join(disk.path, `empty${i}`))
      expect((await store.save(new Uint8Array(1), 'image/png')).info.size).toBe(1)
      await assertSoundFolder(rootDir, store)
    } finally {
      disk.unmount()
    }
  })

  it('opens although it has no room to finish what a killed process began', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const rootDir = join(disk.path, 'assets')
      const layout = fsLayout(rootDir)
      const before = createFsAssetStore({ rootDir })
      const bytes = new Uint8Array(50_000).fill(1)
      const { assetId, info } = await before.save(bytes, 'image/png')
      const fine = await before.save(Buffer.from('fine'), 'text/plain')
      const record = await readRecord(layout.space(null).record(assetId))
      const gone = join(layout.writers, '1-0-x-otherboot-othermachine-a')
      await mkdir(gone)
      const bodies = new Map([[info.digest, bytes]])
      const journal = encodeJournal({ records: record ? [record] : [], bodies })
      await writeFile(join(gone, '0.journal'), journal)
      await truncate(layout.space(null).body(info.digest), 0)
      disk.fill()
      const store = createFsAssetStore({ rootDir })
      expect(Buffer.from((await store.get(fine.assetId)).bytes).toString()).toBe('fine')
      expect(await store.delete(fine.assetId)).toBe(true)
      expect((await store.sweep()).assets).toBe(0)
      for (let i = 0; i < 100; i++) await rm(join(disk.path, `big${i}`))
      await store.sweep()
      expect((await store.get(assetId)).bytes).toEqual(Buffer.from(bytes))
    } finally {
      disk.unmount()
    }
  })

  it('reads on a read-only disk, and says why it cannot write', async (test) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return test.skip('mounting a small disk needs root')
    try {
      const rootDir = join(disk.path, 'assets')
      const before = createFsAssetStore({ rootDir })
      const { assetId } = await before.save(Buffer.from('x'), 'text/plain')
      const expiresAt = new Date(Date.now() + 60_000).toISOString()
      await before.save(Buffer.from('y'), 'text/plain', { expiresAt, namespace: 'a' })
      disk.makeReadOnly()
      const baseUrl = 'https://example.com'
      for (const store of [before, createFsAssetStore({ rootDir, baseUrl })]) {
        expect((await store.list()).records).toHaveLength(1)
        expect((await store.usage()).assets).toBe(1)
        expect(await store.namespaces()).toEqual([null, 'a'])
        expect((await store.info(assetId))?.size).toBe(1)
        expect(Buffer.from((await store.get(assetId)).bytes).toString()).toBe('x')
        expect(await new Response((await store.open(assetId))?.stream).text()).toBe('x')
        expect(await problems(store)).toEqual([])
        const refused = expect.objectContaining({
          code: 'storage_failed',
          message: expect.stringContaining('read-only file system'),
        })
        await expect(store.save(new Uint8Array(1), 'image/png')).rejects.toEqual(refused)
        await expect(store.delete(assetId)).rejects.toEqual(refused)
        await expect(store.sweep({ now: Date.now() + 120_000 })).rejects.toEqual(refused)
      }
      const published = createFsAssetStore({ rootDir, baseUrl })
      await expect(published.urlFor(assetId)).rejects.toMatchObject({ code: 'storage_failed' })
    } finally {
      disk.unmount()
    }
  })

  it('makes nothing before something is saved', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    expect(await store.list()).toEqual({ records: [], next: null })
    expect(await store.namespaces()).toEqual([])
    expect(await store.delete('unknown')).toBe(false)
    expect(await store.sweep()).toEqual({ assets: 0, bodies: 0, bytes: 0, leftovers: 0 })
    await expect(stat(rootDir)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('says which of its own files is damaged', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('x'), 'text/plain')
    const { marker, space } = fsLayout(rootDir)
    for (const text of ['garbage', 'null', '[]']) {
      await writeFile(space(null).description, text)
      const damaged = { code: 'storage_failed', message: expect.stringContaining('space.json') }
      await expect(store.namespaces()).rejects.toMatchObject(damaged)
      await expect(store.sweep()).rejects.toMatchObject(damaged)
      await writeFile(marker, text)
      await expect(createFsAssetStore({ rootDir }).list()).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining(marker),
      })
    }
  })

  it('says what it cannot read, in every method that reads', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    const { assetId, info } = await store.save(Buffer.from('x'), 'text/plain')
    const { records, bodies, body } = fsLayout(rootDir).space(null)
    await rm(body(info.digest))
    await mkdir(body(info.digest))
    const failed = { code: 'storage_failed', message: expect.not.stringMatching(/\bE[A-Z]{3,}\b/) }
    await expect(store.get(assetId)).rejects.toMatchObject(failed)
    await expect(problems(store)).rejects.toMatchObject(failed)
    await rm(bodies, { recursive: true })
    await writeFile(bodies, 'a file')
    await expect(problems(store)).rejects.toMatchObject(failed)
    await expect(store.delete(assetId)).rejects.toMatchObject(failed)
    await rm(records, { recursive: true })
    await writeFile(records, 'a file')
    for (const run of [
      () => store.list(),
      () => store.usage(),
      () => store.namespaces(),
      () => store.info(assetId),
      () => store.sweep(),
      () => problems(store),
    ]) {
      await expect(run()).rejects.toMatchObject(failed)
    }
  })

  it('holds exactly what was given out after a process was killed', async () => {
    const rootDir = newRoot()
    // Whoever is killed before the first save makes none.
    await mkdir(fsLayout(rootDir).writers, { recursive: true })
    const report = await crash({ rounds: 3, saves: 150, folder: rootDir })
    expect(report.givenOut).toBeGreaterThan(0)
  }, 60_000)

  it('holds exactly what lives after two processes worked on it', async () => {
    const report = await mixed({ operations: 500, processes: 2, folder: newRoot() })
    expect(report.deleted).toBeGreaterThan(0)
  }, 60_000)
})

async function problems(store: FullAssetStore): Promise<StoreVerified[]> {
  const found: StoreVerified[] = []
  for await (const one of store.verify()) if (one.problem !== null) found.push(one)
  return found
}

/** Waits until no writer has a journal any more. */
async function settled(rootDir: string): Promise<void> {
  for (;;) {
    const names = await readdir(join(rootDir, 'writers'), { recursive: true })
    if (!names.some((name) => name.endsWith('.journal'))) return
    await new Promise((go) => setTimeout(go, 5))
  }
}
