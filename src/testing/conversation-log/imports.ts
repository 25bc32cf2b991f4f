import assert from 'node:assert/strict'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { rejects, summary } from './check.ts'
import { END, exported } from './exports.ts'

const TIME = '2026-01-02T03:04:05.678Z'
const HEADER = {
  byref: 'conversation',
  version: 1,
  id: 'c',
  title: null,
  createdAt: TIME,
  updatedAt: TIME,
}
const EVENT = { type: 'RUN_CLAIMED', threadId: 'c', runId: 'r', owner: 'o' }
const RECORD = { v: 1, position: 1, timestamp: TIME, event: EVENT }
const DEBUG = { debug: 'm', value: 1 }

/** Imports of lines from any source. */
export function testImports(check: Check): void {
  check('keeps events and fields of another version, and no other keys of a line', async (log) => {
    const event = { type: 'NEVER_HEARD_OF', z: 1, a: { b: [1] } }
    await log.import([
      `${JSON.stringify({ future: [1], ...HEADER })}\n`,
      `${JSON.stringify({ ...RECORD, by: 'x', event })}\n`,
      '{ "position": 2, "v": 1.0, "timestamp": "2026-01-02T03:04:05Z", "event": {"type": "\\u0041"} }\n',
      '{"value":{"b":1,"a":1e2},"debug":"m","more":null}\n',
      '{"byref":"end","more":1}\n',
    ])
    const lines = (await exported(log, 'c')).map((line) => JSON.parse(line))
    assert.equal('future' in lines[0], false)
    assert.deepEqual(lines.slice(1), [
      { ...RECORD, timestamp: new Date(RECORD.timestamp).toISOString(), event },
      { v: 1, position: 2, timestamp: '2026-01-02T03:04:05.000Z', event: { type: 'A' } },
      { debug: 'm', value: { b: 1, a: 100 } },
      END,
    ])
    await log.import(await exported(log, 'c'), { id: 'd' })
    assert.deepEqual((await exported(log, 'd')).slice(1), (await exported(log, 'c')).slice(1))
  })

  check('refuses an event that lacks a field or has one of a wrong type', async (log) => {
    for (const event of [
      null,
      { type: 5 },
      { type: 'NEW_MESSAGE' },
      { ...EVENT, runId: 5 },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    ]) {
      await assert.rejects(
        log.import(linesOf(HEADER, RECORD, { ...RECORD, position: 2, event })),
        /^ByrefError: Line 3: Invalid event/,
      )
    }
    assert.equal(await log.find('c'), null)
  })

  check('keeps times', async (log) => {
    await log.import(linesOf(HEADER, RECORD, END))
    const { createdAt, updatedAt } = await summary(log, 'c')
    assert.deepEqual([createdAt, updatedAt], [TIME, TIME])
    assert.equal((await log.read('c'))[0]?.timestamp, TIME)
  })

  check(
    'takes lines with and without their ends, several at once, from any iterable',
    async (log) => {
      const text = linesOf(HEADER, RECORD, DEBUG, END).join('')
      await log.import([text], { id: 'a' })
      await log.import(text.trimEnd().split('\n'), { id: 'b' })
      async function* slowly(): AsyncGenerator<string> {
        yield* linesOf(HEADER, RECORD, DEBUG, END)
      }
      await log.import(slowly(), { id: 'd' })
      for (const id of ['a', 'b', 'd']) {
        assert.equal(
          (await exported(log, id)).slice(1).join(''),
          linesOf(RECORD, DEBUG, END).join(''),
        )
      }
    },
  )

  check('refuses an id that is taken', async (log) => {
    await log.create('c')
    await rejects(log.import(linesOf(HEADER, END)), 'conversation_exists')
    await rejects(log.import(linesOf(HEADER, END), { id: 'c' }), 'conversation_exists')
    await rejects(log.import(linesOf(HEADER, END), { id: 'a\nb' }), 'bad_request')
    assert.equal(await log.import(linesOf(HEADER, END), { id: 'd' }), 'd')
  })

  const wrong: Record<string, [line: number, lines: string[]]> = {
    nothing: [1, []],
    'no JSON': [2, [...linesOf(HEADER), 'no JSON\n']],
    'an empty line': [2, [...linesOf(HEADER), '\n', ...linesOf(RECORD)]],
    'no object': [2, linesOf(HEADER, [1])],
    'null for a header': [1, linesOf(null)],
    'no header': [1, linesOf(RECORD)],
    'a newer version': [1, linesOf({ ...HEADER, version: 2 })],
    'an impossible id': [1, linesOf({ ...HEADER, id: '' })],
    'an impossible title': [1, linesOf({ ...HEADER, title: ' ' })],
    'a header without times': [1, linesOf({ ...HEADER, createdAt: undefined })],
    'a gap': [3, linesOf(HEADER, RECORD, { ...RECORD, position: 3 })],
    'a position twice': [3, linesOf(HEADER, RECORD, RECORD)],
    'a beginning in the middle': [2, linesOf(HEADER, { ...RECORD, position: 2 })],
    'a record of another version': [2, linesOf(HEADER, { ...RECORD, v: 2 })],
    'a record without a time': [2, linesOf(HEADER, { ...RECORD, timestamp: 'yesterday' })],
    'a record without an event': [2, linesOf(HEADER, { ...RECORD, event: 'x' })],
    'an event without a type': [2, linesOf(HEADER, { ...RECORD, event: { type: 1 } })],
    'debug data of no message': [2, linesOf(HEADER, { debug: 1, value: 1 })],
    'debug data without a value': [2, linesOf(HEADER, { debug: 'm' })],
    'debug data twice': [3, linesOf(HEADER, DEBUG, DEBUG)],
    'a record behind debug data': [3, linesOf(HEADER, DEBUG, RECORD)],
    'a second header': [2, linesOf(HEADER, HEADER)],
    'a header without an end': [2, linesOf(HEADER)],
    'records without an end': [3, linesOf(HEADER, RECORD)],
    'debug data without an end': [4, linesOf(HEADER, RECORD, DEBUG)],
    'an end for a header': [1, linesOf(END)],
    'a record behind the end': [3, linesOf(HEADER, END, RECORD)],
    'a second export': [3, linesOf(HEADER, END, HEADER, END)],
  }
  for (const [name, [line, lines]] of Object.entries(wrong)) {
    check(`imports nothing of ${name}, and says the line`, async (log) => {
      const error = await rejects(log.import(lines), 'bad_request')
      assert.match(error.message, new RegExp(`^Line ${line}: .`))
      await assertEmpty(log)
    })
  }

  check(
    'imports nothing of many lines where the last is wrong, or their source fails',
    async (log) => {
      const records = Array.from({ length: 1_200 }, (_, i) => ({ ...RECORD, position: i + 1 }))
      const lines = linesOf(HEADER, ...records)
      const error = await rejects(log.import([...lines, '{}\n']), 'bad_request')
      assert.match(error.message, /^Line 1202: /)
      async function* failing(): AsyncGenerator<string> {
        yield* lines
        throw new RangeError('the source failed')
      }
      await assert.rejects(log.import(failing()), RangeError)
      await assertEmpty(log)
      await log.import([...lines, ...linesOf(END)])
      assert.equal((await summary(log, 'c')).position, 1_200)
    },
  )
}

function linesOf(...values: unknown[]): string[] {
  return values.map((value) => `${JSON.stringify(value)}\n`)
}

async function assertEmpty(log: ConversationLog): Promise<void> {
  assert.equal(await log.find('c'), null)
  assert.deepEqual(await log.list({ allNamespaces: true }), { conversations: [], next: null })
  assert.deepEqual(await log.read('c'), [])
}
