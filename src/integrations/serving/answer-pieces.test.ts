import { describe, expect, it } from 'vitest'
import { generatedLog } from '../../agent/fixtures/generated-log.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { ToolCall } from '../../core/messages/message.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import { type AnswerPiece, AnswerPieces } from './answer-pieces.ts'

const start = (messageId: string): ConversationEvent => {
  return { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
}
const write = (messageId: string, delta: string): ConversationEvent => {
  return { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
}
const end = (messageId: string): ConversationEvent => ({ type: 'TEXT_MESSAGE_END', messageId })
const keep = (id: string, content: string, calls: readonly ToolCall[] = []): ConversationEvent => {
  const metadata = { tool_calls: [...calls] }
  return { type: 'NEW_MESSAGE', payload: toMessage({ id, role: 'assistant', content, metadata }) }
}
const call = (id: string): ConversationEvent => ({
  type: 'TOOL_CALL_END',
  toolCallId: id,
  runId: 'r',
  parentMessageId: 'm',
  call: { id, name: 'sum', arguments: { n: 1 } },
})

/** The pieces of these events. At the end, open pieces are ended. */
function piecesOf(events: readonly ConversationEvent[]): AnswerPiece[] {
  const pieces = new AnswerPieces()
  return [...events.flatMap((event) => pieces.take(event)), ...pieces.finish()]
}

const textOf = (pieces: readonly AnswerPiece[]): string =>
  pieces.map((piece) => (piece.type === 'text-delta' ? piece.delta : '')).join('')

describe('AnswerPieces', () => {
  it('reports a text that continues after a call', () => {
    const pieces = piecesOf([
      ...[start('m'), write('m', 'Let me see. '), end('m'), call('a')],
      ...[write('m', 'I add.'), end('m'), keep('m', 'Let me see. I add.')],
    ])
    expect(textOf(pieces)).toBe('Let me see. I add.')
    expect(pieces.map(({ type }) => type)).toEqual([
      ...['text-start', 'text-delta', 'text-end', 'call-start', 'call-end'],
      ...['text-start', 'text-delta', 'text-end', 'answer'],
    ])
    expect(pieces.filter(({ type }) => type === 'text-end')).toMatchObject([
      { id: 'm', messageId: 'm', text: 'Let me see. ', isCut: false },
      { id: 'm-2', messageId: 'm', text: 'I add.', isCut: false },
    ])
  })

  it('reports the whole of what it did not see start, and the rest of what it did not see end', () => {
    expect(textOf(piecesOf([write('m', 'end.'), keep('m', 'To the end.')]))).toBe('To the end.')
    expect(textOf(piecesOf([start('m'), write('m', 'To'), keep('m', 'To the end.')]))).toBe(
      'To the end.',
    )
    expect(piecesOf([call('a')])).toMatchObject([
      { type: 'call-start', id: 'a', name: 'sum' },
      { type: 'call-end', rest: '{"n":1}' },
    ])
  })

  it('ends a call that was cut off with its own answer, and not with another message', () => {
    const began = { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'sum' } as const
    const pieces = piecesOf([
      call('b'),
      { ...began, parentMessageId: 'm' },
      keep('other', 'Said elsewhere.', [{ id: 'c', name: 'sum', arguments: {} }]),
      keep('m', '', [{ id: 'b', name: 'sum', arguments: { n: 1 } }]),
    ])
    expect(pieces.map(({ type }) => type).filter((type) => !type.startsWith('text'))).toEqual([
      ...['call-start', 'call-end', 'call-start', 'answer', 'call-cut', 'answer'],
    ])
  })

  it('ends what is cut off', () => {
    const began = { type: 'TOOL_CALL_START', toolCallId: 'a', toolCallName: 'sum' } as const
    const pieces = piecesOf([
      ...[start('m'), write('m', 'Let me'), { ...began, parentMessageId: 'm' }],
    ])
    expect(pieces.slice(-2)).toMatchObject([
      { type: 'text-end', id: 'm', text: 'Let me', isCut: true },
      { type: 'call-cut', id: 'a' },
    ])
  })

  it('starts and ends each text and call once, whatever happens', () => {
    let begun = 0
    for (let seed = 1; seed <= 100; seed++) {
      const open = new Set<string>()
      for (const { type, ...piece } of piecesOf(
        generatedLog(seed, 60).events.map(({ event }) => event),
      )) {
        const [what, how] = type.split('-')
        const key = `${what} ${'id' in piece ? piece.id : ''}`
        if (how === 'start') {
          begun++
          expect(open.has(key)).toBe(false)
          open.add(key)
        } else if (how !== undefined) expect(open.has(key)).toBe(true)
        if (how === 'end' || how === 'cut') open.delete(key)
      }
      expect([...open]).toEqual([])
    }
    expect(begun).toBeGreaterThan(100)
  })
})
