import { isPlainObject } from '../json/json.ts'
import { formatVariable, type VariableRef } from '../refs/variable-ref.ts'
import { blockOf } from './data-block.ts'
import { isDeletedResult, type Message } from './message.ts'

/** The kind in references to results: `†result#12`. */
export const RESULT = 'result'

/** A result of the conversation. */
export interface Result {
  /** The id of the call. */
  callId: string
  /** The call's value, even if it was written to data; for a failed call, its error. */
  value: unknown
}

/** The results of a conversation, numbered from 1. */
export interface Results {
  readonly count: number
  /** Adds the next message of the conversation, of any type. */
  add(message: Message): void
  /** Returns the result with this number; null if it does not exist or was deleted. */
  at(number: number): Result | null
}

/**
 * Returns the id of the call whose result the message is; null for any other message. Results are numbered in
 * the order of their messages: the first is `†result#1`.
 */
export function resultCall({ metadata }: Pick<Message, 'metadata'>): string | null {
  const mark: unknown = metadata?.tool_result
  const id = isPlainObject(mark) ? mark.tool_call_id : null
  return typeof id === 'string' ? id : null
}

/** Returns the reference to a result, such as `†result#12`. */
export function resultName(number: number): string {
  return formatVariable({ kind: RESULT, instance: String(number) }, [])
}

/** Returns the number in a reference to a result, such as 12 in `†result#12`. NaN if it is not a number. */
export function resultNumber({ instance = '' }: Pick<VariableRef, 'instance'>): number {
  return /^\d+$/.test(instance) ? Number(instance) : Number.NaN
}

/** Creates a list of the results among messages. Adding a message takes constant time. */
export function createResults(messages: readonly Message[] = []): Results {
  const results: (Result | null)[] = []
  /** Values that calls wrote to data and whose result messages have not been added yet. */
  const written = new Map<string, unknown>()
  const all: Results = {
    get count() {
      return results.length
    },
    add(message) {
      if (isDeletedResult(message)) {
        results.push(null)
        return
      }
      const block = blockOf(message)
      if (typeof block?._call === 'string') written.set(block._call, block.data)
      const callId = resultCall(message)
      if (callId === null) return
      const value = valueIn(message, written.get(callId))
      // The data message with the value may have been deleted.
      results.push(value === undefined ? null : { callId, value })
      written.delete(callId)
    },
    at: (number) => results[number - 1] ?? null,
  }
  for (const message of messages) all.add(message)
  return all
}

function valueIn({ metadata, content }: Message, written: unknown): unknown {
  const mark = metadata.tool_result
  return mark?.error ?? (mark?.written_to === undefined ? content : written)
}
