import type { LogRecord } from '../content/events.ts'

type Listener = (conversation: string, records: readonly LogRecord[]) => void

/** The subscribers of one log. A listener that is removed while others are told is not told any more. */
export function listeners(): { add(listener: Listener): () => void; tell: Listener } {
  const all = new Set<{ listener: Listener }>()
  return {
    add(listener) {
      const entry = { listener }
      all.add(entry)
      return () => {
        all.delete(entry)
      }
    },
    tell(conversation, records) {
      if (records.length === 0) return
      for (const { listener } of all) listener(conversation, records)
    },
  }
}
