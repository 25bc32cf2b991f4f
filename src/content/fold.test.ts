import { describe, expect, it } from 'vitest'
import type { ConversationEvent, LogRecord } from './events.ts'
import { emptyConversation, fold, foldAll } from './fold.ts'
import { toMessage } from './to-message.ts'

const call = { id: 'c1', name: 'look', arguments: { at: 1 } }
const result = toMessage({
  role: 'tool',
  content: 'seen',
  metadata: { tool_result: { tool_call_id: 'c1' } },
})
const answer = toMessage({
  id: 'm1',
  role: 'assistant',
  content: 'Looking',
  metadata: { tool_calls: [call] },
})

const durable: ConversationEvent[] = [
  { type: 'NEW_MESSAGE', payload: toMessage({ role: 'user', content: 'Look' }) },
  { type: 'RUN_STARTED', threadId: 'c', runId: 'r', model: 'm' },
  { type: 'STEP_STARTED', stepName: 'step 1', runId: 'r' },
  { type: 'NEW_MESSAGE', payload: answer },
  { type: 'TOOL_CALL_END', toolCallId: 'c1', runId: 'r', parentMessageId: 'm1', call },
  {
    type: 'STEP_FINISHED',
    stepName: 'step 1',
    runId: 'r',
    usage: { inputTokens: 1, outputTokens: 2 },
    messageId: 'm1',
  },
  {
    type: 'ASSET_CREATED',
    payload: { assetId: 'a', ref: 'asset://a', mime: 'image/png', kind: 'image', by: 'tool' },
  },
  { type: 'NEW_MESSAGE', payload: result },
  {
    type: 'RUN_FINISHED',
    threadId: 'c',
    runId: 'r',
    result: { reason: 'done', usage: { inputTokens: 1, outputTokens: 2 } },
  },
]
const records: LogRecord[] = durable.map((event, i) => ({
  position: (i + 1) * 10,
  timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}.000Z`,
  event,
}))

describe('fold', () => {
  it('makes the state of the log', () => {
    const state = records.reduce(fold, emptyConversation)
    expect(state.position).toBe(90)
    expect(state.messages.map(({ content }) => content)).toEqual(['Look', 'Looking', 'seen'])
    expect(state.assets).toHaveLength(1)
    expect(state.calls.c1).toMatchObject({
      status: 'done',
      resultMessageId: result.id,
      startedAt: records[4]?.timestamp,
    })
    expect(state.runs).toMatchObject([
      {
        status: 'finished',
        reason: 'done',
        steps: [{ name: 'step 1', messageId: 'm1', usage: { inputTokens: 1 } }],
      },
    ])
    expect(state.streaming).toEqual({})
  })

  it('makes the same of all records at once', () => {
    const before = JSON.stringify(emptyConversation)
    expect(foldAll(emptyConversation, records)).toEqual(records.reduce(fold, emptyConversation))
    const half = foldAll(emptyConversation, records.slice(0, 5))
    const copy = JSON.stringify(half)
    expect(foldAll(half, records)).toEqual(records.reduce(fold, emptyConversation))
    expect(JSON.stringify(half)).toBe(copy)
    expect(JSON.stringify(emptyConversation)).toBe(before)
  })

  it('is not changed by what it has seen', () => {
    const state = records.reduce(fold, emptyConversation)
    expect(records.reduce(fold, state)).toBe(state)
  })

  it('never changes a state that it gave before', () => {
    const states = [emptyConversation]
    for (const record of records) states.push(fold(states.at(-1) ?? emptyConversation, record))
    const copies = states.map((state) => JSON.stringify(state))
    states.reduce(
      (state, _, i) => (records[i] ? fold(state, records[i]) : state),
      emptyConversation,
    )
    expect(states.map((state) => JSON.stringify(state))).toEqual(copies)
  })

  it('has text and arguments while they stream, and drops them when the log has them', () => {
    const streamed: ConversationEvent[] = [
      { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Look' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'ing' },
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look', parentMessageId: 'm1' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"at"' },
    ]
    const before = records.slice(0, 3).reduce(fold, emptyConversation)
    const during = streamed.map((event) => ({ event })).reduce(fold, before)
    expect(during.streaming).toEqual({ m1: 'Looking' })
    expect(during.calls.c1).toMatchObject({ status: 'streaming', argumentsText: '{"at"' })
    const progress = { toolCallId: 'c1', message: 'half', fraction: 0.5 }
    const after = records.slice(3, 5).reduce(fold, during)
    expect(after.streaming).toEqual({})
    const told = fold(after, { event: { type: 'TOOL_PROGRESS', payload: progress } })
    expect(told.calls.c1).toMatchObject({
      status: 'running',
      progress: { message: 'half', fraction: 0.5 },
    })
    expect(records.slice(5).reduce(fold, told)).toEqual(records.reduce(fold, emptyConversation))
  })

  it('leaves nothing running behind a run that ended', () => {
    const failed: LogRecord = {
      position: 95,
      timestamp: 'later',
      event: { type: 'RUN_ERROR', threadId: 'c', runId: 'r', code: 'interrupted', message: 'x' },
    }
    const state = fold(records.slice(0, 5).reduce(fold, emptyConversation), failed)
    expect(state.calls.c1?.status).toBe('unanswered')
    expect(state.runs).toMatchObject([{ status: 'failed', error: { code: 'interrupted' } }])
  })

  it('passes over events that it does not know', () => {
    const event = { type: 'SOMETHING_NEW' } as unknown as ConversationEvent
    expect(fold(emptyConversation, { position: 1, timestamp: '', event })).toEqual({
      ...emptyConversation,
      position: 1,
    })
  })
})
