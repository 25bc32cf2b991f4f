import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamOf } from '../bodies/body.ts'
import { createAssets } from '../create-assets.ts'
import { mountSmallDisk, type SmallDisk } from '../fixtures/small-disk.ts'
import { createSpool, writeBody } from './spool.ts'

let folder = ''
let disk: SmallDisk | null = null
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
  disk = mountSmallDisk(join(folder, 'disk'))
})
afterAll(async () => {
  disk?.unmount()
  await rm(folder, { recursive: true })
})

describe('writeBody', () => {
  it('rejects a body whose last bytes do not fit on the disk', async ({ skip }) => {
    if (!disk) return skip()
    await writeBody(streamOf(new Uint8Array(100_000)), join(disk.path, 'other'))
    const write = writeBody(streamOf(new Uint8Array(3 * 1024 * 1024)), join(disk.path, 'body'))
    await expect(write).rejects.toThrow('ENOSPC')
  })
})

describe('temporary files on a full disk', () => {
  it('are rejected with a code', async ({ skip }) => {
    if (!disk) return skip()
    const assets = createAssets()
    const file = Buffer.from('a,b\n1,x\n')
    const { table } = await assets.importFile(file, { name: 'x.csv' })
    const query = () => assets.query({ sql: 'select * from t', tables: { t: table?.ref ?? '' } })
    // The table process stays in the folder in which it started.
    await query()
    const spool = createSpool()
    const before = process.env.TMPDIR
    disk.fill()
    process.env.TMPDIR = disk.path
    try {
      await expect(query()).rejects.toMatchObject({ code: 'storage_full' })
      await expect(spool.append(new Uint8Array(17 * 1024 * 1024))).rejects.toMatchObject({
        code: 'storage_full',
        message: 'Writing a temporary file failed: the disk is full. Free some space.',
      })
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    await spool.dispose()
    expect((await query()).ref).toMatch(/^asset:/)
  })
})
