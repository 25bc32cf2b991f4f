import type { ModelMessage } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import type { ReadableData } from '../../../boundary/data-reader.ts'
import { createBoard } from '../../../core/board/board.ts'
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
  const session = {
    board: createBoard([]),
    results: { count: results.length, at },
    state: { calls: {} },
  }
  return { session, assets, hasOutputs: false }
}
