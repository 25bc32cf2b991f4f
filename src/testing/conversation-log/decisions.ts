import assert from 'node:assert/strict'
import { LogConflictError } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { rejects, summary } from './check.ts'
import { batch, chat, contentOf } from './events.ts'

/** `after`: if two writers know the same position, one appends. */
export function testDecisions(check: Check): void {
  check('appends where the writer knows the end', async (log) => {
    await log.append('c', [chat('a')], { after: 0 })
    const [record] = await log.append('c', [chat('b')], { after: 1 })
    assert.equal(record?.position, 2)
  })

  check('refuses a writer who is behind, and brings what it missed', async (log) => {
    const written = await log.append('c', batch('m', 3))
    const debug = { m: 1 }
    const lease = { owner: 'a', ms: 60_000 }
    const error = await rejects(
      log.append('c', [chat('x')], { after: 1, debug, lease }),
      'log_conflict',
    )
    assert.ok(error instanceof LogConflictError)
    assert.deepEqual(error.records, written.slice(1))
    assert.deepEqual(await log.read('c'), written)
    assert.equal(await log.debug('c', 'm'), null)
    assert.equal((await summary(log, 'c')).lease, null)
  })

  check('brings all that was missed, however much it is', async (log) => {
    const written = await log.append('c', batch('m', 1_200))
    const error = await rejects(log.append('c', [], { after: 0 }), 'log_conflict')
    assert.ok(error instanceof LogConflictError)
    assert.deepEqual(error.records, written)
  })

  check('lets one of many win who know the same position', async (log) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const results = await Promise.allSettled(
      names.map((name) => log.append('c', [chat(name)], { after: 0 })),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    const [winner] = await log.read('c')
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      assert.ok(result.reason instanceof LogConflictError)
      assert.deepEqual(result.reason.records, [winner])
    }
  })

  check('harms no other append by one that it refuses', async (log) => {
    const behind = [0, 1, 2, 3].map((after) => log.append('c', [chat(`${after}`)], { after }))
    const others = ['d', 'e', 'd'].map((id) => log.append(id, [chat('x')]))
    const refused = log.append('c', [chat('no')], { after: 2 })
    await rejects(refused, 'log_conflict')
    await Promise.all([...behind, ...others])
    assert.deepEqual((await log.read('c')).map(contentOf), ['0', '1', '2', '3'])
    assert.equal((await log.read('d')).length, 2)
  })

  check('says that a conversation is shorter than the writer knows it, or gone', async (log) => {
    await rejects(log.append('c', [chat('x')], { after: 1 }), 'conversation_not_found')
    assert.equal(await log.find('c'), null)
    await log.append('c', [chat('x')])
    await rejects(log.append('c', [chat('y')], { after: 2 }), 'conversation_not_found')
    await log.delete('c')
    await rejects(log.append('c', [chat('y')], { after: 1 }), 'conversation_not_found')
    await rejects(log.append('c', [chat('y')], { after: -1 }), 'bad_request')
    await rejects(log.append('c', [chat('y')], { after: Number.NaN }), 'bad_request')
  })
}
