import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createMemoryLog } from '../log/memory-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { play, playMany } from './fixtures/on-every-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-agent-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('a scripted conversation', () => {
  it('has the same events on every log', async () => {
    const sqlite = createSqliteLog(join(folder, 'one.sqlite'))
    const logs = [createMemoryLog(), createMemoryLog(), sqlite]
    const played = []
    for (const log of logs) played.push(await play(log))
    const [first, second, third] = played
    expect(first?.events.join()).toContain('TOOL_FINISHED')
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    await sqlite.close()
  })
})

describe('200 agents at once', () => {
  it('all finish, on one SQLite log', async () => {
    const log = createSqliteLog(join(folder, 'many.sqlite'))
    const { texts, standing } = await playMany(log, 200)
    expect(texts).toEqual(texts.map((_, i) => `${i}`))
    expect(standing).toEqual(['idle null'])
    await log.close()
  })
})
