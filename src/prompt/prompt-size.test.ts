import { describe, expect, it } from 'vitest'
import { createBoard } from '../core/board/board.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { compactionDue, promptTokens } from './prompt-builder.ts'
import { Transcript } from './transcript.ts'

const ids = { runId: 'r', threadId: 'c' }
const usage = { inputTokens: 50_000, outputTokens: 10 }
const said = (id: string, role: string, content: string): ConversationEvent => {
  return { type: 'NEW_MESSAGE', payload: toMessage({ id, role, content }) }
}
const events: ConversationEvent[] = [
  said('long', 'user', 'word '.repeat(40_000)),
  { type: 'RUN_STARTED', ...ids, messageIds: ['long'], owner: 'o' },
  { type: 'STEP_STARTED', stepName: 's', runId: 'r', messageId: 'a' },
  said('a', 'assistant', 'Short.'),
  { type: 'STEP_FINISHED', stepName: 's', runId: 'r', messageId: 'a', usage, finishReason: 'stop' },
  { type: 'RUN_FINISHED', ...ids, result: { reason: 'done', usage } },
]

function tokensAfter(...more: ConversationEvent[]): number {
  const records = [...events, ...more].map((event, i) => {
    return { v: 1 as const, position: i + 1, timestamp: '2026-01-01T00:00:00.000Z', event }
  })
  const state = foldAll(emptyConversation, records)
  const transcript = new Transcript({ guide: () => null })
  transcript.update({ state, board: createBoard([]) })
  return promptTokens(transcript, state)
}

describe('promptTokens', () => {
  it('uses the last count of the provider, until that message is deleted', () => {
    expect(tokensAfter()).toBeGreaterThan(50_000)
    expect(tokensAfter(said('b', 'user', 'More?'))).toBeGreaterThan(50_000)
    expect(tokensAfter({ type: 'MESSAGE_DELETED', messageId: 'long' })).toBeLessThan(100)
  })

  it('counts files that are still to come, but no texts', () => {
    const transcript = new Transcript({ guide: () => null })
    const state = foldAll(emptyConversation, [])
    const budget = { tokens: 100_000, mediaParts: 1, mediaBytes: 1e9 }
    const due = (kind: 'image' | 'file', mimeType: string) => {
      const attachments = ['a', 'b'].map((id) => ({ kind, assetRef: `asset://${id}`, mimeType }))
      const message = toMessage({ role: 'user', content: 'See', metadata: { attachments } })
      return compactionDue(transcript, state, { budget, now: 0, pending: [message] })
    }
    expect(due('image', 'image/png')).toBe('media')
    expect(due('file', 'text/plain')).toBe(null)
  })

  it('does not use a count of several requests', () => {
    const next = { ...usage, inputTokens: 120_000 }
    const more = (about: { requests?: number }) =>
      tokensAfter(
        { type: 'RUN_STARTED', ...ids, runId: 's', messageIds: ['long'], owner: 'o' },
        { type: 'STEP_STARTED', stepName: 's', runId: 's', messageId: 'b' },
        said('b', 'assistant', 'Short.'),
        {
          type: 'STEP_FINISHED',
          stepName: 's',
          runId: 's',
          messageId: 'b',
          usage: next,
          finishReason: 'stop',
          ...about,
        },
      )
    expect(more({})).toBeGreaterThan(120_000)
    expect(more({ requests: 2 })).toBeLessThan(100_000)
  })

  it('counts messages that are still to come as growth', () => {
    const transcript = new Transcript({ guide: () => null })
    const state = foldAll(emptyConversation, [])
    const shown = { ...transcript.shown, tokens: 50_500, base: 50_000 }
    const budget = { tokens: 100_000, mediaParts: 20, mediaBytes: 1e9 }
    const due = (pending: string) => {
      const message = toMessage({ role: 'user', content: pending })
      const asked = { budget, now: 0, pending: [message] }
      return compactionDue({ ...transcript, shown } as Transcript, state, asked)
    }
    expect(due('x'.repeat(400_000))).toBe('size')
    expect(due('x')).toBe(null)
  })

  it('counts JSON like text, also in other scripts', () => {
    const text = '雨が降る'.repeat(5_000)
    const [asText, asJson] = [text, { text }].map((content) => {
      return tokensAfter({ type: 'NEW_MESSAGE', payload: toMessage({ role: 'user', content }) })
    })
    expect(asJson).toBeGreaterThanOrEqual(asText as number)
  })
})
