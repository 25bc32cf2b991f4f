import { describe, expect, it } from 'vitest'
import { createBoard } from '../core/board/board.ts'
import type { AssetCreated, Compaction } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { leftOut, placeCompact } from './place-compact.ts'
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

describe('leftOut', () => {
  it('contains neither messages of the system nor open questions', () => {
    const said = (id: string, role: string) => toMessage({ id, role, content: id })
    const messages = [
      said('rule', 'system'),
      said('old', 'user'),
      said('a1', 'assistant'),
      said('pinned', 'user'),
      said('question', 'user'),
      said('a2', 'assistant'),
      said('a3', 'assistant'),
    ]
    const ids = (from: string) =>
      leftOut(messages, { from, pinned: ['pinned'] }).map(({ id }) => id)
    expect(ids('a3')).toEqual(['old', 'a1', 'a2'])
    expect(ids('question')).toEqual(['old', 'a1'])
  })
})

describe('placeCompact', () => {
  it('names the files of the messages that are left out, but not those that are shown', () => {
    const file = (id: string): AssetCreated => ({
      assetId: id,
      ref: `asset://${id}`,
      mime: 'application/pdf',
      kind: 'file',
      size: 3,
      name: `${id}.pdf`,
      by: 'user',
    })
    const said = (content: string, ...ids: string[]) =>
      toMessage({
        id: content,
        role: 'user',
        content,
        metadata: { attachments: ids.map((id) => ({ assetRef: `asset://${id}` })) },
      })
    const messages = [said('one', 'old', 'both'), said('two'), said('three', 'both')]
    const known = new Map(['old', 'both'].map((id) => [`asset://${id}`, file(id)]))
    const assets = new Map([...known].map(([ref, asset]) => [ref, { asset, after: 0 }]))
    const placer = new Placer(assets, { guide: () => null })
    placeCompact(
      placer,
      { messages, board: createBoard(messages), isMerged: false, known },
      {
        reason: 'size',
        through: 'three',
        from: 'three',
        wholeFrom: null,
        pinned: [],
        media: null,
        summary: undefined,
      },
    )
    const text = JSON.stringify(placer.items[0])
    expect(text).toContain('[Saved file: asset_id=\\"old\\" name=\\"old.pdf\\"')
    expect(text).not.toContain('both')
  })

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
