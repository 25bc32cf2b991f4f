import assert from 'node:assert/strict'
import type { ConversationLog, LogChange } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { rejects } from './check.ts'
import { chat, contentOf } from './events.ts'

/** What subscribers are told about their own log. */
export function testSubscriptions(check: Check): void {
  check('tells subscribers of later appends until they leave', async (log) => {
    await log.append('c', [chat('before')])
    const { told, leave } = listen(log)
    const records = await log.append('c', [chat('one'), chat('two')])
    assert.deepEqual(told, [{ conversation: 'c', namespace: null, records }])
    await log.append('d', [chat('three')])
    leave()
    leave()
    await log.append('c', [chat('after')])
    assert.deepEqual(told.map(words), ['c:one,two', 'd:three'])
  })

  check('tells within the append, before it resolves', async (log) => {
    const order: string[] = []
    log.subscribe(({ records }) => order.push(`told ${records.map(contentOf)}`))
    const appends = ['a', 'b'].map((text) =>
      log.append('c', [chat(text)]).then(() => order.push(`resolved ${text}`)),
    )
    await Promise.all(appends)
    for (const text of ['a', 'b']) {
      assert.ok(order.indexOf(`told ${text}`) < order.indexOf(`resolved ${text}`))
    }
    assert.ok(order.indexOf('told a') < order.indexOf('told b'))
  })

  check('tells nothing of what was refused or says nothing', async (log) => {
    // An empty append to a new conversation creates it. A log may announce that.
    await log.create('c')
    const { told } = listen(log)
    await log.append('c', [])
    await rejects(log.append('c', [chat('x')], { after: 7 }), 'conversation_not_found')
    await assert.rejects(log.append('c', [{ type: 'TEXT_MESSAGE_END', messageId: 'm' }]))
    assert.deepEqual(told, [])
  })

  check('tells of what is made, of new titles and removals', async (log) => {
    const { told } = listen(log)
    await log.create('c')
    await log.create('c')
    await log.rename('c', 'y')
    await log.delete('c')
    await log.delete('c')
    await log.rename('c', 'y')
    assert.deepEqual(told, [
      { conversation: 'c', namespace: null, records: [] },
      { conversation: 'c', namespace: null, records: [] },
      { conversation: 'c', namespace: null, records: [], deleted: true },
    ])
  })

  check('tells of its own namespace, or of all', async (log) => {
    const one = log.scoped('one')
    const mine = listen(one)
    const all = listen(one, true)
    await log.append('c', [chat('none')])
    await log.scoped('one').append('c', [chat('one')])
    await log.scoped('two').append('c', [chat('two')])
    assert.deepEqual(mine.told.map(words), ['c:one'])
    assert.deepEqual(
      all.told.map((change) => [change.namespace, words(change)]),
      [
        [null, 'c:none'],
        ['one', 'c:one'],
        ['two', 'c:two'],
      ],
    )
  })

  check('brings no records of what a subscriber does not want', async (log) => {
    const changes: LogChange[] = []
    const asked: unknown[] = []
    log.subscribe((change) => changes.push(change), {
      wants(conversation, namespace) {
        asked.push([conversation, namespace])
        return conversation === 'c'
      },
    })
    const all = listen(log)
    await log.append('c', [chat('one')])
    await log.append('d', [chat('two')])
    assert.deepEqual(changes.map(words), ['c:one', 'd:'])
    assert.deepEqual(all.told.map(words), ['c:one', 'd:two'])
    assert.deepEqual(asked.at(-1), ['d', null])
  })

  check('lets a listener leave, come and write while it is told', async (log) => {
    const changes: string[] = []
    const written: Promise<unknown>[] = []
    const leave = log.subscribe((change) => {
      changes.push(`first ${words(change)}`)
      leaveSecond()
      leave()
      log.subscribe((later) => changes.push(`third ${words(later)}`))
      written.push(log.append('d', [chat('from a listener')]))
    })
    const leaveSecond = log.subscribe((change) => changes.push(`second ${words(change)}`))
    await Promise.all([log.append('c', [chat('one')]), log.append('c', [chat('two')])])
    await log.append('c', [chat('end')])
    await Promise.all(written)
    assert.deepEqual(
      changes.filter((text) => !text.startsWith('third')),
      ['first c:one'],
    )
    const heard = changes.filter((text) => text.startsWith('third') && !text.endsWith('c:one'))
    assert.deepEqual(heard.sort(), ['third c:end', 'third c:two', 'third d:from a listener'])
  })

  check('tells all listeners in order of what one of them writes', async (log) => {
    const written: Promise<unknown>[] = []
    log.subscribe((change) => {
      if (words(change) === 'c:one') written.push(log.append('c', [chat('two')]))
    })
    const { told } = listen(log)
    await log.append('c', [chat('one')])
    await Promise.all(written)
    assert.deepEqual(told.map(words), ['c:one', 'c:two'])
  })

  check('tells a listener that subscribes again only of later changes', async (log) => {
    const changes: string[] = []
    let leave = log.subscribe(again)
    function again(change: LogChange): void {
      changes.push(words(change))
      if (changes.length > 10) return
      leave()
      leave = log.subscribe(again)
    }
    await log.append('c', [chat('one')])
    await log.append('c', [chat('two')])
    assert.deepEqual(changes, ['c:one', 'c:two'])
  })
}

/** Collects the notifications of a subscriber. */
export function listen(
  log: ConversationLog,
  allNamespaces = false,
): { told: LogChange[]; leave: () => void } {
  const changes: LogChange[] = []
  const leave = log.subscribe((change) => changes.push(change), { allNamespaces })
  return { told: changes, leave }
}

/** The same, after the existing content is known: changes of other processes are new from then on. */
export async function listenFromNow(
  log: ConversationLog,
  allNamespaces = false,
): Promise<ReturnType<typeof listen>> {
  const listening = listen(log, allNamespaces)
  await log.find('anything')
  return listening
}

/** A change in short form: `c:one,two`. */
export function words({ conversation, records, deleted }: LogChange): string {
  return `${conversation}:${deleted ? 'deleted' : records.map(contentOf).join(',')}`
}
