import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { assertSoundFolder } from '../../../scripts/torture/sound.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { testFolder } from '../fixtures/stores.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
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
    'body 1',
    'body 4',
    'add 1',
    'add 5',
    'record 1',
    'record 5',
    'removed 1',
    'removed 5',
    'deleted 1',
    'deleted 10',
  ])(
    'holds assets whole or not at all when a group of saves or removals is killed at "%s"',
    async (step) => {
      const rootDir = join(folder, step)
      const killed = spawnSync(process.execPath, [fixture('killed-save.ts'), rootDir, step])
      expect(killed.signal).toBe('SIGKILL')
      const said = killed.stdout.toString()
      const store = createFsAssetStore({ rootDir })
      let whole = 0
      for (const number of [0, 1, 2, 3, 4]) {
        const info = await store.info(`id${number}`)
        const mayBeGone = !said.includes(`saved ${number}`) || said.includes(`removing ${number}`)
        expect(info !== null || mayBeGone).toBe(true)
        if (!info) continue
        whole++
        const bytes = await Promise.all(
          [info.digest, ...info.parts.map(({ digest }) => digest)].map(async (part) =>
            new Response((await store.open(info.assetId, { part }))?.stream).text(),
          ),
        )
        expect(bytes.sort()).toEqual([`body ${number}`, `part ${number}`, 'shared'])
      }
      expect((await store.usage()).assets).toBe(whole)
      await assertSoundFolder(rootDir, store)
      await store.save(Buffer.from('shared'), 'text/plain', { assetId: 'other' })
      expect(Buffer.from((await store.get('other')).bytes).toString()).toBe('shared')
      await store.close?.()
    },
  )

  it('waits for a process that holds the index, without blocking its own event loop', async () => {
    const rootDir = join(folder, 'held')
    const store = createFsAssetStore({ rootDir })
    await store.save(Buffer.from('before'), 'text/plain', { assetId: 'before' })
    const holder = await holdIndex(rootDir)
    let isOver = false
    const saving = store.save(Buffer.from('x'), 'text/plain').then(() => {
      isOver = true
    })
    expect(Buffer.from((await store.get('before')).bytes).toString()).toBe('before')
    expect(isOver).toBe(false)
    holder.kill()
    await saving
    expect((await store.usage()).assets).toBe(2)
  })

  it('reports that the index was held for too long, while its own work continues', async () => {
    const rootDir = join(folder, 'stuck')
    const create = () =>
      createStore({
        records: sqliteRecords(join(rootDir, 'records.sqlite'), { busyTimeoutMs: 300 }),
        bodies: fsBodies(join(rootDir, 'bodies')),
      })
    const store = create()
    const { assetId } = await store.save(Buffer.from('before'), 'text/plain')
    const holder = await holdIndex(rootDir)
    let turns = 0
    const turning = setInterval(() => turns++, 10)
    const other = create()
    const results = await Promise.allSettled([
      store.save(Buffer.from('x'), 'text/plain'),
      store.delete(assetId),
      other.save(Buffer.from('y'), 'text/plain'),
    ])
    clearInterval(turning)
    const message = expect.stringContaining('Another process locked')
    const reason = expect.objectContaining({ code: 'storage_failed', message })
    expect(results).toEqual(results.map(() => ({ status: 'rejected', reason })))
    expect(turns).toBeGreaterThan(5)
    expect((await other.usage()).assets).toBe(1)
    holder.kill()
    await once(holder, 'exit')
    await store.save(Buffer.from('x'), 'text/plain')
    await assertSoundFolder(rootDir, store)
  })
})

/** Another process that holds the write lock of the index until it ends. */
async function holdIndex(rootDir: string): Promise<ChildProcess> {
  const script = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(process.argv[1])
    db.exec('BEGIN IMMEDIATE')
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', script, join(rootDir, 'records.sqlite')])
  await once(child.stdout, 'data')
  return child
}
