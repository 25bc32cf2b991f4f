import { copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mountSmallDisk } from '../assets/fixtures/small-disk.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { createSqliteLog } from './sqlite-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-log-'))
const disk = mountSmallDisk(join(folder, 'disk'))
afterAll(() => {
  disk?.unmount()
  rmSync(folder, { recursive: true, force: true })
})

const started: ConversationEvent = {
  type: 'RUN_STARTED',
  threadId: 'c',
  runId: 'r',
  messageIds: [],
  owner: 'o',
}

describe.skipIf(!disk)('createSqliteLog on a full disk', () => {
  it('reports the error, and works again when there is room', async () => {
    const path = join(disk?.path ?? '', 'log.sqlite')
    const log = createSqliteLog(path)
    await log.append('c', [started], { after: 0 })
    disk?.fill()
    const big: ConversationEvent = { ...started, context: 'x'.repeat(100_000) }
    const full = { code: 'storage_full', message: expect.stringContaining('make room') }
    await expect(log.append('c', [big])).rejects.toMatchObject(full)
    const both = [log.append('c', [big]), log.append('c', [big])]
    for (const result of await Promise.allSettled(both)) {
      expect(result).toMatchObject({ status: 'rejected', reason: full })
    }
    expect(await log.read('c')).toHaveLength(1)
    for (const name of readdirSync(disk?.path ?? '')) {
      if (/^(big|empty)/.test(name)) rmSync(join(disk?.path ?? '', name))
    }
    expect(await log.append('c', [big], { after: 1 })).toHaveLength(1)
    await log.close()
    const again = createSqliteLog(path)
    expect(await again.read('c')).toHaveLength(2)
    await again.close()
  })
})

// Windows does not remove open files.
describe.skipIf(process.platform === 'win32')('createSqliteLog on a file that is gone', () => {
  const path = join(folder, 'gone.sqlite')
  const aside = join(folder, 'aside.sqlite')
  const lost = { code: 'log_failed', message: expect.stringMatching(/removed, moved or replaced/) }

  it('stores nothing until the file is back', async () => {
    const log = createSqliteLog(path)
    await log.append('c', [started], { after: 0 })
    renameSync(path, aside)
    await expect(log.append('c', [started])).rejects.toMatchObject(lost)
    copyFileSync(aside, path)
    await expect(log.append('c', [started])).rejects.toMatchObject(lost)
    renameSync(aside, path)
    await log.append('c', [started], { after: 1 })
    await log.close()
    const again = createSqliteLog(path)
    expect(await again.read('c')).toHaveLength(2)
    await again.close()
  })
})
