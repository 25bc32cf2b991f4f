import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { problemsOf, writeOn } from './fixtures/write-on.ts'
import { createSqliteLog } from './sqlite-log.ts'

it('a SQLite log that is backed up during writes is complete when it is restored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'byref-backup-'))
  const log = createSqliteLog(join(folder, 'log.sqlite'))
  const writing = writeOn(log)
  await expect.poll(writing.most).toBeGreaterThan(50)
  const source = new DatabaseSync(join(folder, 'log.sqlite'))
  await backup(source, join(folder, 'online.sqlite'), { rate: 1_000_000 })
  source.exec(`VACUUM INTO '${join(folder, 'vacuum.sqlite')}'`)
  source.close()
  const written = await writing.stop()
  await log.close()
  for (const name of ['online', 'vacuum']) {
    const restored = createSqliteLog(join(folder, `${name}.sqlite`))
    expect(await problemsOf(restored, written)).toEqual([])
    await restored.close()
  }
  rmSync(folder, { recursive: true })
})
