import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { sqliteRecords } from '../assets/records/sqlite-records.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { chat } from '../testing/conversation-log/events.ts'
import { testConversationLog } from '../testing/conversation-log.ts'
import type { ConversationLog } from './conversation-log.ts'
import { createSqliteLog } from './sqlite-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const file = (): string => join(folder, `${++files}.sqlite`)

const started: ConversationEvent = {
  type: 'RUN_STARTED',
  threadId: 'c',
  runId: 'r',
  messageIds: [],
  owner: 'o',
}

describe('createSqliteLog', () => {
  const paths = new WeakMap<ConversationLog, string>()
  testConversationLog(
    () => {
      const path = file()
      const log = createSqliteLog(path)
      paths.set(log, path)
      return log
    },
    it,
    { again: (log) => createSqliteLog(paths.get(log) ?? '') },
  )

  it('reads everything again from the same file', async () => {
    const path = file()
    const first = createSqliteLog(path)
    const written = await first.append('c', [started], { debug: { m: 1 } })
    await first.close()
    const second = createSqliteLog(path)
    expect(await second.read('c')).toEqual(written)
    expect(await second.debug('c', 'm')).toBe(1)
    const [later] = await second.append('c', [started])
    expect(later?.position).toBe(2)
    await second.close()
  })

  it('creates the folder of its file', async () => {
    const path = join(folder, 'a/b/log.sqlite')
    await createSqliteLog(path).close()
    expect(existsSync(path)).toBe(true)
    const below = join(path, 'c/log.sqlite')
    expect(() => createSqliteLog(below)).toThrow(/^The folder ".*" of the conversation log cannot/)
  })

  it('accepts two writers at once without loss', async () => {
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

  it('rejects a folder', () => {
    expect(() => createSqliteLog(folder)).toThrow(/is a folder: give the path of the file/)
  })

  it('rejects a path that is not text', () => {
    const error = expect.objectContaining({ code: 'config_invalid' })
    expect(() => createSqliteLog(undefined as never)).toThrow(error)
    expect(() => createSqliteLog({ path: 'log.sqlite' } as never)).toThrow(
      'The path of createSqliteLog must be a string, not an object',
    )
    expect(() => sqliteRecords(undefined as never)).toThrow(error)
  })

  it('rejects a file of a newer version, and one that is not a database', () => {
    const newer = file()
    const db = new DatabaseSync(newer)
    db.exec('PRAGMA user_version = 999')
    db.close()
    expect(() => createSqliteLog(newer)).toThrow(/version 999.*Update byref/)
    const text = file()
    writeFileSync(text, 'this is no database, and long enough to have been one'.repeat(100))
    expect(() => createSqliteLog(text)).toThrow(/not a database/)
  })

  it('works again after a commit that failed', async () => {
    const path = file()
    const log = createSqliteLog(path)
    await log.append('c', [started])
    const db = new DatabaseSync(path)
    db.exec(`CREATE TRIGGER fail BEFORE INSERT ON records WHEN new.event LIKE '%poison%'
      BEGIN SELECT raise(ABORT, 'SECRET SQL'); END`)
    const poison: ConversationEvent = { ...started, runId: 'poison' }
    const told: unknown[] = []
    log.subscribe((change) => told.push(change))
    const results = await Promise.allSettled([
      log.append('c', [started], { after: 1 }),
      log.append('c', [started, poison]),
      log.append('c', [started], { after: 2 }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const { reason } = results[1] as PromiseRejectedResult
    expect(reason).toMatchObject({ code: 'log_failed', cause: { message: 'SECRET SQL' } })
    expect(reason.message).not.toContain('SQL ')
    expect(told).toHaveLength(2)
    expect(await log.read('c')).toHaveLength(3)
    db.close()
    await log.close()
  })

  it('puts concurrent appends into one transaction', async () => {
    const path = file()
    const log = createSqliteLog(path)
    await log.create('0')
    const before = commitsIn(`${path}-wal`)
    await Promise.all(Array.from({ length: 200 }, (_, i) => log.append(`${i}`, [started])))
    expect(commitsIn(`${path}-wal`) - before).toBe(1)
    for (let i = 0; i < 3; i++) await log.append('0', [started], { after: i + 1 })
    expect(commitsIn(`${path}-wal`) - before).toBe(4)
    await log.close()
  })

  it('leaves a single small file', async () => {
    const path = file()
    const log = createSqliteLog(path)
    for (let i = 0; i < 50; i++) {
      await Promise.all(Array.from({ length: 40 }, () => log.append('c', [started, started])))
    }
    await log.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    const json = JSON.stringify(started).length * 4_000
    expect(statSync(path).size - json).toBeLessThan(4_000 * 40 + 120_000)
  })

  it('writes and reads a long conversation without blocking', async () => {
    const path = file()
    const log = createSqliteLog(path)
    // CPU time of this thread; of all in Node 22. Delays on a busy machine do not count.
    const usage = process.threadCpuUsage ?? process.cpuUsage
    const worked = () => usage().user / 1000
    let last = worked()
    let longest = 0
    const timer = setInterval(() => {
      longest = Math.max(longest, worked() - last)
      last = worked()
    }, 10)
    await log.import(manyLines(30_000), { id: 'c' })
    expect((await log.find('c'))?.position).toBe(30_000)
    let lines = 0
    for await (const _ of log.export('c')) lines++
    expect(lines).toBe(30_002)
    await log.list({ search: 'nothing' })
    await log.delete('c')
    clearInterval(timer)
    expect(longest).toBeLessThan(500)
    await log.close()
  })

  it('removes what an aborted import left behind', async () => {
    const path = file()
    const log = createSqliteLog(path)
    const db = new DatabaseSync(path)
    db.exec(`INSERT INTO leftovers VALUES (77, 0);
      INSERT INTO records (conversation, position, at, event, sum) VALUES (77, 1, 0, '{"type":"X"}', 0);
      INSERT INTO debug (conversation, message, value) VALUES (77, 'm', '1')`)
    await log.import(manyLines(1), { id: 'c' })
    const count = (table: string): unknown =>
      db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n
    expect([count('leftovers'), count('records'), count('debug')]).toEqual([0, 1, 0])
    db.close()
    await log.close()
  })
})

/** The lines of a conversation with this many records. */
function* manyLines(count: number): Generator<string> {
  const at = '2026-01-01T00:00:00.000Z'
  const header = { byref: 'conversation', version: 1, id: 'x', createdAt: at, updatedAt: at }
  yield `${JSON.stringify(header)}\n`
  for (let position = 1; position <= count; position++) {
    yield `${JSON.stringify({ v: 1, position, timestamp: at, event: started })}\n`
  }
  yield '{"byref":"end"}\n'
}

/** Transactions in a write-ahead log that was not restarted (sqlite.org/fileformat2.html#walformat). */
function commitsIn(path: string): number {
  const wal = readFileSync(path)
  const frame = 24 + wal.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at < wal.length; at += frame) if (wal.readUInt32BE(at + 4) > 0) commits++
  return commits
}

it('keeps nothing of a deleted conversation in its files', async () => {
  const path = file()
  const log = createSqliteLog(path)
  const secret = 'the text that was deleted'
  await log.append('c', [chat(secret)])
  await log.append('other', [chat('the text that stays')])
  await log.delete('c')
  await log.close()
  const texts = readFileSync(path, 'latin1')
  expect(texts).toContain('the text that stays')
  expect(texts).not.toContain(secret)
})
