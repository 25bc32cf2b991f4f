import { describe, expect, it } from 'vitest'
import { tombstoneOf } from './message.ts'
import { createResults, resultCall, resultName } from './results.ts'
import { toMessage } from './to-message.ts'

const result = (id: unknown, content: unknown, mark: object = {}) =>
  toMessage({ content, metadata: { tool_result: { tool_call_id: id, ...mark } } })

describe('resultCall', () => {
  it('is the call that a message answers, whatever else is in its metadata', () => {
    expect(resultCall(result('c1', 'x'))).toBe('c1')
    expect(resultCall(toMessage({ type: 'text', text: 'x' }))).toBeNull()
    for (const tool_result of ['c1', 7, null, [], { tool_call_id: 7 }]) {
      expect(resultCall(toMessage({ content: 'x', metadata: { tool_result } }))).toBeNull()
    }
    expect(resultCall({ metadata: null as never })).toBeNull()
  })
})

describe('createResults', () => {
  it('counts results from 1, and returns the value of each', () => {
    const results = createResults()
    results.add(toMessage({ type: 'text', text: 'x' }))
    results.add(result('c1', { n: 1 }))
    results.add(result('c2', null, { error: { code: 'tool_failed', message: 'no' } }))
    expect(results.count).toBe(2)
    expect([results.at(0), results.at(3), results.at(Number.NaN)]).toEqual([null, null, null])
    expect(results.at(1)).toEqual({ callId: 'c1', value: { n: 1 } })
    expect(results.at(2)?.value).toEqual({ code: 'tool_failed', message: 'no' })
    expect(resultName(12)).toBe('†result#12')
  })

  it('returns what a call wrote to the data as its value', () => {
    const results = createResults()
    results.add(toMessage({ type: 'state', state: [1, 2], _call: 'c1', _path: 'list' }))
    results.add(result('c1', { preview: '…' }, { written_to: ['†state.list'] }))
    results.add(result('c1', { own: 'words' }))
    expect(results.at(1)?.value).toEqual([1, 2])
    expect(results.at(2)?.value).toEqual({ own: 'words' })
  })

  it('keeps the numbers of deleted results, and has no value for them', () => {
    const results = createResults()
    results.add(tombstoneOf(result('c1', 'x'), { isResult: true }))
    results.add(tombstoneOf(toMessage({ content: 'x' }), { isResult: false }))
    results.add(result('c2', 'y'))
    // The data that this call wrote was deleted.
    results.add(result('c3', 'preview', { written_to: ['†state.gone'] }))
    expect(results.count).toBe(3)
    expect([1, 2, 3].map((n) => results.at(n)?.value ?? null)).toEqual([null, 'y', null])
  })
})
