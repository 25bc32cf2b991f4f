import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { assertSoundFolder } from '../../../scripts/torture/sound.ts'
import { testFolder } from '../fixtures/stores.ts'
import { createFsAssetStore } from './fs.ts'

const folder = testFolder()
const fixture = (name: string) => join(import.meta.dirname, '../fixtures', name)
const run = promisify(execFile)

describe('createFsAssetStore, with other processes', () => {
  it.each([
    ['assets', 61, 1_000_000],
    ['bytes', 1_000, 6_100],
  ])(
    'fills a namespace to its quota of %s exactly',
    async (what, assets, bytes) => {
      const rootDir = join(folder, what)
      const quota = [String(assets), String(bytes)]
      const saved = await Promise.all(
        Array.from({ length: 8 }, async (_, i) => {
          const args = [fixture('save-until-full.ts'), rootDir, String(i), ...quota]
          return Number((await run(process.execPath, args)).stdout)
        }),
      )
      const store = createFsAssetStore({ rootDir })
      expect(saved.reduce((sum, one) => sum + one, 0)).toBe(61)
      expect(await store.usage()).toEqual({ assets: 61, bytes: 6_100 })
      await assertSoundFolder(rootDir, store)
    },
    60_000,
  )

  it.each([
    ['body 1', 0],
    ['body 2', 0],
    ['record', 1],
    ['removed', 0],
  ])('holds the asset or nothing when it is killed after "%s"', async (step, assets) => {
    const rootDir = join(folder, step)
    const { signal } = spawnSync(process.execPath, [fixture('killed-save.ts'), rootDir, step])
    expect(signal).toBe('SIGKILL')
    const store = createFsAssetStore({ rootDir })
    expect((await store.usage()).assets).toBe(assets)
    if (assets) expect(Buffer.from((await store.get('mine')).bytes).toString()).toBe('body')
    await assertSoundFolder(rootDir, store)
    await store.save(Buffer.from('again'), 'text/plain', { assetId: assets ? 'other' : 'mine' })
  })

  it('waits for one that holds the index, without blocking its own', async () => {
    const rootDir = join(folder, 'held')
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('before'), 'text/plain', { assetId: 'before' })
    const script = `
      const { DatabaseSync } = require('node:sqlite')
      const db = new DatabaseSync(process.argv[1])
      db.exec('BEGIN IMMEDIATE')
      console.log('held')
      setTimeout(() => db.exec('COMMIT'), 400)`
    const child = spawn(process.execPath, ['-e', script, join(rootDir, 'records.sqlite')])
    await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    let isOver = false
    const saving = store.save(Buffer.from('x'), 'text/plain').then(() => {
      isOver = true
    })
    expect(Buffer.from((await store.get('before')).bytes).toString()).toBe('before')
    expect(isOver).toBe(false)
    await Promise.all([ended, saving])
    expect((await store.usage()).assets).toBe(2)
  })
})
