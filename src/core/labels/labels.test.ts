import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../events/events.ts'
import { toMessage } from '../messages/to-message.ts'
import { createLabels } from './labels.ts'

const place = { type: 'variable' as const, kind: 'state', path: ['a'] }

function write(data: unknown, label?: object): ConversationEvent {
  return {
    type: 'NEW_MESSAGE',
    payload: toMessage({ type: 'data', kind: 'state', _path: ['a'], data }),
    ...(label ? { label } : {}),
  }
}

describe('createLabels', () => {
  it('includes expected writes until they are rewound', () => {
    const labels = createLabels()
    labels.apply({ event: write('ours') })
    const theirs = write('theirs', { integrity: 'untrusted' })
    labels.putAhead([theirs])
    expect(labels.variable(place).integrity).toBe('untrusted')
    labels.rewind()
    expect(labels.variable(place).integrity).toBe('trusted')
    labels.putAhead([theirs])
    labels.apply({ event: theirs })
    expect(labels.variable(place).integrity).toBe('untrusted')
    labels.apply({ event: write('ours again') })
    expect(labels.variable(place).integrity).toBe('trusted')
  })

  it('labels values without a label by their sender', () => {
    const labels = createLabels()
    const said = (participant_role: string) => {
      const sender = { participant_id: 'x', participant_role }
      const message = toMessage({ sender, content_type: 'text/plain', content: 'hello' } as never)
      labels.apply({ event: { type: 'NEW_MESSAGE', payload: message } })
      return labels.message(message.id).label.integrity
    }
    expect(['user', 'system', 'guest', 'tool'].map(said)).toEqual([
      'trusted',
      'trusted',
      'untrusted',
      'untrusted',
    ])
  })

  it('joins the labels of a list from which a person deletes an item, because the others move', () => {
    const labels = createLabels()
    const put = (more: object, label?: object) => {
      const payload = toMessage({ type: 'data', kind: 'state', ...more })
      labels.apply({ event: { type: 'NEW_MESSAGE', payload, ...(label ? { label } : {}) } })
    }
    put({ _path: ['a', 0], data: 'ours' })
    put({ _path: ['a', 1], data: 'theirs' }, { integrity: 'untrusted' })
    const first = { ...place, path: ['a', 0] }
    expect(labels.variable(first).integrity).toBe('trusted')
    put({ _path: ['a', 0], _outputMethod: 'delete' })
    expect(labels.variable(first).integrity).toBe('untrusted')
  })

  it('treats an unreadable label as the strictest', () => {
    const labels = createLabels()
    labels.apply({ event: write('x', { integrity: 'very' }) })
    expect(labels.variable(place)).toMatchObject({ integrity: 'untrusted', readers: [] })
  })
})

describe('the budget of a run in labels', () => {
  const reveal = (toolCallId: string, bits: number) => ({ toolCallId, runId: 'r', bits })
  const log = (toolCallId: string, bits: number): { event: ConversationEvent } => {
    return { event: { type: 'DECLASSIFIED', ...reveal(toolCallId, bits), question: '' } }
  }

  it('counts what is logged and what calls have reserved', () => {
    const labels = createLabels()
    expect(labels.reserve(reveal('a', 3), 5)).toBe(3)
    expect(labels.reserve(reveal('b', 3), 5)).toBe(null)
    expect(labels.reserve({ ...reveal('b', 3), runId: 'other' }, 5)).toBe(3)
    labels.release('a')
    expect(labels.reserve(reveal('b', 3), 5)).toBe(3)
    labels.apply(log('b', 3))
    expect(labels.declassified('r')).toBe(3)
    expect(labels.reserve(reveal('c', 3), 5)).toBe(null)
    expect(labels.reserve(reveal('c', 2), 5)).toBe(2)
  })

  it('does not count the logged bits of a call again, unless its id names another call', () => {
    const labels = createLabels()
    labels.apply(log('a', 3))
    expect(labels.reserve(reveal('a', 3), 5)).toBe(0)
    expect(labels.reserve(reveal('a', 5), 5)).toBe(2)
    const call = { id: 'a', name: 'act', arguments: {} }
    const ids = { toolCallId: 'a', runId: 'r', parentMessageId: 'm' }
    labels.apply({ event: { type: 'TOOL_CALL_END', ...ids, call } })
    expect(labels.reserve(reveal('a', 3), 5)).toBe(null)
  })
})
