import { describe, expect, it } from 'vitest'
import { isDeleted, isDeletedResult, tombstoneOf } from './message.ts'
import { readMetadata } from './read-metadata.ts'
import { toMessage } from './to-message.ts'

const said = toMessage({
  id: 'm',
  role: 'assistant',
  name: 'Bot',
  content: 'secret',
  receiver: { role: 'user' },
  own: 'secret',
  timestamp: '2026-01-01T00:00:00.000Z',
  metadata: { footer_items: ['secret'], tool_calls: [{ id: 'c', name: 'x', arguments: {} }] },
} as never)

describe('tombstoneOf', () => {
  it('keeps the sender and the time, and nothing else', () => {
    const tombstone = tombstoneOf(said, { isResult: false })
    expect(tombstone).toEqual({
      id: 'm',
      sender: { participant_id: 'Bot', participant_role: 'assistant', name: 'Bot' },
      message_type: 'chat',
      content_type: 'text/plain',
      content: '',
      timestamp: '2026-01-01T00:00:00.000Z',
      metadata: { deleted: true },
    })
    expect(readMetadata(tombstone)).toMatchObject({ calls: [], problems: [] })
    expect(toMessage(tombstone)).toEqual(tombstone)
  })

  it('is a deleted message, and a deleted result only if it was one', () => {
    const [plain, result] = [false, true].map((isResult) => tombstoneOf(said, { isResult }))
    expect([said, plain, result].map((one) => isDeleted(one as never))).toEqual([false, true, true])
    expect([said, plain, result].map((one) => isDeletedResult(one as never))).toEqual([
      ...[false, false, true],
    ])
  })
})

describe('isDeleted', () => {
  it('is false for a message with content that claims to be deleted', () => {
    const metadata = { deleted: true }
    expect(isDeleted(toMessage({ content: 'there', metadata }))).toBe(false)
    expect(isDeleted(toMessage({ content: { a: 1 }, metadata }))).toBe(false)
    expect(isDeleted(toMessage({ content: '', metadata: { deleted: 'yes' } }))).toBe(false)
    expect(isDeleted({ content: '', metadata: null as never })).toBe(false)
  })
})
