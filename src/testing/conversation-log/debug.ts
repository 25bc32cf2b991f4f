import assert from 'node:assert/strict'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { chat } from './events.ts'
import { END, exported } from './exports.ts'

const SECRET = 'hunter2-never-to-be-seen'
const DEBUG = {
  intent_generation: {
    request: { headers: { Authorization: `Bearer ${SECRET}`, accept: '*/*' }, content: 'Hello' },
    response: { content: 'greeting', api_key: SECRET },
  },
}
const REDACTED = {
  intent_generation: {
    request: { headers: { Authorization: '[redacted]', accept: '*/*' }, content: 'Hello' },
    response: { content: 'greeting', api_key: '[redacted]' },
  },
}
const METADATA = { attribution: 'Internal System', debug: DEBUG, footer_items: ['6.8k of 50k'] }
const STORED = Object.entries({ ...METADATA, debug: undefined, has_debug_data: true })
const TIME = '2026-01-02T03:04:05.678Z'

/** Debug data that are sent with messages: stored separately, and without secrets. */
export function testDebug(check: Check): void {
  check('takes debug data off messages, redacted, wherever they come in', async (log) => {
    const changes: unknown[] = []
    log.subscribe((change) => changes.push(change))
    const given = chat('m', { metadata: { ...METADATA } })
    const before = JSON.stringify(given)
    const appended = await log.append('c', [given])
    assert.equal(JSON.stringify(given), before)
    await assertSplit(log, 'c')
    await log.import(await exported(log, 'c'), { id: 'again' })
    await assertSplit(log, 'again')
    assert.deepEqual(await exported(log, 'again').then(tail), await exported(log, 'c').then(tail))
    assert.equal(JSON.stringify([appended, changes]).includes(SECRET), false)
  })

  check('takes debug data off messages that it imports', async (log) => {
    const header = { byref: 'conversation', version: 1, id: 'c', createdAt: TIME, updatedAt: TIME }
    const event = chat('m', { metadata: { ...METADATA } })
    const record = { v: 1, position: 1, timestamp: TIME, event }
    const debug = { debug: 'n', value: { password: SECRET, of: 'n' } }
    await log.import([header, record, debug, END].map((line) => `${JSON.stringify(line)}\n`))
    await assertSplit(log, 'c')
    assert.deepEqual(await log.debug('c', 'n'), { password: '[redacted]', of: 'n' })
  })

  check('redacts debug data that are given beside messages, and joins them', async (log) => {
    const separate = { m: { cookie: SECRET, kept: 1 }, n: `https://me:${SECRET}@example.org/` }
    await log.append('c', [chat('m', { metadata: { ...METADATA } })], { debug: separate })
    assert.deepEqual(await log.debug('c', 'm'), { ...REDACTED, cookie: '[redacted]', kept: 1 })
    assert.equal(await log.debug('c', 'n'), 'https://[redacted]@example.org/')
    await assertNowhere(log, 'c')
  })

  check('says of debug data that there are some only where there are', async (log) => {
    const none = chat('none', { metadata: { debug: null, own: 1 } })
    const empty = chat('empty', { metadata: { has_debug_data: false, debug: {} } })
    const records = await log.append('c', [none, empty])
    const metadata = records.map(
      ({ event }) => 'payload' in event && Object(event.payload).metadata,
    )
    assert.deepEqual(metadata, [{ own: 1 }, { has_debug_data: false }])
    assert.equal(await log.debug('c', 'empty'), null)
    assert.equal(await log.debug('c', 'none'), null)
  })
}

async function assertSplit(log: ConversationLog, id: string): Promise<void> {
  const [record] = await log.read(id)
  assert.ok(record?.event.type === 'NEW_MESSAGE')
  // The flag is in the place of the debug data.
  const keys = STORED.flatMap(([key]) => (key === 'debug' ? ['has_debug_data'] : [key]))
  const { metadata } = record.event.payload
  assert.deepEqual(Object.keys(metadata), [...new Set(keys)])
  assert.equal(metadata.has_debug_data, true)
  assert.deepEqual(await log.debug(id, 'm'), REDACTED)
  await assertNowhere(log, id)
}

async function assertNowhere(log: ConversationLog, id: string): Promise<void> {
  const all = [await log.read(id), await exported(log, id), await log.list(), await log.find(id)]
  assert.equal(JSON.stringify(all).includes(SECRET), false, 'the secret is nowhere')
}

const tail = (lines: string[]): string[] => lines.slice(1)
