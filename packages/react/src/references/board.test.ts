import { describe, expect, it } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { readVariable } from './board.ts'

const write = (id: string, data: unknown) =>
  message({ id, content_type: 'data', content: { type: 'data', kind: 'state', data } })

describe('readVariable', () => {
  it('reads values of the board, and nothing of a message that was deleted meanwhile', () => {
    const parts = [write('a', { n: 1 }), write('b', { n: 2, m: 2 }), message({ id: 'c' })]
    const before = stateOf(...parts).messages
    expect(readVariable(before, '†state.n')).toEqual({ value: 2 })
    expect(readVariable(before, '†state.n', 'a')).toEqual({ value: 1 })
    const { messages } = stateOf(...parts, { type: 'MESSAGE_DELETED', messageId: 'b' })
    expect(readVariable(messages, '†state.n')).toEqual({ value: 1 })
    expect(readVariable(messages, '†state.n', 'b')).toEqual({ value: 1 })
    expect(readVariable(messages, '†state.m')).toHaveProperty('problem')
  })
})
