import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { assertSoundFolder } from '../../../../scripts/torture/sound.ts'
import { testAssetStore } from '../../../testing/asset-store/asset-store.ts'
import { testFolder } from '../../fixtures/stores.ts'
import { createFsAssetStore } from './fs.ts'

const folder = testFolder()
let count = 0
const newRoot = () => join(folder, String(count++))

// As on FAT, and on some network disks.
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const link = (_from: string, _to: string, done: (error: Error) => void) =>
    done(Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' }))
  return { ...real, link }
})

describe('createFsAssetStore on a disk without hard links', () => {
  testAssetStore(() => createFsAssetStore({ rootDir: newRoot() }), it)

  it('lets one of several stores have an id', async () => {
    for (let round = 0; round < 30; round++) {
      const rootDir = newRoot()
      const stores = Array.from({ length: 4 }, () => createFsAssetStore({ rootDir }))
      await Promise.all(stores.map((store) => store.ready()))
      const results = await Promise.allSettled(
        stores.map((store, i) => store.save(Buffer.from(`${i}`), 'text/plain', { assetId: 'x' })),
      )
      const won = results.flatMap((result, i) => (result.status === 'fulfilled' ? [i] : []))
      expect(won).toHaveLength(1)
      const store = createFsAssetStore({ rootDir })
      expect(Buffer.from((await store.get('x')).bytes).toString()).toBe(`${won[0]}`)
      await assertSoundFolder(rootDir, store)
    }
  }, 30_000)
})
