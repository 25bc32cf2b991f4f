import assert from 'node:assert/strict'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { Check } from './check.ts'
import { chat, contentOf, message } from './events.ts'

export function testStored(check: Check): void {
  check('appends all or nothing', async (log) => {
    const delta: ConversationEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    const unknown = { type: 'NEVER_HEARD_OF' } as unknown as ConversationEvent
    for (const event of [delta, unknown]) {
      await assert.rejects(log.append('c', [chat('kept?'), event]), TypeError)
    }
    assert.deepEqual(await log.read('c'), [])
    assert.equal(await log.find('c'), null)
  })

  check('refuses what is no JSON', async (log) => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = { list: [cyclic] }
    let deep: unknown = 'end'
    for (let i = 0; i < 100_000; i++) deep = i % 2 ? [deep] : { deep }
    for (const content of [cyclic, { n: 1n }, deep]) {
      await assert.rejects(log.append('c', [chat('kept?'), chat('m', { content })]), TypeError)
      const debug = { m: content }
      await assert.rejects(log.append('c', [chat('kept?')], { debug }), TypeError)
    }
    assert.equal(await log.find('c'), null)
  })

  check('stores what JSON would', async (log) => {
    class Point {
      x = 1
      get y(): number {
        return 2
      }
    }
    const content = {
      none: undefined,
      list: [undefined, () => {}, Symbol('s'), Number.NaN, -0, Number.POSITIVE_INFINITY],
      date: new Date(0),
      url: new URL('https://example.org/'),
      map: new Map([[1, 2]]),
      point: new Point(),
      boxed: [Object(1), Object('s'), Object(true)],
      bytes: new Uint8Array([1, 2]),
      own: { toJSON: (key: string) => ({ key }) },
      gone: { toJSON: () => undefined },
      holes: Array(2),
      run: () => {},
    }
    const event = chat('m', { content, content_type: 'application/json' })
    const [appended] = await log.append('c', [event])
    const stored = JSON.parse(JSON.stringify(event))
    assert.deepEqual(appended?.event, stored)
    assert.deepEqual((await log.read('c'))[0]?.event, stored)
  })

  check('keeps unknown metadata, its order and every kind of text', async (log) => {
    const metadata = {
      zebra: [1, { y: null, x: '†' }],
      attribution: 'a',
      ...JSON.parse('{"__proto__": {"polluted": true}, "constructor": "c"}'),
      中: '\u0000\ud83d\ude00\ud800"\\\u2028',
    }
    const event: ConversationEvent = {
      type: 'NEW_MESSAGE',
      payload: { ...message('m', 'text'), metadata },
    }
    const [appended] = await log.append('c', [event])
    assert.equal(JSON.stringify(appended?.event), JSON.stringify(event))
    assert.equal(JSON.stringify((await log.read('c'))[0]?.event), JSON.stringify(event))
  })

  check('is not changed by what the caller does to an event afterwards', async (log) => {
    const event = chat('before')
    const debug = { m: { list: ['before'] } }
    const appending = log.append('c', [event], { debug })
    if (event.type === 'NEW_MESSAGE') event.payload.content = 'after'
    debug.m.list[0] = 'after'
    assert.deepEqual((await appending).map(contentOf), ['before'])
    assert.deepEqual((await log.read('c')).map(contentOf), ['before'])
    assert.deepEqual(await log.debug('c', 'm'), { list: ['before'] })
  })
}
