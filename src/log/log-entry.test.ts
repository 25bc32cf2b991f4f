import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../core/events/events.ts'
import { splitDebug } from './log-entry.ts'

const said = (metadata: unknown, id: unknown = 'a') =>
  ({ type: 'NEW_MESSAGE', payload: { id, content: 'x', metadata } }) as unknown as ConversationEvent

describe('splitDebug', () => {
  it('keeps any value that was given as debug data, and marks the message', () => {
    for (const debug of ['text', 0, false, [0], { a: undefined, b: 1 }]) {
      const { event, debug: kept } = splitDebug(said({ before: 1, debug, after: 2 }))
      expect(kept?.[0]).toBe('a')
      expect(JSON.stringify(kept?.[1])).toBe(JSON.stringify(debug))
      expect(JSON.stringify(event)).toContain('{"before":1,"has_debug_data":true,"after":2}')
    }
  })

  it('treats empty debug data as none', () => {
    for (const debug of [{}, [], '', null, undefined]) {
      const { event, debug: kept } = splitDebug(said({ debug, after: 2 }))
      expect(kept).toBeNull()
      expect(JSON.stringify(event)).toContain('"metadata":{"after":2}')
    }
  })
})
