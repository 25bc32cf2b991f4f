import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConversationEvent } from '../../core/events/events.ts'
import {
  type ConversationLog,
  LeaseHeldError,
  type LogChange,
  LogConflictError,
} from '../../log/conversation-log.ts'
import { rejects, soon, summary } from './check.ts'
import { batch, chat, contentOf } from './events.ts'
import { exported } from './exports.ts'
import { type listen, listenFromNow, words } from './subscriptions.ts'

/** Adds a test with two log objects on one storage. */
type CheckTwo = (
  name: string,
  run: (log: ConversationLog, other: ConversationLog) => Promise<void>,
) => void

/** What one process learns of the changes of another. */
export function testProcesses(check: CheckTwo): void {
  check('sees at once what another process wrote', async (log, other) => {
    const records = await log.append('c', [chat('x')], { debug: { m: 1 } })
    assert.deepEqual(await other.read('c'), records)
    assert.equal(await other.debug('c', 'm'), 1)
    await other.rename('c', 'y')
    assert.deepEqual(await log.find('c'), await other.find('c'))
    await other.delete('c')
    assert.equal(await log.find('c'), null)
    assert.deepEqual(await log.read('c'), [])
  })

  check('decides between processes', async (log, other) => {
    const results = await Promise.allSettled(
      [log, other, log, other].map((each, i) => each.append('c', [chat(`${i}`)], { after: 0 })),
    )
    const lost = results.filter((result) => result.status === 'rejected')
    assert.equal(lost.length, 3)
    const winner = await log.read('c')
    for (const { reason } of lost) {
      assert.ok(reason instanceof LogConflictError)
      assert.deepEqual(reason.records, winner)
    }
  })

  check('keeps positions dense while processes write to one conversation', async (log, other) => {
    await Promise.all(
      [log, other].map(async (each, n) => {
        for (let i = 0; i < 10; i++) await each.append('c', batch(`${n}:${i}.`, 2))
      }),
    )
    const records = await log.read('c')
    assert.deepEqual(
      records.map(({ position }) => position),
      Array.from({ length: 40 }, (_, i) => i + 1),
    )
    assert.deepEqual(await other.read('c'), records)
  })

  check("refuses another process' owner", async (log, other) => {
    await log.append('c', [chat('x')], { lease: { owner: 'a', ms: 60_000 } })
    assert.equal((await summary(other, 'c')).lease?.owner, 'a')
    const lease = { owner: 'b', ms: 60_000 }
    const error = await rejects(other.append('c', [chat('y')], { lease }), 'lease_held')
    assert.ok(error instanceof LeaseHeldError)
    assert.equal(await other.renew('c', lease), false)
    await log.renew('c', { owner: 'a', ms: 0 })
    await other.append('c', [chat('y')], { lease })
    assert.equal((await summary(log, 'c')).lease?.owner, 'b')
  })

  check("tells of another process' appends within a second, nothing twice", async (log, other) => {
    await other.append('c', [chat('before')])
    const { told, leave } = await listenFromNow(log)
    const late = await listenFromNow(log.scoped('n'))
    for (let i = 0; i < 5; i++) await other.append('c', [chat(`${i}`)])
    await other.scoped('n').append('c', [chat('n')])
    await soon(() => said(told).length >= 5 && late.told.length > 0)
    assert.deepEqual(said(told), ['0', '1', '2', '3', '4'])
    assert.deepEqual(late.told.map(words), ['c:n'])
    const after = await listenFromNow(log)
    await other.append('c', [chat('5')])
    await soon(() => said(after.told).length > 0)
    assert.deepEqual(said(after.told), ['5'])
    assert.deepEqual(said(told).length, 6)
    leave()
  })

  check(
    'tells both processes the records of a conversation in order, each once',
    async (log, other) => {
      const heard = [await listenFromNow(log), await listenFromNow(other)]
      await Promise.all(
        [log, other].map(async (each, n) => {
          for (let i = 0; i < 15; i++) await each.append('c', batch(`${n}:${i}.`, 2))
        }),
      )
      const expected = (await log.read('c')).map(contentOf)
      for (const { told } of heard) {
        await soon(() => said(told).length >= expected.length)
        assert.deepEqual(said(told), expected)
      }
    },
  )

  check(
    "tells another process' records before its own that stand behind them",
    async (log, other) => {
      const { told } = await listenFromNow(log)
      await other.append('c', [chat('theirs')])
      await log.append('c', [chat('ours')])
      assert.deepEqual(said(told), ['theirs', 'ours'])
    },
  )

  check("tells of another process' titles, removals and imports, in order", async (log, other) => {
    await log.append('c', [chat('x')])
    const lines = await exported(log, 'c')
    const { told } = await listenFromNow(log)
    await other.append('c', [chat('y')])
    await other.rename('c', 'Title')
    await other.append('c', [chat('z')])
    await other.delete('c')
    await other.append('c', [chat('new')])
    await other.import(lines, { id: 'd' })
    await other.append('d', [chat('more')])
    const of = (id: string): string[] =>
      told.filter(({ conversation }) => conversation === id).map(words)
    await soon(() => of('c').at(-1) === 'c:new' && of('d').at(-1) === 'd:more')
    const deletion = of('c').indexOf('c:deleted')
    assert.deepEqual(of('c').slice(deletion), ['c:deleted', 'c:new'])
    assert.ok(of('c').indexOf('c:') < deletion)
    assert.deepEqual(of('d'), ['d:', 'd:more'])
  })

  check('reads no records that nobody wants, and all of what somebody does', async (log, other) => {
    const changes: LogChange[] = []
    log.subscribe((change) => changes.push(change), { wants: (id) => id === 'c' })
    await log.find('c')
    await other.append('d', [chat('unwanted')])
    await other.append('c', [chat('one'), chat('two')])
    await other.append('c', [chat('three')])
    await soon(() => said(changes).length === 3 && changes.some((change) => words(change) === 'd:'))
    assert.deepEqual(said(changes), ['one', 'two', 'three'])
  })

  check("tells of another process' events that are not durable, in order", async (log, other) => {
    if (!other.stream) return
    const delta = (text: string): ConversationEvent => {
      return { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: text }
    }
    const { told } = await listenFromNow(log)
    const own = await listenFromNow(other)
    const streamedEvents = (): ConversationEvent[] => told.flatMap(({ streamed = [] }) => streamed)
    const said = (): string =>
      streamedEvents()
        .map((event) => ('delta' in event ? event.delta : ''))
        .join('')
    // The subscription is being registered meanwhile. Changes before that are not announced.
    for (let i = 0; i < 200 && streamedEvents().length === 0; i++) {
      other.stream('c', { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' })
      await sleep(20)
    }
    assert.equal(streamedEvents()[0]?.type, 'TEXT_MESSAGE_START')
    const long = '😀'.repeat(5_000)
    const pieces = ['a', 'a', '"\0\ud800', long, 'b']
    for (const text of pieces) other.stream('c', delta(text))
    other.scoped('n').stream?.('c', delta('elsewhere'))
    await soon(() => said().endsWith('b'))
    assert.equal(said(), pieces.join(''))
    assert.deepEqual(
      told.filter(({ records, namespace }) => records.length > 0 || namespace),
      [],
    )
    assert.deepEqual(own.told, [])
  })

  check('imports an id once', async (log, other) => {
    await log.append('c', [chat('x')])
    const lines = await exported(log, 'c')
    const results = await Promise.allSettled(
      [log, other].map((each) => each.import(lines, { id: 'd' })),
    )
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal((await log.read('d')).length, 1)
  })
}

function said(changes: ReturnType<typeof listen>['told']): unknown[] {
  return changes.flatMap(({ records }) => records.map(contentOf))
}
