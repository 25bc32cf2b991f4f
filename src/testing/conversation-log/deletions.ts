import assert from 'node:assert/strict'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { summary } from './check.ts'
import { chat, queued } from './events.ts'
import { exported } from './exports.ts'

/** What `MESSAGE_DELETED` removes, and what it keeps. */
export function testDeletions(check: Check): void {
  check('takes away the debug data of a message with its deletion', async (log) => {
    const debug = { a: { of: 'a' }, b: { of: 'b' } }
    await log.append('c', [chat('a'), chat('b')], { debug })
    await log.append('other', [chat('a')], { debug })
    assert.deepEqual(await log.deleted('c'), [])
    await log.append('c', [deletion('a')], { debug: { a: { of: 'too late' } } })
    assert.equal(await log.debug('c', 'a'), null)
    assert.deepEqual(await log.debug('c', 'b'), debug.b)
    assert.deepEqual(await log.debug('other', 'a'), debug.a)
    assert.deepEqual([await log.deleted('c'), await log.deleted('other')], [['a'], []])
    assert.deepEqual(await log.deleted('nowhere'), [])
  })

  check('keeps the record of a message that is deleted, and exports it', async (log) => {
    await log.append('c', [chat('a'), chat('b')], { debug: { a: 1, b: 2 } })
    const before = await log.read('c')
    await log.append('c', [deletion('a')])
    assert.deepEqual((await log.read('c')).slice(0, 2), before)
    const lines = await exported(log, 'c')
    assert.equal(lines.length, 1 + 3 + 1 + 1)
    await log.import(lines, { id: 'again' })
    assert.deepEqual(await log.deleted('again'), ['a'])
    const { title, messages } = await summary(log, 'again')
    assert.deepEqual({ title, messages }, { title: 'b', messages: 1 })
    assert.deepEqual((await exported(log, 'again')).slice(1), lines.slice(1))
  })

  check('imports no debug data of a message that is deleted', async (log) => {
    await log.append('c', [chat('a'), deletion('a')])
    const lines = await exported(log, 'c')
    await log.import(lines.toSpliced(-1, 0, '{"debug":"a","value":1}\n'), { id: 'again' })
    assert.equal(await log.debug('again', 'a'), null)
    assert.deepEqual(await exported(log, 'again').then((all) => all.slice(1)), lines.slice(1))
  })

  check('finds no text of a message that is deleted', async (log) => {
    await log.append('c', [chat('start'), chat('a needle'), chat('ñ')])
    await log.append('d', [chat('start'), chat('needle')])
    assert.equal(await found(log, 'needle'), 'cd')
    await log.append('e', [chat('start'), chat('needle too')])
    for (const id of ['needle', 'a needle', 'needle too', 'ñ'])
      for (const one of 'cde') await log.append(one, [deletion(id)])
    assert.deepEqual([await found(log, 'needle'), await found(log, 'ñ')], ['', ''])
    assert.equal(await found(log, 'start'), 'cde')
    await log.import(await exported(log, 'c'), { id: 'f' })
    assert.deepEqual([await found(log, 'needle'), await found(log, 'ñ')], ['', ''])
    assert.equal(await found(log, 'START'), 'cdef')
  })

  check('calls a conversation by the first chat message that is left', async (log) => {
    await log.append('c', [chat('first'), chat('x', { message_type: 'log' }), chat('second')])
    const after = async (...events: ConversationEvent[]): Promise<unknown> => {
      await log.append('c', events)
      const { title, messages } = await summary(log, 'c')
      return [title, messages]
    }
    assert.deepEqual(await after(deletion('second')), ['first', 2])
    assert.deepEqual(await after(deletion('first'), chat('third')), ['third', 2])
    assert.equal(await found(log, 'first'), '')
    assert.equal(await found(log, 'third'), 'c')
    assert.deepEqual(await after(deletion('first'), deletion('nobody')), ['third', 2])
    assert.deepEqual(await after(deletion('third')), [null, 1])
    assert.deepEqual(await after(chat('fourth')), ['fourth', 2])
    assert.deepEqual(await after(chat('fifth'), deletion('fifth')), ['fourth', 2])
  })

  check('deletes what waits, and ids of any text', async (log) => {
    const odd = ['"', 'a\\b', '\0', "'; --", '😀', '\ud800', '%']
    await log.append('c', [queued('waits'), ...odd.map((id) => chat(id))])
    await log.append('c', [deletion('waits'), ...odd.slice(1).map(deletion)])
    const { queued: waiting, messages } = await summary(log, 'c')
    assert.deepEqual({ waiting, messages }, { waiting: 0, messages: 1 })
    assert.equal((await log.list({ due: true })).conversations.length, 0)
    const left = JSON.parse(JSON.stringify([...odd.slice(1), 'waits']))
    assert.deepEqual([...(await log.deleted('c'))].sort(), left.sort())
  })
}

function deletion(messageId: string): ConversationEvent {
  return { type: 'MESSAGE_DELETED', messageId }
}

async function found(log: ConversationLog, search: string): Promise<string> {
  const { conversations } = await log.list({ search })
  return conversations
    .map(({ id }) => id)
    .sort()
    .join('')
}
