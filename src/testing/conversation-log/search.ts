import assert from 'node:assert/strict'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { chat } from './events.ts'

const TEXTS: Record<string, string> = {
  a: 'Über die Häuser in Ärmelkanal "quoted" 100% *sure* NEAR AND OR (x)',
  b: "It's the end\nof a line; DROP TABLE records_x",
  c: '東京タワーの天気 😀👍 emoji',
  d: 'ПРИВЕТ мир, Καλημέρα ΚΌΣΜΕ',
}

/** `list({ search })`. */
export function testSearch(check: Check): void {
  check('finds parts of chat messages, letter case aside', async (log) => {
    for (const [id, text] of Object.entries(TEXTS))
      await log.append(id, [chat('start'), chat(text)])
    const expected: Record<string, string> = {
      start: 'abcd',
      häuser: 'a',
      ÜBER: 'a',
      ärm: 'a',
      'END\nOF A': 'b',
      "it's": 'b',
      привет: 'd',
      'МИР, κ': 'd',
      東京タワー: 'c',
      東京タワ一: '',
      '天気 😀👍': 'c',
      nothing: '',
    }
    for (const [words, ids] of Object.entries(expected))
      assert.equal(await found(log, words), ids, words)
  })

  check('takes every character of a search literally', async (log) => {
    for (const [id, text] of Object.entries(TEXTS)) await log.append(id, [chat(text)])
    const expected: Record<string, string> = {
      '"quoted" 100%': 'a',
      '100_': '',
      '"quo*': '',
      '*sure*': 'a',
      'near and or': 'a',
      'AND OR (': 'a',
      'sure OR tokyo': '',
      records_x: 'b',
      recordsxx: '',
      "'; --": '',
      '\\\\\\': '',
      '"""': '',
      'text:über': '',
      '\0\0\0': '',
    }
    for (const [words, ids] of Object.entries(expected))
      assert.equal(await found(log, words), ids, words)
  })

  check('finds one and two characters', async (log) => {
    for (const [id, text] of Object.entries(TEXTS)) await log.append(id, [chat('x'), chat(text)])
    const expected: Record<string, string> = {
      東京: 'c',
      '😀': 'c',
      Ü: 'a',
      ',': 'd',
      '%': 'a',
      _: 'b',
      '€': '',
    }
    for (const [words, ids] of Object.entries(expected))
      assert.equal(await found(log, words), ids, words)
  })

  check('finds titles, and only texts of chat messages', async (log) => {
    const parts = {
      content_type: 'multipart/mixed',
      content: [{ type: 'text', text: 'in a part' }],
    }
    await log.append('a', [chat('m', parts)])
    await log.append('b', [chat('hidden', { message_type: 'log', metadata: { x: 'hidden' } })])
    await log.append('c', [chat('m', { content: { hidden: 1 }, content_type: 'application/json' })])
    await log.create('d')
    await log.rename('d', 'Holiday plans')
    assert.equal(await found(log, 'IN A PART'), 'a')
    assert.equal(await found(log, 'hidden'), '')
    assert.equal(await found(log, 'holiday'), 'd')
    await log.rename('d', 'Work plans')
    assert.equal(await found(log, 'holiday'), '')
    assert.equal(await found(log, 'pl'), 'd')
    await log.rename('d', null)
    assert.equal(await found(log, 'plans'), '')
  })

  check('finds what is there now, page by page', async (log) => {
    await log.append('a', [chat('needle one')])
    assert.equal(await found(log, 'needle'), 'a')
    await log.append('b', [chat('hay'), chat('a needle')])
    await log.append('c', [chat('hay')])
    await log.scoped('n').append('a', [chat('needle')])
    assert.equal(await found(log, 'needle'), 'ab')
    assert.equal(await found(log, 'ne'), 'ab')
    const first = await log.list({ search: 'needle', limit: 1 })
    const second = await log.list({ search: 'needle', limit: 1, cursor: first.next })
    const both = [...first.conversations, ...second.conversations].map(({ id }) => id)
    assert.deepEqual(both.sort(), ['a', 'b'])
    assert.equal(second.next, null)
    await log.delete('a')
    assert.equal(await found(log, 'needle'), 'b')
  })
}

async function found(log: ConversationLog, search: string): Promise<string> {
  const { conversations } = await log.list({ search })
  return conversations
    .map(({ id }) => id)
    .sort()
    .join('')
}
