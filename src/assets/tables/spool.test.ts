import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { streamOf } from '../bodies/body.ts'
import { mountSmallDisk, type SmallDisk } from '../fixtures/small-disk.ts'
import { writeBody } from './spool.ts'

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
