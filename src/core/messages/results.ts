import { isPlainObject } from '../json/json.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import type { DataBlock, Message } from './message.ts'
import { isDeletedResult } from './tombstone.ts'

/** The kind of the names of results: `†result#12`. */
export const RESULT = 'result'

/** A result of the conversation, by its number. */
export interface Result {
  /** The call that it answers. */
  callId: string
  /** What the call came to: its value, also where that was written among the data; the error of one that failed. */
  value: unknown
}

/** The results of a conversation, by their numbers from 1. */
export interface Results {
  readonly count: number
  /** Takes the next message of the conversation, of any kind. */
  add(message: Message): void
  /** Null where there is none yet, or none any more. */
  at(number: number): Result | null
}

/**
 * The call that a message is the result of, or null for any other message. The results of a conversation are these, in
 * the order of its messages: the first is `†result#1`.
 */
export function resultCall({ metadata }: Pick<Message, 'metadata'>): string | null {
  const mark: unknown = metadata?.tool_result
  const id = isPlainObject(mark) ? mark.tool_call_id : null
  return typeof id === 'string' ? id : null
}

/** What a result is called: `†result#12`. */
export function resultName(number: number): string {
  return formatVariable({ kind: RESULT, instance: String(number) }, [])
}

/** Begins to count results. Taking a message costs the same, however many there are. */
export function createResults(): Results {
  const results: (Result | null)[] = []
  /** What calls wrote among the data and that have no result yet. */
  const written = new Map<string, unknown>()
  return {
    get count() {
      return results.length
    },
    add(message) {
      if (isDeletedResult(message)) {
        results.push(null)
        return
      }
      const block = message.content_type === 'data' ? (message.content as DataBlock | null) : null
      if (typeof block?._call === 'string') written.set(block._call, block.data)
      const callId = resultCall(message)
      if (callId === null) return
      const value = valueIn(message, written.get(callId))
      // What it wrote among the data may be deleted.
      results.push(value === undefined ? null : { callId, value })
      written.delete(callId)
    },
    at: (number) => results[number - 1] ?? null,
  }
}

function valueIn({ metadata, content }: Message, written: unknown): unknown {
  const mark = metadata.tool_result
  return mark?.error ?? (mark?.written_to === undefined ? content : written)
}
