import assert from 'node:assert/strict'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { later, rejects, summary } from './check.ts'
import { asked, batch, chat, queued, runStarted } from './events.ts'

/** Exports, and imports of exports. */
export function testExports(check: Check): void {
  check('exports a header, records, debug data and an end as lines of JSON', async (log) => {
    const records = await log.append('c', [chat('x'), runStarted()], { debug: { m: { a: 1 } } })
    const { createdAt, updatedAt } = await summary(log, 'c')
    const header = { byref: 'conversation', version: 1, id: 'c', title: null, createdAt, updatedAt }
    assert.deepEqual(await exported(log, 'c'), [
      `${JSON.stringify(header)}\n`,
      ...records.map((record) => `${JSON.stringify(record)}\n`),
      '{"debug":"m","value":{"a":1}}\n',
      '{"byref":"end"}\n',
    ])
    await rejects(exported(log, 'unknown'), 'conversation_not_found')
  })

  check('imports what was exported, the same byte for byte', async (log) => {
    const metadata = { b: 1, '2': 2, __proto: '\ud800†\u0000\u2028', 中: [null, 1e21] }
    await log.append('c', [...batch('m', 1_100), chat('odd', { metadata })], {
      debug: { z: 1, a: [2], 'm"\n': null },
    })
    await log.rename('c', 'Given')
    const lines = await exported(log, 'c')
    const other = log.scoped('other')
    await later()
    assert.equal(await other.import(lines), 'c')
    assert.deepEqual(await exported(other, 'c'), lines)
    const from = await log.find('c')
    assert.deepEqual(await other.find('c'), { ...from, namespace: 'other' })
    assert.deepEqual(await other.read('c', { after: 1_090 }), await log.read('c', { after: 1_090 }))
    assert.deepEqual(await other.debug('c', 'a'), [2])
    assert.equal(await log.import(lines, { id: 'copy' }), 'copy')
    const [header, ...rest] = await exported(log, 'copy')
    assert.deepEqual(JSON.parse(header ?? ''), { ...JSON.parse(lines[0] ?? ''), id: 'copy' })
    assert.deepEqual(rest, lines.slice(1))
  })

  check('exports what is there when it begins', async (log) => {
    await log.append('c', batch('m', 1_100))
    const lines = await exported(log, 'c')
    const now: string[] = []
    for await (const line of log.export('c')) {
      if (now.push(line) === 1) await log.append('c', [chat('later')])
    }
    assert.deepEqual(now, lines)
    await log.import(now, { id: 'copy' })
    assert.equal((await summary(log, 'copy')).position, 1_100)
  })

  check('exports and imports a conversation without events', async (log) => {
    await log.create('c')
    const lines = await exported(log, 'c')
    assert.equal(lines.length, 2)
    await log.delete('c')
    assert.equal(await log.import(lines), 'c')
    assert.deepEqual(await exported(log, 'c'), lines)
  })

  check('leaves an open run open, without a lease', async (log) => {
    const lease = { owner: 'a', ms: 60_000 }
    await log.append('c', [runStarted(), asked('k'), queued('m')], { lease })
    await log.import(await exported(log, 'c'), { id: 'd' })
    const found = await summary(log, 'd')
    assert.equal(found.openRun, 'r')
    assert.equal(found.status, 'waiting')
    assert.equal(found.queued, 1)
    assert.equal(found.lease, null)
    await log.append('d', [chat('on')], { after: 3, lease: { owner: 'b', ms: 60_000 } })
    const due = (await log.list({ due: true })).conversations.map(({ id }) => id)
    assert.deepEqual(due.sort(), ['c', 'd'])
  })

  check('appends to what was imported, finds it, removes it', async (log) => {
    await log.append('c', [chat('a needle')])
    await log.import(await exported(log, 'c'), { id: 'd' })
    const [record] = await log.append('d', [chat('more')], { after: 1 })
    assert.equal(record?.position, 2)
    assert.equal((await log.list({ search: 'needle' })).conversations.length, 2)
    assert.equal(await log.delete('d'), true)
    assert.equal((await log.list({ search: 'needle' })).conversations.length, 1)
  })

  check('tells subscribers of an import, that there is news', async (log) => {
    await log.append('c', [chat('x')])
    const lines = await exported(log, 'c')
    const changes: unknown[] = []
    log.subscribe((change) => changes.push(change))
    await log.import(lines, { id: 'd' })
    assert.deepEqual(changes, [{ conversation: 'd', namespace: null, records: [] }])
  })
}

/** The last line of an export. */
export const END = { byref: 'end' }

/** Returns all lines of an export. */
export async function exported(log: ConversationLog, id: string): Promise<string[]> {
  const lines: string[] = []
  for await (const line of log.export(id)) lines.push(line)
  return lines
}
