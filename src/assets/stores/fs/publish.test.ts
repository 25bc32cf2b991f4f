import { readlinkSync } from 'node:fs'
import { readdir, readFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { assertSoundFolder } from '../../../../scripts/torture/sound.ts'
import type { FullAssetStore } from '../../asset-store.ts'
import { sha256 } from '../../bodies/digest.ts'
import { mountSmallDisk } from '../../fixtures/small-disk.ts'
import { testFolder } from '../../fixtures/stores.ts'
import { createFsAssetStore } from './fs.ts'
import { fsLayout } from './layout.ts'

const folder = testFolder()
let count = 0
const newRoot = () => join(folder, String(count++))

/** Folders whose names the disk refuses to keep. */
let broken: RegExp | null = null
afterEach(() => {
  broken = null
})

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const fsync = (fd: number, done: (error: Error | null) => void) => {
    if (!broken?.test(readlinkSync(`/proc/self/fd/${fd}`))) return real.fsync(fd, done)
    done(Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' }))
  }
  return { ...real, fsync }
})

function saveMany(store: FullAssetStore, bodies: Uint8Array[]) {
  return Promise.allSettled(bodies.map((body) => store.save(body, 'image/png')))
}

const bodiesOf = (count: number, size: number) =>
  Array.from({ length: count }, (_, i) => new Uint8Array(size).fill(i))

/** What stands in the folders of writers, journals of what was given out aside. */
async function unfinished(rootDir: string): Promise<string[]> {
  const names = await readdir(join(rootDir, 'writers'), { recursive: true })
  return names.filter((name) => /\.\w+$/.test(name))
}

describe('a disk that is full', () => {
  it.each([
    ['small assets at once', 120, 30_000, false],
    ['large assets at once', 8, 900_000, false],
    ['streams at once', 8, 900_000, true],
    ['one asset', 1, 4_000_000, false],
  ])('is as empty as before after %s failed', async (_, number, size, streams) => {
    const disk = mountSmallDisk(newRoot())
    if (!disk) return
    try {
      const rootDir = join(disk.path, 'assets')
      const store = createFsAssetStore({ rootDir })
      const results = await Promise.allSettled(
        bodiesOf(number, size).map((body) =>
          store.save(streams ? new Blob([body]).stream() : body, 'image/png'),
        ),
      )
      const failed = results.filter((result) => result.status === 'rejected')
      expect(failed.length).toBeGreaterThan(0)
      for (const { reason } of failed) expect(reason).toMatchObject({ code: 'storage_full' })
      for (const result of results) {
        if (result.status === 'fulfilled') await store.delete(result.value.assetId)
      }
      await vi.waitFor(async () => expect(await unfinished(rootDir)).toEqual([]))
      const whole = new Uint8Array(2_000_000).fill(7)
      expect((await store.save(whole, 'image/png')).info.size).toBe(2_000_000)
    } finally {
      disk.unmount()
    }
  })
})

describe('a folder whose names the disk does not keep', () => {
  it.each([
    ['of records, with one asset', /\/records\/.$/, 1],
    ['of records, with many', /\/records\/.$/, 5],
    ['of bodies, with one asset', /\/bodies\/..$/, 1],
    ['of bodies, with many', /\/bodies\/..$/, 5],
  ])('%s: keeps nothing of them', async (_, which, number) => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await saveMany(store, bodiesOf(40, 10))
    await vi.waitFor(async () => expect(await unfinished(rootDir)).toEqual([]))
    const before = await store.usage()
    broken = which
    const results = await saveMany(store, bodiesOf(number, 300))
    broken = null
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'storage_failed' } })
    }
    expect(await store.usage()).toEqual(before)
    await vi.waitFor(async () => expect(await unfinished(rootDir)).toEqual([]))
    await assertSoundFolder(rootDir, store)
  })

  it('costs only the assets that are in it', async () => {
    const rootDir = newRoot()
    const store = createFsAssetStore({ rootDir })
    await store.save(new Uint8Array(1), 'image/png')
    broken = /\/records\/[0-7]$/
    const results = await saveMany(store, bodiesOf(60, 300))
    broken = null
    const saved = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value.assetId] : [],
    )
    expect(saved.length).toBeGreaterThan(0)
    expect(saved.length).toBeLessThan(60)
    expect((await store.usage()).assets).toBe(saved.length + 1)
    for (const id of saved) expect((await store.get(id)).bytes).toHaveLength(300)
    await vi.waitFor(async () => expect(await unfinished(rootDir)).toEqual([]))
    await assertSoundFolder(rootDir, store)
  })
})

describe('a damaged body', () => {
  it.each([
    ['small', 300, 1],
    ['many small ones', 300, 4],
    ['large', 300_000, 1],
  ])('%s: is written again by who saves it again', async (_, size, number) => {
    const rootDir = newRoot()
    const space = fsLayout(rootDir).space(null)
    const baseUrl = 'https://example.com'
    const store = createFsAssetStore({ rootDir, baseUrl })
    const bodies = bodiesOf(number, size)
    const before = await saveMany(store, bodies)
    await vi.waitFor(async () => expect(await unfinished(rootDir)).toEqual([]))
    for (const body of bodies) await truncate(space.body(sha256(body)), size / 2)
    const after = await saveMany(store, bodies)
    for (const [i, result] of [...before, ...after].entries()) {
      if (result.status === 'rejected') throw result.reason
      const { assetId } = result.value
      const body = bodies[i % number] as Uint8Array
      expect(Buffer.compare((await store.get(assetId)).bytes, body)).toBe(0)
      const url = await store.urlFor(assetId)
      const path = join(rootDir, url.slice(baseUrl.length))
      expect((await stat(path)).size).toBe(size)
      expect(Buffer.compare(await readFile(path), body)).toBe(0)
    }
  })
})
