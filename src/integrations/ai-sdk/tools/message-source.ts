import type { ModelMessage } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { createResultSource, type ValueSource } from '../../../boundary/value-source.ts'
import { outputValue } from '../output-value.ts'

/** Reads `†result#N` from the messages that the model of a call was shown: their results, by number from 1. */
export function messageSource(messages: readonly ModelMessage[], assets: Assets): ValueSource {
  const results = messages
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'))
  return createResultSource(
    results.map(({ output }) => outputValue(output)),
    assets,
  )
}
