import type { Message } from 'byref/client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { message } from '../../testing/messages.ts'
import { auditOf } from './audit.ts'

type Part = { type: 'call' | 'result'; id: number }

const conversation = fc.array(
  fc.record<Part>({ type: fc.constantFrom('call', 'result'), id: fc.nat(6) }),
  { maxLength: 60 },
)

function messageOf({ type, id }: Part): Message {
  return type === 'call'
    ? message({ metadata: { tool_calls: [{ id: `${id}`, name: 'look', arguments: {} }] } })
    : message({ metadata: { tool_result: { tool_call_id: `${id}` } } })
}

/** The same counts, computed by looking at each id separately. */
function counted(parts: readonly Part[], open: ReadonlySet<string>) {
  const counts = { answered: 0, pending: 0, unanswered: 0, orphan: 0, duplicate: 0, reused: 0 }
  for (const id of new Set(parts.map((part) => part.id))) {
    const types = parts.filter((part) => part.id === id).map(({ type }) => type)
    const rounds = types.filter((type) => type === 'call').length
    if (rounds === 0) counts.orphan++
    else if (rounds > 1) counts.reused++
    // Results before the first call belong to its first use.
    const [first = '', ...rest] = types.join(' ').split('call')
    const answers = [`${first}${rest[0] ?? ''}`, ...rest.slice(1)].map(
      (text) => text.split('result').length - 1,
    )
    if (rounds > 0) {
      for (const count of answers) counts.duplicate += Math.max(0, count - 1)
      if ((answers.at(-1) ?? 0) > 0) counts.answered++
      else if (open.has(`${id}`)) counts.pending++
      else counts.unanswered++
    }
  }
  return counts
}

describe('auditOf', () => {
  it('agrees with an independent count, with orphans, duplicates and reused ids', () => {
    fc.assert(
      fc.property(conversation, fc.uniqueArray(fc.nat(6)), (parts, ids) => {
        const open = new Set(ids.map(String))
        const { counts } = auditOf(parts.map(messageOf), open)
        expect(counts).toMatchObject(counted(parts, open))
      }),
      { numRuns: 500 },
    )
  })

  it('names a call, its failures and their places', () => {
    const asked = message({ metadata: { tool_calls: [{ id: 'c', name: 'look', arguments: {} }] } })
    const error = { code: 'tool_failed', message: 'no' }
    const failed = message({ metadata: { tool_result: { tool_call_id: 'c', error } } })
    const { calls, counts } = auditOf([asked, failed], new Set())
    expect(counts).toMatchObject({ answered: 1, failed: 1 })
    expect(calls).toEqual([
      {
        id: 'c',
        name: 'look',
        announced: [asked.id],
        state: 'answered',
        results: [{ messageId: failed.id, failed: true, state: 'answer' }],
      },
    ])
  })
})
