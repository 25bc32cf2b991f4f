import type { ModelMessage } from 'ai'
import type { ReadableData } from '../../../agent/calls/data-reader.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { createBoard } from '../../../content/board.ts'
import { outputValue } from '../output-value.ts'

/** What `†` names in a call: the results among the messages that its model was shown, by their numbers from 1. */
export function earlierResults(messages: readonly ModelMessage[], assets: Assets): ReadableData {
  const results = messages
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'))
  const at = (number: number) => {
    const result = results[number - 1]
    return result ? { callId: result.toolCallId, value: outputValue(result.output) } : null
  }
  const thread = {
    board: createBoard([]),
    results: { count: results.length, at },
    state: { calls: {} },
  }
  return { thread, assets, hasOutputs: false }
}
