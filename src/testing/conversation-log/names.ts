import assert from 'node:assert/strict'
import type { Check } from './check.ts'
import { rejects, summary } from './check.ts'
import { chat, contentOf, queued } from './events.ts'

/** Ids, titles, namespaces, deletion. */
export function testNames(check: Check): void {
  check('makes a conversation once', async (log) => {
    const id = await log.create()
    assert.notEqual(id, await log.create())
    await log.append(id, [chat('kept')])
    const before = await log.find(id)
    assert.equal(await log.create(id), id)
    assert.deepEqual(await log.find(id), before)
    assert.equal((await log.read(id)).length, 1)
  })

  check('refuses ids and namespaces that nothing can have', async (log) => {
    const wrong = ['', 'x'.repeat(201), 'a\nb', 'a\0b', '\u007f', '\ud800', 1 as unknown as string]
    for (const id of wrong) {
      await rejects(log.create(id), 'bad_request')
      await rejects(log.append(id, [chat('x')]), 'bad_request')
      assert.throws(() => log.scoped(id), { code: 'bad_request' })
    }
    for (const id of ['x'.repeat(200), ' ', '../a', "'", '%', '名前😀', '__proto__', 'null']) {
      assert.equal(await log.create(id), id)
      assert.equal((await summary(log, id)).id, id)
    }
  })

  check('has no conversation with such an id', async (log) => {
    await log.create('\ufffd')
    for (const id of ['', 'a\0b', '\ud800', 'x'.repeat(10_000)]) {
      assert.equal(await log.find(id), null)
      assert.deepEqual(await log.read(id), [])
      assert.deepEqual(await log.deleted(id), [])
      assert.equal(await log.debug(id, 'm'), null)
      assert.equal(await log.rename(id, 'x'), false)
      assert.equal(await log.renew(id, { owner: 'a', ms: 1 }), false)
      assert.equal(await log.delete(id), false)
      await rejects(log.export(id)[Symbol.asyncIterator]().next(), 'conversation_not_found')
      assert.deepEqual((await log.list({ branchesOf: id })).conversations, [])
      assert.deepEqual((await log.runs({ conversation: id })).runs, [])
      assert.deepEqual(await log.costs({ conversation: id }), [])
    }
  })

  check('keeps namespaces apart', async (log) => {
    assert.equal(log.namespace, null)
    const one = log.scoped('one')
    const two = one.scoped('two')
    const none = two.scoped(null)
    assert.deepEqual([one.namespace, two.namespace, none.namespace], ['one', 'two', null])
    const logs = [log, one, two]
    for (const each of logs) {
      const text = `in ${each.namespace}`
      const [record] = await each.append('c', [queued(text)], { after: 0, debug: { m: text } })
      assert.equal(record?.position, 1)
    }
    for (const each of [...logs, none]) {
      const text = `in ${each.namespace}`
      assert.deepEqual((await each.read('c')).map(contentOf), [text])
      assert.equal(await each.debug('c', 'm'), text)
      assert.equal((await summary(each, 'c')).namespace, each.namespace)
      assert.equal((await each.list()).conversations.length, 1)
      assert.equal((await each.list({ due: true })).conversations.length, 1)
    }
    await one.rename('c', 'mine')
    await two.delete('c')
    assert.equal((await summary(log, 'c')).title, 'in null')
    assert.deepEqual(await two.list(), { conversations: [], next: null })
  })

  check('lists all namespaces for whoever asks', async (log) => {
    for (const name of ['one', 'two']) await log.scoped(name).append('c', [queued('m')])
    await log.append('c', [chat('x')])
    const namespaces = async (due: boolean): Promise<(string | null)[]> => {
      const page = await log.scoped('three').list({ allNamespaces: true, due })
      return page.conversations.map(({ namespace }) => namespace).sort()
    }
    assert.deepEqual(await namespaces(false), ['one', 'two', null].sort())
    assert.deepEqual(await namespaces(true), ['one', 'two'])
    const search = { allNamespaces: true, search: 'x' }
    assert.equal((await log.scoped('one').list(search)).conversations[0]?.namespace, null)
  })

  check('is closed by closing either', async (log) => {
    const scoped = log.scoped('n')
    await scoped.close()
    await rejects(log.read('c'), 'log_failed')
    await rejects(scoped.read('c'), 'log_failed')
  })

  check('gives a title, and its own again', async (log) => {
    assert.equal(await log.rename('c', 'x'), false)
    assert.equal(await log.find('c'), null)
    await log.append('c', [chat('its own')])
    const before = await summary(log, 'c')
    assert.equal(await log.rename('c', 'Given “名”'), true)
    await log.append('c', [chat('more')])
    assert.equal((await summary(log, 'c')).title, 'Given “名”')
    assert.equal(await log.rename('c', null), true)
    assert.equal((await summary(log, 'c')).title, before.title)
    for (const title of ['', ' \n', 'x'.repeat(201)]) {
      await rejects(log.rename('c', title), 'bad_request')
    }
    assert.equal(await log.rename('c', 'x'.repeat(200)), true)
  })

  check('removes a conversation with all that it held', async (log) => {
    assert.equal(await log.delete('c'), false)
    const lease = { owner: 'a', ms: 60_000 }
    await log.append('c', [chat('x'), queued('m')], { debug: { m: 1 }, lease })
    await log.rename('c', 'given')
    assert.equal(await log.delete('c'), true)
    assert.equal(await log.delete('c'), false)
    assert.equal(await log.find('c'), null)
    assert.deepEqual(await log.read('c'), [])
    assert.equal(await log.debug('c', 'm'), null)
    assert.equal(await log.renew('c', lease), false)
    const [record] = await log.append('c', [chat('new')], { after: 0 })
    assert.equal(record?.position, 1)
    const { title, queued: waiting, lease: held } = await summary(log, 'c')
    assert.deepEqual({ title, waiting, held }, { title: 'new', waiting: 0, held: null })
    assert.equal(await log.debug('c', 'm'), null)
  })

  check('removes a long conversation', async (log) => {
    const events = Array.from({ length: 1_700 }, (_, i) => chat(`${i}`))
    await log.append('c', events)
    assert.equal(await log.delete('c'), true)
    assert.deepEqual(await log.read('c'), [])
    await log.append('c', [chat('x')], { after: 0 })
    assert.equal((await log.read('c')).length, 1)
  })
}
