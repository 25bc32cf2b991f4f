import type { ModelMessage } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { ConversationSource } from '../../../boundary/value-source.ts'
import { createBoard } from '../../../core/board/board.ts'
import { outputValue } from '../output-value.ts'

/** Reads `†result#N` from the messages that the model of a call was shown: their results, by number from 1. */
export function messageSource(
  messages: readonly ModelMessage[],
  toolCallId: string,
  assets: Assets,
): ConversationSource {
  const found = messages
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'))
  const at = (number: number) => {
    const result = found[number - 1]
    return result ? { callId: result.toolCallId, value: outputValue(result.output) } : null
  }
  const results = { count: found.length, at }
  const from = { board: createBoard([]), results, assets, hasOutputs: false }
  return new ConversationSource(from, { id: toolCallId })
}
