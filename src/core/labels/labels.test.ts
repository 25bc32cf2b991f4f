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
    labels.expect([theirs])
    expect(labels.variable(place).integrity).toBe('untrusted')
    labels.rewind()
    expect(labels.variable(place).integrity).toBe('trusted')
    labels.expect([theirs])
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

  it('treats an unreadable label as the strictest', () => {
    const labels = createLabels()
    labels.apply({ event: write('x', { integrity: 'very' }) })
    expect(labels.variable(place)).toMatchObject({ integrity: 'untrusted', readers: [] })
  })
})
