import { describe, expect, it } from 'vitest'
import { fromHistory } from './from-history.ts'
import type { Message } from './message.ts'
import { type MessageInput, toMessage } from './to-message.ts'

const converted = (...messages: object[]): Message[] =>
  fromHistory(messages as MessageInput[]).map(toMessage)

/** Returns each call with its name, and each result with the call that it belongs to. */
function linked(messages: readonly Message[]): unknown[] {
  const names = new Map<string, string>()
  return messages.flatMap(({ content, metadata }) => {
    for (const { id, name } of metadata.tool_calls ?? []) names.set(id, name)
    const { tool_call_id: id, error } = metadata.tool_result ?? {}
    return id === undefined ? [] : [[names.get(id), error ?? content]]
  })
}

const call = (toolCallId: string, toolName: string, input: unknown = {}) => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
})
const result = (toolCallId: string, output: unknown) => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'any',
  output,
})
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const tool = (...content: object[]) => ({ role: 'tool', content })

describe('fromHistory', () => {
  it('reads calls and results of the AI SDK', () => {
    const providerOptions = { anthropic: { signature: 'x' } }
    const messages = converted(
      assistant(
        { type: 'reasoning', text: 'Hm', providerOptions },
        { type: 'text', text: 'I look.' },
        call('c1', 'weather', { city: 'Oslo' }),
        { type: 'text', text: 'And pay.' },
        call('c2', 'pay'),
        call('c3', 'fail'),
      ),
      {
        id: 'm2',
        ...tool(
          { type: 'tool-approval-response', approvalId: 'a', approved: false },
          result('c1', { type: 'json', value: { degrees: 21 } }),
          result('c2', { type: 'execution-denied', reason: 'no' }),
          result('c3', { type: 'error-json', value: { no: 1 } }),
        ),
      },
    )
    const [answer, first, second] = messages
    expect(answer).toMatchObject({
      content: 'I look.\n\nAnd pay.',
      metadata: {
        tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }, {}, {}],
        reasoning: [{ text: 'Hm', provider_metadata: providerOptions }],
        answer_parts: [
          { type: 'reasoning' },
          { type: 'text', length: 7 },
          { type: 'call' },
          { type: 'text', length: 10 },
          { type: 'call' },
          { type: 'call' },
        ],
      },
    })
    expect(linked(messages)).toEqual([
      ['weather', { degrees: 21 }],
      ['pay', { code: 'approval_denied', message: 'no' }],
      ['fail', { code: 'tool_failed', message: '{"no":1}' }],
    ])
    expect(first).toMatchObject({
      id: 'm2',
      sender: { participant_role: 'tool', name: 'any' },
      message_type: 'note',
      content_type: 'application/json',
    })
    expect(second?.id).not.toBe('m2')
  })

  it('keeps the calls that the provider executed in their answer', () => {
    const output = { type: 'text', value: 'Found' }
    const [answer, ...others] = converted(
      assistant({ ...call('s', 'search'), providerExecuted: true }, result('s', output), {
        type: 'text',
        text: 'It is.',
      }),
    )
    expect(others).toEqual([])
    expect(answer?.content).toBe('It is.')
    expect(answer?.metadata).toEqual({
      answer_parts: [
        { type: 'provider_call', id: 's', name: 'search', value: {} },
        { type: 'provider_result', id: 's', name: 'any', value: 'Found' },
        { type: 'text', length: 6 },
      ],
    })
  })

  it("reads calls and results of OpenAI's chat completions", () => {
    const chatCall = (id: string, name: string) => ({
      id,
      function: { name, arguments: '{"a":1}' },
    })
    const messages = converted(
      { role: 'assistant', content: null, tool_calls: [chatCall('c1', 'weather')] },
      { role: 'tool', tool_call_id: 'c1', content: '{"degrees":21}' },
      { role: 'assistant', content: 'And?', tool_calls: [chatCall('c2', 'pay')] },
      { role: 'tool', tool_call_id: 'c2', content: 'paid' },
    )
    expect(messages.map(({ content }) => content)).toEqual(['', '{"degrees":21}', 'And?', 'paid'])
    expect(messages[0]?.metadata.tool_calls).toMatchObject([{ arguments: '{"a":1}' }])
    expect(linked(messages)).toEqual([
      ['weather', '{"degrees":21}'],
      ['pay', 'paid'],
    ])
  })

  it('tells calls with the same id apart', () => {
    const text = (value: string) => ({ type: 'text', value })
    const messages = converted(
      assistant(call('call_0', 'oslo')),
      tool(result('call_0', text('cold'))),
      assistant(call('call_0', 'rome')),
      tool(result('call_0', text('warm'))),
    )
    expect(linked(messages)).toEqual([
      ['oslo', 'cold'],
      ['rome', 'warm'],
    ])
  })

  it('keeps files of an answer, and arguments that are text', () => {
    const file = { type: 'file', data: 'aGk=', mediaType: 'text/plain' }
    const [answer] = converted(
      assistant({ type: 'text', text: 'See' }, file, call('c', 'x', '{"a":1}')),
    )
    expect(answer).toMatchObject({
      content_type: 'multipart/mixed',
      content: [{ type: 'text', text: 'See' }, file],
      metadata: { tool_calls: [{ arguments: '{"a":1}' }] },
    })
    expect(answer?.metadata).not.toHaveProperty('answer_parts')
  })

  it.each([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    // Only a caller in this process may write calls and results.
    { role: 'user', content: [result('c1', {})] },
    { sender: { role: 'tool' }, content: [result('c1', {})] },
  ])('returns any other message unchanged: %j', (message) => {
    expect(fromHistory([message as MessageInput])[0]).toBe(message)
  })

  it.each([
    [assistant({ type: 'tool-call', toolName: 'x', input: {} }), 'has no id'],
    [{ role: 'assistant', content: '', tool_calls: [{ id: 'c', custom: {} }] }, 'has no name'],
    [tool(result('c1', { type: 'text', value: 'x' })), 'There is no call "c1" before its result'],
  ])('rejects %j', (message, problem) => {
    expect(() => fromHistory([message as MessageInput])).toThrow(problem)
  })
})
