import assert from 'node:assert/strict'
import { readAll } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { later, rejects, summary } from './check.ts'
import { batch, chat, contentOf, runStarted } from './events.ts'

/** Appending, reading, closing. */
export function testAppends(check: Check): void {
  check('gives back what was appended, in order', async (log) => {
    const events = [chat('one'), chat('two'), runStarted()]
    const written = await log.append('c', events)
    assert.deepEqual(
      written.map((record) => record.event),
      events,
    )
    assert.deepEqual(await log.read('c'), written)
  })

  check('refuses an event that lacks a field or has one of a wrong type', async (log) => {
    await log.append('c', [chat('one')])
    for (const event of [
      { type: 'NEW_MESSAGE' },
      { ...runStarted(), runId: 5 },
      { ...runStarted(), messageIds: [null] },
      { type: 'TOOL_CALL_END', toolCallId: 'k', runId: 'r', parentMessageId: 'm' },
    ]) {
      await rejects(log.append('c', [chat('two'), event as never]), 'bad_request')
    }
    assert.deepEqual((await log.read('c')).map(contentOf), ['one'])
  })

  check('gives each conversation the positions 1, 2, 3 …', async (log) => {
    const records = [
      ...(await log.append('c', [chat('a'), chat('b')])),
      ...(await log.append('d', [chat('c')])),
      ...(await log.append('c', [chat('d')])),
    ]
    assert.deepEqual(
      records.map(({ v, position }) => [v, position]),
      [
        [1, 1],
        [1, 2],
        [1, 1],
        [1, 3],
      ],
    )
  })

  check('says when an event was appended, in ISO 8601 and UTC', async (log) => {
    const [record] = await log.append('c', [chat('x')])
    const { timestamp = '' } = record ?? {}
    assert.equal(new Date(timestamp).toISOString(), timestamp)
    assert.ok(Math.abs(Date.now() - Date.parse(timestamp)) < 3_600_000)
  })

  check('keeps conversations apart', async (log) => {
    await log.append('c', [chat('here')])
    await log.append('d', [chat('there')])
    assert.deepEqual((await log.read('c')).map(contentOf), ['here'])
    assert.deepEqual(await log.read('unknown'), [])
  })

  check('reads on behind a position, page by page', async (log) => {
    const written = await log.append('c', batch('m', 7))
    assert.deepEqual(await log.read('c', { after: 2, limit: 3 }), written.slice(2, 5))
    assert.deepEqual(await log.read('c', { after: 7 }), [])
    const all = []
    for await (const record of readAll(log, 'c')) all.push(record)
    assert.deepEqual(all, written)
    await rejects(log.read('c', { after: -1 }), 'bad_request')
    await rejects(log.read('c', { limit: 0 }), 'bad_request')
    await rejects(log.read('c', { limit: 1.5 }), 'bad_request')
  })

  check('reads 500 records unless it is told how many', async (log) => {
    await log.append('c', batch('m', 501))
    assert.equal((await log.read('c')).length, 500)
    assert.equal((await log.read('c', { limit: 501 })).length, 501)
  })

  check('appends no events, and makes the conversation', async (log) => {
    assert.deepEqual(await log.append('c', []), [])
    const made = await summary(log, 'c')
    assert.equal(made.position, 0)
    await later()
    await log.append('c', [])
    assert.deepEqual(await log.find('c'), made)
  })

  check('never interleaves two appends', async (log) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map((name) => log.append('c', batch(name, 5))))
    const found = (await log.read('c')).map((record) => String(contentOf(record)))
    const groups = names.map((_, i) => found.slice(i * 5, i * 5 + 5))
    for (const group of groups) {
      const name = group[0]?.charAt(0)
      assert.deepEqual(
        group,
        [0, 1, 2, 3, 4].map((n) => `${name}${n}`),
      )
    }
  })

  check('writes in the order of call', async (log) => {
    const ids = Array.from({ length: 50 }, (_, i) => `${i}`)
    await Promise.all(ids.map((id) => log.append('c', [chat(id)])))
    assert.deepEqual((await log.read('c')).map(contentOf), ids)
  })

  check('keeps debug data apart from the events', async (log) => {
    const debug = { m1: { request: { aside: 1 } }, m3: undefined }
    await log.append('c', [chat('x')], { debug })
    assert.deepEqual(await log.debug('c', 'm1'), { request: { aside: 1 } })
    assert.equal(await log.debug('c', 'm2'), null)
    assert.equal(await log.debug('c', 'm3'), null)
    assert.equal(await log.debug('d', 'm1'), null)
    assert.ok(!JSON.stringify(await log.read('c')).includes('aside'))
    await log.append('c', [], { debug: { m1: 'again' } })
    assert.equal(await log.debug('c', 'm1'), 'again')
  })

  check('ends what was begun when it is closed, and rejects what comes after', async (log) => {
    const appended = log.append('c', [chat('x')])
    const closing = log.close()
    await log.close()
    assert.equal((await appended).length, 1)
    await closing
    const lines = ['']
    const uses = [
      () => log.create('c'),
      () => log.find('c'),
      () => log.list(),
      () => log.append('c', [chat('y')]),
      () => log.renew('c', { owner: 'o', ms: 1 }),
      () => log.read('c'),
      () => log.debug('c', 'm'),
      () => log.rename('c', 'x'),
      () => log.delete('c'),
      () => log.export('c')[Symbol.asyncIterator]().next(),
      () => log.import(lines, { id: 'd' }),
      () => log.scoped('n').read('c'),
    ]
    for (const use of uses) await rejects(use(), 'log_failed')
  })
}
