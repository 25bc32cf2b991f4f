import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../content/events.ts'
import { testConversationLog } from '../testing/conversation-log.ts'
import { createSqliteLog } from './sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const file = (): string => join(folder, `${++files}.sqlite`)

const started: ConversationEvent = { type: 'RUN_STARTED', threadId: 'c', runId: 'r' }

describe('createSqliteLog', () => {
  testConversationLog(() => createSqliteLog(file()), it)

  it('finds everything again in the same file', async () => {
    const path = file()
    const first = createSqliteLog(path)
    const written = await first.append('c', [started], { debug: { m: 1 } })
    await first.close()
    const second = createSqliteLog(path)
    expect(await second.read('c')).toEqual(written)
    expect(await second.debug('c', 'm')).toBe(1)
    const [later] = await second.append('c', [started])
    expect(later?.position).toBeGreaterThan(written[0]?.position ?? 0)
    await second.close()
  })

  it('is written by two at once without loss', async () => {
    const path = file()
    const one = createSqliteLog(path)
    const two = createSqliteLog(path)
    for (let i = 0; i < 20; i++) {
      await Promise.all([one.append('c', [started, started]), two.append('c', [started])])
    }
    expect(await one.read('c')).toHaveLength(60)
    expect(await two.read('c')).toEqual(await one.read('c'))
    await one.close()
    await two.close()
  })

  it('refuses a file that a newer version wrote, and one that is no database', () => {
    const newer = file()
    const db = new DatabaseSync(newer)
    db.exec('PRAGMA user_version = 999')
    db.close()
    expect(() => createSqliteLog(newer)).toThrow(/version 999.*Update byref/)
    const text = file()
    writeFileSync(text, 'this is no database, and long enough to have been one'.repeat(100))
    expect(() => createSqliteLog(text)).toThrow(/not a database/)
  })
})
