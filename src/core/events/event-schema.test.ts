import { describe, expect, it } from 'vitest'
import { eventProblem } from './event-schema.ts'
import { type ConversationEvent, isDurable } from './events.ts'
import { oddEvents, SOUND_EVENTS } from './fixtures/sound-events.ts'
import { createFold } from './fold.ts'

describe('eventProblem', () => {
  it('accepts valid events, and fields that a later version may add', () => {
    for (const event of SOUND_EVENTS) {
      expect(eventProblem(event)).toBeNull()
      expect(eventProblem({ ...event, later: { it: 'knows' } })).toBeNull()
      expect(isDurable(event)).toBe(true)
    }
    expect(eventProblem({ type: 'OF_A_LATER_VERSION', x: 1 })).toBeNull()
  })

  it('reports where an event is invalid, and what is expected', () => {
    const said = (event: unknown): string | null => eventProblem(event)
    expect(said(null)).toBe('the event must be an object, not null')
    expect(said({})).toBe('type is missing: it must be text that is not empty')
    expect(said({ type: 'NEW_MESSAGE' })).toBe('payload is missing: it must be an object')
    expect(said({ type: 'TEXT_MESSAGE_END', messageId: 'm' })).toMatch(/cannot be stored/)
    const started = { ...SOUND_EVENTS[1], messageIds: ['m', 5] }
    expect(said(started)).toBe('messageIds[1] must be text, not 5')
    const data = structuredClone(SOUND_EVENTS[3]) as { payload: { content: object } }
    Object.assign(data.payload.content, { _outputMethod: 'explode' })
    expect(said(data)).toMatch(/^payload\.content: .*explode.*_outputMethod: one of set, merge/)
  })

  it('rejects anything that cannot be folded, wherever it is', () => {
    let passed = 0
    let refused = 0
    for (const { path, event } of oddEvents()) {
      if (eventProblem(event) !== null) {
        refused++
        continue
      }
      passed++
      const events = SOUND_EVENTS.map((sound) => (sound.type === event.type ? event : sound))
      const fold = createFold()
      let position = 0
      const take = (one: unknown): void => {
        const timestamp = '2026-01-31T12:00:00.000Z'
        fold.apply({ v: 1, position: ++position, timestamp, event: one as ConversationEvent })
      }
      try {
        for (const one of [...events, ...events.toReversed(), event]) take(one)
        fold.snapshot()
      } catch (cause) {
        throw new Error(`${path}: ${JSON.stringify(event).slice(0, 300)}`, { cause })
      }
    }
    expect(passed).toBeGreaterThan(100)
    expect(refused).toBeGreaterThan(1000)
  })
})
