import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { ByrefError } from '../core/errors.ts'
import { chat } from '../testing/conversation-log/events.ts'
import { testDamage } from './fixtures/test-damage.ts'
import { createSqliteLog } from './sqlite-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-damage-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

testDamage(async () => {
  const path = join(folder, `${++files}.sqlite`)
  const log = createSqliteLog(path)
  const { upkeep } = log
  if (!upkeep) throw new Error('There is no upkeep')
  const database = new DatabaseSync(path)
  return {
    log: { ...log, upkeep },
    again: () => createSqliteLog(path),
    sql: async (text) => database.exec(text),
    async close() {
      database.close()
      await log.close()
    },
  }
})

it('does not return a record that a flipped bit has changed', async () => {
  const whole = join(folder, 'whole.sqlite')
  const log = createSqliteLog(whole)
  for (const id of ['a', 'b', 'c']) {
    for (let n = 0; n < 40; n++) await log.append(id, [chat(`${id}${n} ${'said '.repeat(n)}`)])
  }
  const expected = JSON.stringify(await log.read('b'))
  await log.close()
  const bytes = readFileSync(whole)
  let refused = 0
  // A stride that does not divide the page size visits every part of a page.
  for (let bit = 8 * 200; bit < bytes.length * 8; bit += 1237) {
    const path = join(folder, 'flipped.sqlite')
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(path, flipped)
    try {
      const damaged = createSqliteLog(path)
      try {
        const found = await damaged.find('b')
        const read = await damaged.read('b')
        // A damaged row may look as if the conversation did not exist.
        if (found) expect(JSON.stringify(read), `bit ${bit}`).toBe(expected)
      } finally {
        await damaged.close()
      }
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      expect(['conversation_damaged', 'log_failed']).toContain(error.code)
      refused++
    }
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  }
  expect(refused).toBeGreaterThan(50)
})

it('reports a record whose event is no longer text', async () => {
  const path = join(folder, 'typed.sqlite')
  const log = createSqliteLog(path)
  await log.append('a', [chat('a0')])
  const database = new DatabaseSync(path)
  // The table accepts only text, but damage can produce anything.
  database.exec(`ALTER TABLE records RENAME TO strict;
    CREATE TABLE records AS
      SELECT id, conversation, position, at, CAST(5 AS INTEGER) AS event, sum, message, deleted FROM strict`)
  database.close()
  const error = { code: 'conversation_damaged', damage: { position: 1 } }
  await expect(log.read('a')).rejects.toMatchObject(error)
  await log.close()
})
