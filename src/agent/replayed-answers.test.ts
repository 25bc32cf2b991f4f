import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { createAgent } from './agent.ts'

const look = defineTool({
  id: 'look',
  description: 'Looks',
  inputSchema: { type: 'object', properties: {} },
  execute: () => 'seen',
})

/** An output item of the Responses API. */
type Output =
  | { type: 'reasoning'; id: string }
  | { type: 'message'; id: string; text: string }
  | { type: 'function_call'; id: string; call_id: string }

/** Returns the stream of one response, as OpenAI sends it. */
function streamOf(output: readonly Output[]): Response {
  const events: object[] = [
    { type: 'response.created', response: { id: 'resp', created_at: 1, model: 'gpt-5-mini' } },
  ]
  for (const [output_index, item] of output.entries()) {
    const { id } = item
    const at = { output_index, item_id: id }
    if (item.type === 'reasoning') {
      const reasoning = { type: 'reasoning', id, encrypted_content: null, summary: [] }
      events.push({ type: 'response.output_item.added', output_index, item: reasoning })
      events.push({ type: 'response.output_item.done', output_index, item: reasoning })
    } else if (item.type === 'message') {
      const message = { type: 'message', id, role: 'assistant', status: 'completed', content: [] }
      events.push({ type: 'response.output_item.added', output_index, item: message })
      events.push({ type: 'response.output_text.delta', ...at, content_index: 0, delta: item.text })
      events.push({ type: 'response.output_item.done', output_index, item: message })
    } else {
      const call = { ...item, name: 'look', arguments: '{}', status: 'completed' }
      events.push({
        type: 'response.output_item.added',
        output_index,
        item: { ...call, arguments: '' },
      })
      events.push({ type: 'response.output_item.done', output_index, item: call })
    }
  }
  const usage = { input_tokens: 1, output_tokens: 1 }
  events.push({ type: 'response.completed', response: { usage } })
  return eventStream(events)
}

function eventStream(events: readonly object[]): Response {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Plays answers of OpenAI. Returns the input of the last request. */
async function lastInput(...answers: Output[][]): Promise<Record<string, unknown>[]> {
  const inputs: Record<string, unknown>[][] = []
  const openai = createOpenAI({
    apiKey: 'k',
    async fetch(_url, init) {
      inputs.push(JSON.parse(String(init?.body)).input)
      return streamOf(answers[inputs.length - 1] ?? [{ type: 'message', id: 'end', text: 'End.' }])
    },
  })
  const agent = createAgent({ model: openai('gpt-5-mini'), tools: [look] })
  await agent.run({ conversation: 'c', messages: [{ content: 'Go' }] }).result
  await agent.run({ conversation: 'c', messages: [{ content: 'Go on' }] }).result
  return inputs.at(-1) ?? []
}

/** The items of an input after the instructions, in short form. */
const short = (input: readonly Record<string, unknown>[]) =>
  input.slice(1).map(({ type, role, id, call_id }) => id ?? call_id ?? type ?? role)

interface ClaudeBody {
  messages: { content: { type: string; signature?: string }[] }[]
}

const usage = { input_tokens: 1, output_tokens: 1 }
const stop = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
  { type: 'message_stop' },
]

/** The events of one block of Claude's answer. */
function block(index: number, content_block: object, ...deltas: object[]): object[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function thinking(index: number, signature: string): object[] {
  const deltas = [
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature },
  ]
  return block(index, { type: 'thinking', thinking: '' }, ...deltas)
}

function spoken(index: number, text: string): object[] {
  return block(index, { type: 'text', text: '' }, { type: 'text_delta', text })
}

function toolUse(index: number, id: string): object[] {
  const start = { type: 'tool_use', id, name: 'look', input: {} }
  return block(index, start, { type: 'input_json_delta', partial_json: '{}' })
}

/** Plays answers of Claude in one run. Returns the bodies of the requests. */
async function claudeBodies(answers: readonly object[][]): Promise<ClaudeBody[]> {
  const bodies: ClaudeBody[] = []
  const claude = createAnthropic({
    apiKey: 'k',
    async fetch(_url, init) {
      bodies.push(JSON.parse(String(init?.body)))
      const message = { id: 'm', model: 'claude', role: 'assistant', content: [], usage }
      return eventStream([
        { type: 'message_start', message },
        ...(answers[bodies.length - 1] ?? []),
      ])
    },
  })
  const agent = createAgent({ model: claude('claude-sonnet-4-5'), tools: [look] })
  await agent.run({ messages: [{ content: 'Go' }] }).result
  return bodies
}

/** The parts of the answer in a request, by their signatures or types. */
const partsOf = (body: ClaudeBody | undefined) =>
  body?.messages[1]?.content.map(({ type, signature }) => signature ?? type)

describe('an answer of a model that reasons', () => {
  it('is sent back with the id of its text, which its reasoning needs', async () => {
    const input = await lastInput([
      { type: 'reasoning', id: 'rs_1' },
      { type: 'message', id: 'msg_1', text: 'Hello.' },
    ])
    expect(short(input)).toEqual(['user', 'rs_1', 'msg_1', 'user'])
  })

  it('is sent back in the order of the model', async () => {
    const input = await lastInput([
      { type: 'reasoning', id: 'rs_1' },
      { type: 'message', id: 'msg_1', text: 'I look twice.' },
      { type: 'reasoning', id: 'rs_2' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1' },
      { type: 'function_call', id: 'fc_2', call_id: 'call_2' },
      { type: 'reasoning', id: 'rs_3' },
      { type: 'function_call', id: 'fc_3', call_id: 'call_3' },
    ])
    const calls = ['call_1', 'call_2', 'rs_3', 'call_3', 'call_1', 'call_2', 'call_3']
    expect(short(input)).toEqual(['user', 'rs_1', 'msg_1', 'rs_2', ...calls, 'assistant', 'user'])
  })

  it('keeps several texts apart', async () => {
    const input = await lastInput([
      { type: 'reasoning', id: 'rs_1' },
      { type: 'message', id: 'msg_1', text: 'First.' },
      { type: 'reasoning', id: 'rs_2' },
      { type: 'message', id: 'msg_2', text: 'Second.' },
    ])
    expect(short(input)).toEqual(['user', 'rs_1', 'msg_1', 'rs_2', 'msg_2', 'user'])
  })

  it('keeps the signatures and the order of Anthropic', async () => {
    const [, second] = await claudeBodies([
      [
        ...thinking(0, 's1'),
        ...block(1, { type: 'redacted_thinking', data: '…' }),
        ...spoken(2, 'I look.'),
        ...toolUse(3, 'toolu_1'),
        ...thinking(4, 's2'),
        ...toolUse(5, 'toolu_2'),
        ...stop,
      ],
      [...spoken(0, 'Done.'), ...stop],
    ])
    const kinds = ['s1', 'redacted_thinking', 'text', 'tool_use', 's2', 'tool_use']
    expect(partsOf(second)).toEqual(kinds)
  })

  it('keeps the signatures of Anthropic if it was interrupted', async () => {
    const [, second] = await claudeBodies([
      // The connection is lost after the second call.
      [
        ...thinking(0, 's1'),
        ...spoken(1, 'I look.'),
        ...toolUse(2, 'toolu_1'),
        ...thinking(3, 's2'),
        ...toolUse(4, 'toolu_2'),
      ],
      [...spoken(0, 'Done.'), ...stop],
    ])
    expect(partsOf(second)).toEqual(['s1', 'text', 'tool_use', 's2', 'tool_use'])
  })

  it('keeps the signatures of Gemini, also those of texts', async () => {
    const bodies: { contents: { parts: { thoughtSignature?: string }[] }[] }[] = []
    const answers = [
      [
        { text: 'Hm.', thought: true },
        { text: 'I look.', thoughtSignature: 's1' },
        { functionCall: { name: 'look', args: {} }, thoughtSignature: 's2' },
      ],
      [{ text: 'Done.' }, { text: '', thoughtSignature: 's3' }],
    ]
    const google = createGoogleGenerativeAI({
      apiKey: 'k',
      async fetch(_url, init) {
        bodies.push(JSON.parse(String(init?.body)))
        const content = { role: 'model', parts: answers[bodies.length - 1] ?? [{ text: 'End.' }] }
        return eventStream([{ candidates: [{ content, finishReason: 'STOP' }] }])
      },
    })
    const log = createMemoryLog()
    for (const content of ['Go', 'Go on']) {
      const agent = createAgent({ model: google('gemini-3-pro-preview'), tools: [look], log })
      await agent.run({ conversation: 'c', messages: [{ content }] }).result
    }
    const parts = bodies[2]?.contents.flatMap((content) => content.parts) ?? []
    expect(parts.flatMap((part) => part.thoughtSignature ?? [])).toEqual(['s1', 's2', 's3'])
  })
})
