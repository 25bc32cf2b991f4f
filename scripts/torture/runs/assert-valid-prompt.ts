import assert from 'node:assert/strict'
import type { LanguageModelV4Prompt } from '@ai-sdk/provider'

/**
 * Checks what every provider requires: each answer with calls is followed by one message with exactly one result for
 * each of them, in their order, there is no other result, and call ids are unique.
 */
export function assertValidPrompt(prompt: LanguageModelV4Prompt): void {
  const ids = new Set<string>()
  for (const [i, message] of prompt.entries()) {
    if (message.role === 'tool')
      assert.equal(prompt[i - 1]?.role, 'assistant', 'results of no calls')
    if (message.role !== 'assistant') continue
    const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? part : []))
    const next = prompt[i + 1]
    const results = next?.role === 'tool' ? next.content : []
    assert.deepEqual(
      results.map((part) => (part.type === 'tool-result' ? part.toolCallId : part.type)),
      calls.map(({ toolCallId }) => toolCallId),
      'each call has exactly one result',
    )
    for (const { toolCallId } of calls) {
      assert.ok(!ids.has(toolCallId), `the call ${toolCallId} is there twice`)
      ids.add(toolCallId)
    }
  }
}
