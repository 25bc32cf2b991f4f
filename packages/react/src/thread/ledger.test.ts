import type { Message } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { answeredCall, ledgerOf, roundOf } from './ledger.ts'

const call = (id: string, name = 'tool') => ({ id, name, arguments: {} })

describe('ledgerOf', () => {
  it('pairs results with calls, out of order and of any message type', () => {
    const messages = [
      message({ id: 'q', metadata: { tool_calls: [call('1'), call('2')] } }),
      message({ id: 'r2', message_type: 'note', metadata: { tool_result: { tool_call_id: '2' } } }),
      message({ id: 'r1', metadata: { tool_result: { tool_call_id: '1' } } }),
    ]
    const ledger = ledgerOf(messages)
    expect(ledger.get('1')?.results).toMatchObject([{ messageId: 'r1', failed: false }])
    expect(ledger.get('2')?.results).toMatchObject([{ messageId: 'r2', failed: false }])
  })

  it('keeps every result of one call, and every use of one id', () => {
    const messages = [
      message({ metadata: { tool_calls: [call('1')] } }),
      message({ metadata: { tool_result: { tool_call_id: '1' } } }),
      message({
        metadata: { tool_result: { tool_call_id: '1', error: { code: 'x', message: 'y' } } },
      }),
      message({ metadata: { tool_calls: [call('1')] } }),
    ]
    const entry = ledgerOf(messages).get('1')
    expect(entry?.announced).toHaveLength(2)
    expect(entry?.results.map(({ failed }) => failed)).toEqual([false, true])
  })

  it('gives each use of a reused id its own results', () => {
    const again = (id: string, name: string) =>
      message({ id, metadata: { tool_calls: [call('1', name)] } })
    const result = (id: string) => message({ id, metadata: { tool_result: { tool_call_id: '1' } } })
    const messages = [
      again('a', 'first'),
      ...[result('r1'), result('r1-again')],
      again('b', 'second'),
      result('r2'),
    ]
    const ledger = ledgerOf(messages)
    const results = ledger.get('1')?.results
    expect(results?.map(({ messageId, isRepeated }) => [messageId, isRepeated])).toEqual([
      ['r1', false],
      ['r1-again', true],
      ['r2', false],
    ])
    expect(roundOf(ledger, '1', 'a')).toMatchObject({
      result: { messageId: 'r1' },
      isNewest: false,
    })
    expect(roundOf(ledger, '1', 'b')).toMatchObject({ result: { messageId: 'r2' }, isNewest: true })
    expect(answeredCall(messages[4] as Message, ledger)?.name).toBe('second')
  })

  it('does not treat the copy of the calls in a result as calls', () => {
    const result = message({
      metadata: { tool_calls: [call('1')], tool_result: { tool_call_id: '1' } },
    })
    expect(ledgerOf([result]).get('1')?.announced).toEqual([])
  })
})

describe('answeredCall', () => {
  it('looks in the message first, then in the conversation, and reports if there is none', () => {
    const asked = message({ metadata: { tool_calls: [call('1', 'asked')] } })
    const own = message({
      metadata: { tool_calls: [call('1', 'own')], tool_result: { tool_call_id: '1' } },
    })
    const bare = message({ metadata: { tool_result: { tool_call_id: '1' } } })
    const orphan = message({ metadata: { tool_result: { tool_call_id: 'tool_result_1' } } })
    const ledger = ledgerOf([asked, own, bare, orphan])
    expect(answeredCall(own, ledger)?.name).toBe('own')
    expect(answeredCall(bare, ledger)?.name).toBe('asked')
    expect(answeredCall(orphan, ledger)).toBeNull()
  })
})
