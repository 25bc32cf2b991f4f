import { describe, expect, it } from 'vitest'
import { createBoard } from '../core/board/board.ts'
import type { Compaction } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { placeCompact } from './place-compact.ts'
import { Placer } from './placer.ts'

/** Returns the note about the messages before the last one. */
function noteOf(earlier: number, summary?: Compaction['summary']): string {
  const messages = Array.from({ length: earlier + 1 }, (_, i) =>
    toMessage({ role: 'user', content: `Question ${i}` }),
  )
  const { id: from = '' } = messages.at(-1) ?? {}
  const placer = new Placer(new Map(), { guide: () => null })
  placeCompact(
    placer,
    { messages, board: createBoard(messages), isMerged: false, known: new Map() },
    { reason: 'size', through: from, from, wholeFrom: null, pinned: [], media: null, summary },
  )
  const [first] = placer.items
  return first?.type === 'user'
    ? first.parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
    : ''
}

describe('placeCompact', () => {
  it('says how many messages are omitted, with the right plural', () => {
    expect(noteOf(1)).toBe('[1 earlier message omitted]')
    expect(noteOf(2)).toBe('[2 earlier messages omitted]')
    const summary = { text: 'They said hello.', messages: 1 }
    expect(noteOf(2, summary)).toBe(
      '[Summary of 1 earlier message]\nThey said hello.\n[1 more message omitted]',
    )
    expect(noteOf(4, { ...summary, messages: 2 })).toBe(
      '[Summary of 2 earlier messages]\nThey said hello.\n[2 more messages omitted]',
    )
  })
})
