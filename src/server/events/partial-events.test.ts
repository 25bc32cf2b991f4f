import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../../core/events/events.ts'
import { PartialEvents } from './partial-events.ts'

const text = (messageId: string, delta: string): ConversationEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
]

function step(messageId: string): ConversationEvent {
  return { type: 'STEP_STARTED', stepName: 'step', runId: 'r', messageId }
}

describe('PartialEvents', () => {
  it('contain only the text of an open step, like those of connected clients', () => {
    const partial = new PartialEvents()
    const second = text('two', 'Again')
    for (const event of [step('one'), ...text('one', 'Abandoned'), step('two'), ...second]) {
      partial.apply(event)
    }
    expect(partial.events()).toEqual(second)
  })
})
