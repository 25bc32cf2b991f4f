import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConversationLog, type ListOptions, listAll } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { later, rejects, summary } from './check.ts'
import { chat, queued, runError, runFinished, runStarted } from './events.ts'

/** Lists of conversations. */
export function testLists(check: Check): void {
  check('lists what changed last first, as find sums it up', async (log) => {
    await log.append('old', [chat('first')])
    await later()
    await log.create('empty')
    await later()
    await log.append('new', [runStarted()])
    await later()
    await log.append('old', [chat('later')])
    const { conversations, next } = await log.list()
    assert.deepEqual(
      conversations.map(({ id }) => id),
      ['old', 'new', 'empty'],
    )
    assert.equal(next, null)
    for (const found of conversations) assert.deepEqual(found, await summary(log, found.id))
  })

  check('lists page by page', async (log) => {
    const ids = Array.from({ length: 5 }, (_, i) => `c${i}`)
    for (const id of ids) await log.create(id)
    const first = await log.list({ limit: 2 })
    const second = await log.list({ limit: 2, cursor: first.next })
    const third = await log.list({ limit: 2, cursor: second.next })
    assert.equal(third.next, null)
    const all = [first, second, third].flatMap(({ conversations }) => conversations)
    assert.equal(all.length, 5)
    assert.deepEqual(all.map(({ id }) => id).sort(), ids)
    assert.equal((await log.list({ limit: 5 })).next, null)
    assert.deepEqual(await idsOf(log, { limit: 2 }), await idsOf(log))
  })

  check('lists a conversation and its branches, and knows where each begins', async (log) => {
    await log.append('a', [chat('first')])
    await log.append('b', [chat('x'), { type: 'BRANCH_STARTED', root: 'a', from: 'a', at: 'm1' }])
    await log.append('c', [{ type: 'BRANCH_STARTED', root: 'a', from: 'b' }, chat('y')])
    await log.append('d', [chat('other')])
    const { conversations } = await log.list({ branchesOf: 'a' })
    const found = new Map(conversations.map(({ id, branch }) => [id, branch]))
    assert.deepEqual([...found.keys()].sort(), ['a', 'b', 'c'])
    assert.equal(found.get('a'), null)
    assert.deepEqual(found.get('b'), { root: 'a', from: 'a', at: 'm1' })
    assert.deepEqual(found.get('c'), { root: 'a', from: 'b', at: null })
    assert.deepEqual(await idsOf(log, { branchesOf: 'b' }), ['b'])
    assert.deepEqual(await idsOf(log, { branchesOf: 'nobody' }), [])
  })

  check('moves to the front what changes while pages are read', async (log) => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await log.create(id)
      await later()
    }
    const { next } = await log.list({ limit: 2 })
    await log.append('b', [chat('x')])
    const { conversations } = await log.list({ limit: 2, cursor: next })
    assert.deepEqual(
      conversations.map(({ id }) => id),
      ['a'],
    )
    assert.equal((await log.list({ limit: 1 })).conversations[0]?.id, 'b')
  })

  check('gives 50 unless it is told how many', async (log) => {
    await Promise.all(Array.from({ length: 51 }, (_, i) => log.create(`c${i}`)))
    assert.equal((await log.list()).conversations.length, 50)
    assert.equal((await log.list({ limit: 5_000 })).conversations.length, 51)
    await rejects(log.list({ limit: 0 }), 'bad_request')
    await rejects(log.list({ cursor: 'no cursor' }), 'bad_request')
  })

  check('lists what there is to go on with', async (log) => {
    await log.append('idle', [chat('x')])
    await log.append('open', [chat('x'), runStarted()])
    await log.append('queued', [queued('m')])
    await log.append('failed', [runStarted(), runError()])
    await log.append('done', [queued('m'), runStarted('r', ['m']), runFinished()])
    assert.deepEqual((await idsOf(log, { due: true })).sort(), ['open', 'queued'])
    assert.equal((await log.list({ due: true, limit: 1 })).conversations.length, 1)
    assert.deepEqual((await idsOf(log, { due: true, limit: 1 })).sort(), ['open', 'queued'])
  })

  check('lists what whoever ran it has left behind', async (log) => {
    const lease = (ms: number) => ({ lease: { owner: 'o', ms } })
    await log.append('left', [queued('m'), runStarted()], lease(20))
    await log.append('held', [runStarted()], lease(60_000))
    await log.append('given back', [queued('m')], lease(60_000))
    await log.append('given back', [chat('x')], lease(0))
    await log.append('never had', [queued('m')])
    await log.append('ended', [chat('x')], lease(20))
    await log.scoped('n').append('left', [queued('m')], lease(20))
    await sleep(40)
    assert.deepEqual(await idsOf(log, { due: 'abandoned' }), ['left'])
    const everywhere = await log.list({ due: 'abandoned', allNamespaces: true })
    assert.deepEqual(everywhere.conversations.map(({ namespace }) => namespace).sort(), ['n', null])
    await log.renew('left', { owner: 'o', ms: 60_000 })
    assert.deepEqual(await idsOf(log, { due: 'abandoned' }), [])
  })
}

async function idsOf(log: ConversationLog, options: ListOptions = {}): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of listAll(log, options)) ids.push(id)
  return ids
}
