import { describe, expect, it } from 'vitest'
import { fromHistory } from './from-history.ts'

const call = { id: 'c1', name: 'weather', arguments: { city: 'Oslo' } }

describe('fromHistory', () => {
  it('reads calls and results of the AI SDK', () => {
    const providerOptions = { anthropic: { signature: 'x' } }
    const [answer, ...others] = fromHistory({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm', providerOptions },
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Oslo' } },
      ],
    })
    expect(others).toEqual([])
    expect(answer).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'I look.' }],
      metadata: {
        tool_calls: [call],
        reasoning: [{ text: 'Hm', provider_metadata: providerOptions }],
      },
    })
    const results = fromHistory({
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'weather',
          output: { type: 'json', value: { degrees: 21 } },
        },
        {
          type: 'tool-result',
          toolCallId: 'c2',
          toolName: 'pay',
          output: { type: 'execution-denied' },
        },
        {
          type: 'tool-result',
          toolCallId: 'c3',
          toolName: 'pay',
          output: { type: 'error-json', value: { no: 1 } },
        },
      ],
    })
    expect(results).toMatchObject([
      {
        role: 'tool',
        name: 'weather',
        content: { degrees: 21 },
        content_type: 'application/json',
        message_type: 'note',
        metadata: { tool_result: { tool_call_id: 'c1' } },
      },
      {
        content: null,
        metadata: { tool_result: { tool_call_id: 'c2', error: { code: 'approval_denied' } } },
      },
      {
        metadata: { tool_result: { error: { code: 'tool_failed', message: '{"no":1}' } } },
      },
    ])
  })

  it('reads results among the parts of an answer, where the AI SDK puts those of the provider', () => {
    const converted = fromHistory({
      role: 'assistant',
      content: [
        { type: 'tool-call', toolCallId: 's', toolName: 'search', input: {} },
        {
          type: 'tool-result',
          toolCallId: 's',
          toolName: 'search',
          output: { type: 'text', value: 'Found' },
        },
      ],
    })
    expect(converted).toMatchObject([
      { content: '', metadata: { tool_calls: [{ id: 's' }] } },
      {
        content: 'Found',
        content_type: 'text/plain',
        metadata: { tool_result: { tool_call_id: 's' } },
      },
    ])
  })

  it("reads calls and results of OpenAI's chat completions", () => {
    const [answer] = fromHistory({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'weather', arguments: '{"city":"Oslo"}' },
        },
      ],
    })
    expect(answer).toEqual({
      role: 'assistant',
      content: '',
      metadata: { tool_calls: [{ ...call, arguments: '{"city":"Oslo"}' }] },
    })
    const [result] = fromHistory({ role: 'tool', tool_call_id: 'c1', content: '{"degrees":21}' })
    expect(result).toMatchObject({
      role: 'tool',
      content: '{"degrees":21}',
      metadata: { tool_result: { tool_call_id: 'c1' } },
    })
    expect(result).not.toHaveProperty('tool_call_id')
  })

  it.each([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    // Only a caller in this process may write calls and results.
    { role: 'user', content: [{ type: 'tool-result', toolCallId: 'c1', output: {} }] },
    {
      sender: { role: 'tool' },
      content: [{ type: 'tool-result', toolCallId: 'c1', output: {} }],
    },
  ])('returns any other message unchanged: %j', (message) => {
    expect(fromHistory(message)[0]).toBe(message)
  })

  it('rejects a call without an id', () => {
    const content = [{ type: 'tool-call', toolName: 'weather', input: {} }]
    expect(() => fromHistory({ role: 'assistant', content })).toThrow('has no id')
  })
})
