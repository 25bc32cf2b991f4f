import assert from 'node:assert/strict'
import type { ConversationEvent } from '../content/events.ts'
import type { Message } from '../content/message.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { readAll } from '../log/conversation-log.ts'

/** The `test` or `it` of any runner: vitest, node:test, jest. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown

/**
 * The contract of {@link ConversationLog} as tests: every implementation passes them.
 *
 * @param create Gives a new, empty log; called once a test, and the log is closed after it.
 * @param test Your runner's `test` function.
 */
export function testConversationLog(
  create: () => ConversationLog | Promise<ConversationLog>,
  test: TestFunction,
): void {
  const check = (name: string, run: (log: ConversationLog) => Promise<void>): void => {
    test(name, async () => {
      const log = await create()
      try {
        await run(log)
      } finally {
        await log.close()
      }
    })
  }

  check('gives back what was appended, in order', async (log) => {
    const events = [chat('one'), chat('two'), runStarted()]
    const written = await log.append('c', events)
    assert.deepEqual(
      written.map((record) => record.event),
      events,
    )
    assert.deepEqual(await log.read('c'), written)
  })

  check('gives positions that grow and are never used twice', async (log) => {
    const first = await log.append('c', [chat('a'), chat('b')])
    const other = await log.append('d', [chat('c')])
    const last = await log.append('c', [chat('d')])
    const positions = [...first, ...other, ...last].map((record) => record.position)
    assert.ok((positions[0] ?? 0) > 0)
    assert.deepEqual(
      positions,
      [...new Set(positions)].sort((a, b) => a - b),
    )
  })

  check('keeps conversations apart', async (log) => {
    await log.append('c', [chat('here')])
    await log.append('d', [chat('there')])
    assert.equal((await log.read('c')).length, 1)
    assert.equal((await log.read('unknown')).length, 0)
  })

  check('reads on behind a position, page by page', async (log) => {
    const events = Array.from({ length: 7 }, (_, i) => chat(`${i}`))
    const written = await log.append('c', events)
    const page = await log.read('c', { after: written[1]?.position, limit: 3 })
    assert.deepEqual(page, written.slice(2, 5))
    const all = []
    for await (const record of readAll(log, 'c')) all.push(record)
    assert.deepEqual(all, written)
  })

  check('appends all or nothing', async (log) => {
    const delta: ConversationEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    await assert.rejects(log.append('c', [chat('kept?'), delta]), TypeError)
    assert.deepEqual(await log.read('c'), [])
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const bad = { ...message('m2', 'x'), content: cyclic }
    await assert.rejects(log.append('c', [chat('kept?'), { type: 'NEW_MESSAGE', payload: bad }]))
    assert.deepEqual(await log.read('c'), [])
    assert.equal(await log.find('c'), null)
  })

  check('is not changed by what the caller does to an event afterwards', async (log) => {
    const event = chat('before')
    await log.append('c', [event])
    if (event.type === 'NEW_MESSAGE') event.payload.content = 'after'
    assert.deepEqual((await log.read('c')).map(contentOf), ['before'])
  })

  check('keeps unknown metadata, its order and every kind of text', async (log) => {
    const metadata = {
      zebra: [1, { y: null, x: '†' }],
      attribution: 'a',
      __proto: 'p',
      中: '\u0000\ud83d\ude00',
    }
    const event: ConversationEvent = {
      type: 'NEW_MESSAGE',
      payload: { ...message('m', 'text'), metadata },
    }
    await log.append('c', [event])
    assert.equal(JSON.stringify((await log.read('c'))[0]?.event), JSON.stringify(event))
  })

  check('lists what changed last first, with title and number of messages', async (log) => {
    await log.append('old', [chat('first line\nsecond line'), chat('more')])
    await log.create('empty')
    await log.append('new', [runStarted()])
    await log.append('old', [chat('later')])
    const list = await log.list()
    assert.deepEqual(list.map((item) => item.id).sort(), ['empty', 'new', 'old'])
    const old = list.find((item) => item.id === 'old')
    assert.equal(old?.title, 'first line')
    assert.equal(old?.messages, 3)
    assert.equal((await log.find('new'))?.title, null)
    assert.equal(await log.find('nowhere'), null)
  })

  check('knows the run that is open', async (log) => {
    await log.append('c', [runStarted()])
    assert.equal((await log.find('c'))?.openRun, 'r')
    await log.append('c', [chat('meanwhile')])
    assert.equal((await log.list())[0]?.openRun, 'r')
    await log.append('c', [
      { type: 'RUN_ERROR', threadId: 'c', runId: 'r', code: 'interrupted', message: '' },
    ])
    assert.equal((await log.find('c'))?.openRun, null)
  })

  check('makes a conversation once', async (log) => {
    const id = await log.create()
    assert.notEqual(id, await log.create())
    await log.append(id, [chat('kept')])
    assert.equal(await log.create(id), id)
    assert.equal((await log.read(id)).length, 1)
  })

  check('keeps debug data apart from the events', async (log) => {
    await log.append('c', [chat('x', 'm1')], { debug: { m1: { request: { secret: 1 } } } })
    assert.deepEqual(await log.debug('c', 'm1'), { request: { secret: 1 } })
    assert.equal(await log.debug('c', 'm2'), null)
    assert.equal(await log.debug('d', 'm1'), null)
    assert.ok(!JSON.stringify(await log.read('c')).includes('secret'))
  })

  check('tells subscribers of later appends until they leave', async (log) => {
    await log.append('c', [chat('before')])
    const told: string[] = []
    const leave = log.subscribe((conversation, records) => {
      for (const record of records) told.push(`${conversation}:${contentOf(record)}`)
    })
    await log.append('c', [chat('one'), chat('two')])
    await log.append('d', [chat('three')])
    leave()
    await log.append('c', [chat('after')])
    assert.deepEqual(told, ['c:one', 'c:two', 'd:three'])
  })

  check('never interleaves two appends', async (log) => {
    const batch = (name: string): ConversationEvent[] =>
      Array.from({ length: 5 }, (_, i) => chat(`${name}${i}`))
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map((name) => log.append('c', batch(name))))
    const found = (await log.read('c')).map(contentOf)
    assert.equal(found.length, 30)
    for (let i = 0; i < found.length; i += 5) {
      const name = String(found[i]).charAt(0)
      assert.deepEqual(
        found.slice(i, i + 5),
        [0, 1, 2, 3, 4].map((n) => `${name}${n}`),
      )
    }
  })

  check('closes more than once', async (log) => {
    await log.close()
    await log.close()
    await assert.rejects(log.read('c'))
  })
}

function message(id: string, content: unknown): Message {
  return {
    id,
    sender: { participant_id: 'u', participant_role: 'user' },
    message_type: 'chat',
    content_type: 'text/plain',
    content,
    timestamp: '2026-01-01T00:00:00.000Z',
    metadata: {},
  }
}

function chat(text: string, id = text): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: message(id, text) }
}

function runStarted(): ConversationEvent {
  return { type: 'RUN_STARTED', threadId: 'c', runId: 'r' }
}

function contentOf({ event }: { event: ConversationEvent }): unknown {
  return event.type === 'NEW_MESSAGE' ? event.payload.content : event.type
}
