import type { MessageMetadata } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { readMetadata } from './read-metadata.ts'

const read = (metadata: unknown) => readMetadata(message({ metadata: metadata as MessageMetadata }))

describe('readMetadata', () => {
  it('takes a single footer as a list of one, and keeps order and duplicates', () => {
    expect(read({ footer_items: 'one' }).footer).toEqual(['one'])
    expect(read({ footer_items: ['b', 'a', 'b'] }).footer).toEqual(['b', 'a', 'b'])
    expect(read({ footer_items: [] })).toMatchObject({ footer: [], problems: [] })
  })

  it('leaves out what is malformed, and says so', () => {
    const odd = read({
      attribution: 7,
      footer_items: ['ok', 3, {}],
      tool_calls: 'none',
      attachments: [{ x: 1 }],
      tool_result: 'done',
    })
    expect(odd).toMatchObject({ attribution: null, footer: ['ok'], calls: [], attachments: [] })
    expect(odd.result).toBeNull()
    expect(odd.problems).toHaveLength(5)
  })

  it('survives metadata that is none at all', () => {
    for (const metadata of [null, undefined, 'text', 3, []]) {
      expect(read(metadata)).toMatchObject({ calls: [], problems: [] })
    }
  })

  it('reads arguments in every form that senders use', () => {
    const forms = [{ a: 1 }, '{"a":1}', null, undefined, '', 'not json', [1]]
    const { calls } = read({
      tool_calls: forms.map((value, index) => ({ id: `${index}`, name: 'x', arguments: value })),
    })
    expect(calls.map((call) => call.arguments)).toEqual([
      { a: 1 },
      { a: 1 },
      {},
      {},
      {},
      { arguments: 'not json' },
      { arguments: [1] },
    ])
  })

  it('shows no empty attribution', () => {
    expect(read({ attribution: '  ' }).attribution).toBeNull()
    expect(read({ attribution: 'via mail' }).attribution).toBe('via mail')
  })
})
