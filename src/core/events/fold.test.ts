import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, ToolCall } from '../messages/message.ts'
import { emptyConversation, openRun, waitingCalls } from './conversation-state.ts'
import type { ConversationEvent, LogRecord } from './events.ts'
import { createFold, type Foldable, fold, foldAll } from './fold.ts'

type Event<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>

const START = Date.parse('2026-01-01T00:00:00.000Z')
const timeOf = (second: number): string => new Date(START + second * 1000).toISOString()

/** Records of these events, one per second from the start. */
function recordsOf(events: readonly ConversationEvent[]): LogRecord[] {
  return events.map((event, i) => ({ v: 1, position: i + 1, timestamp: timeOf(i), event }))
}

/** Durable events get positions, and the others none. */
function foldableOf(events: readonly ConversationEvent[], transient: ReadonlySet<string>) {
  let position = 0
  return events.map((event): Foldable => {
    if (transient.has(event.type)) return { event }
    position++
    return { v: 1, position, timestamp: timeOf(position), event }
  })
}

const stateOf = (events: readonly ConversationEvent[]) =>
  foldAll(emptyConversation, recordsOf(events))

function says(id: string, content: unknown = id, more: Partial<Message> = {}): Message {
  return {
    id,
    sender: { participant_id: 'user', participant_role: 'user' },
    message_type: 'chat',
    content_type: 'text/plain',
    content,
    timestamp: timeOf(0),
    metadata: {},
    ...more,
  }
}

const message = (
  payload: Message,
  more: Partial<Event<'NEW_MESSAGE'>> = {},
): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload,
  ...more,
})
const callOf = (id: string, name = 'look'): ToolCall => ({ id, name, arguments: {} })
const runStarted = (runId: string, messageIds: readonly string[] = []): ConversationEvent => ({
  type: 'RUN_STARTED',
  threadId: 'c',
  runId,
  messageIds,
  owner: 'host-1',
})
const runFinished = (runId: string): ConversationEvent => ({
  type: 'RUN_FINISHED',
  threadId: 'c',
  runId,
  result: { reason: 'done', usage: { inputTokens: 1, outputTokens: 2 } },
})
const stepStarted = (
  runId: string,
  messageId: string,
  messageIds?: readonly string[],
): ConversationEvent => ({
  type: 'STEP_STARTED',
  stepName: 'step',
  runId,
  messageId,
  ...(messageIds ? { messageIds } : {}),
})
const stepFinished = (
  runId: string,
  messageId: string,
  [inputTokens, outputTokens]: [number | null, number | null] = [1, 2],
): ConversationEvent => ({
  type: 'STEP_FINISHED',
  stepName: 'step',
  runId,
  messageId,
  usage: { inputTokens, outputTokens },
  finishReason: 'stop',
})
const callEnd = (id: string, parentMessageId: string, runId = 'r'): ConversationEvent => ({
  type: 'TOOL_CALL_END',
  toolCallId: id,
  runId,
  parentMessageId,
  call: callOf(id),
})
const started = (toolCallId: string, more: Partial<Event<'TOOL_STARTED'>> = {}) =>
  ({ type: 'TOOL_STARTED', toolCallId, runId: 'r', attempt: 1, ...more }) as ConversationEvent
const asked = (toolCallId: string, items?: readonly string[]): ConversationEvent => ({
  type: 'APPROVAL_REQUESTED',
  toolCallId,
  runId: 'r',
  toolName: 't',
  arguments: { shown: true },
  ...(items ? { items } : {}),
})
const answered = (
  toolCallId: string,
  more: Partial<Event<'APPROVAL_ANSWERED'>> = {},
): ConversationEvent => ({
  type: 'APPROVAL_ANSWERED',
  toolCallId,
  runId: 'r',
  approved: true,
  ...more,
})
const resultMessage = (callId: string, error?: { code: string; message: string }): Message =>
  says(`result-${callId}`, 'seen', {
    message_type: 'note',
    metadata: { tool_result: { tool_call_id: callId, ...(error ? { error } : {}) } },
  })
const result = (...args: Parameters<typeof resultMessage>): ConversationEvent =>
  message(resultMessage(...args))
const written = (callId: string, id = `data-${callId}`): ConversationEvent =>
  message(
    says(id, { type: 'data', kind: 'state', data: 1, _call: callId }, { content_type: 'data' }),
  )

/** A run with a model call, whose answer has these complete calls. */
const answering = (...calls: string[]): ConversationEvent[] => [
  message(says('u')),
  runStarted('r', ['u']),
  stepStarted('r', 'm'),
  ...calls.map((id) => callEnd(id, 'm')),
]
const idsOf = ({ messages }: { messages: readonly Message[] }) => messages.map(({ id }) => id)

describe('fold', () => {
  it('keeps the position and time of the last record', () => {
    expect(stateOf([message(says('u')), runStarted('r')])).toMatchObject({
      position: 2,
      updatedAt: timeOf(1),
    })
    const told = fold(stateOf([message(says('u'))]), {
      event: { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    })
    expect(told).toMatchObject({ position: 1, updatedAt: timeOf(0) })
  })

  it('builds a run, its step, its call and its end from their events', () => {
    const state = stateOf([
      message(says('u')),
      {
        type: 'RUN_STARTED',
        threadId: 'c',
        runId: 'r',
        messageIds: ['u'],
        owner: 'host-1',
        model: 'm-1',
        parentRunId: 'p',
        context: { user: 7 },
      },
      stepStarted('r', 'm'),
      callEnd('c1', 'm'),
      message(says('m')),
      stepFinished('r', 'm'),
      started('c1'),
      result('c1'),
      runFinished('r'),
    ])
    expect(state.runs).toEqual([
      {
        runId: 'r',
        parentRunId: 'p',
        status: 'finished',
        owner: 'host-1',
        claims: 0,
        model: 'm-1',
        startedAt: timeOf(1),
        finishedAt: timeOf(8),
        reason: 'done',
        usage: { inputTokens: 1, outputTokens: 2 },
        messageIds: ['u'],
        context: { user: 7 },
        waitedMs: 0,
        steps: [
          {
            name: 'step',
            messageId: 'm',
            startedAt: timeOf(2),
            finishedAt: timeOf(5),
            usage: { inputTokens: 1, outputTokens: 2 },
            finishReason: 'stop',
            callIds: ['c1'],
          },
        ],
      },
    ])
    expect(state.calls.c1).toEqual({
      id: 'c1',
      name: 'look',
      runId: 'r',
      parentMessageId: 'm',
      argumentsText: '{}',
      call: callOf('c1'),
      status: 'done',
      attempts: 1,
      plannedAt: timeOf(3),
      startedAt: timeOf(6),
      finishedAt: timeOf(7),
      resultMessageId: 'result-c1',
    })
    expect(openRun(state)).toBeNull()
  })

  it('records assets, and bodies that failed to become assets', () => {
    const payload = {
      assetId: 'a',
      ref: 'asset://a',
      mime: 'image/png',
      ...({ kind: 'image', by: 'tool' } as const),
    }
    const failure = { code: 'asset_too_large', message: 'x', by: 'tool' } as const
    const state = stateOf([
      { type: 'ASSET_CREATED', payload },
      { type: 'ASSET_ERROR', payload: failure },
    ])
    expect([state.assets, state.assetErrors]).toEqual([[payload], [failure]])
  })

  it('adds up the usage of the steps, and null if none was reported', () => {
    const state = stateOf([
      runStarted('r'),
      stepStarted('r', 'm1'),
      stepFinished('r', 'm1', [null, null]),
      stepStarted('r', 'm2'),
      stepFinished('r', 'm2', [10, null]),
      stepStarted('r', 'm3'),
      stepFinished('r', 'm3', [5, 3]),
    ])
    expect(state.runs[0]?.usage).toEqual({ inputTokens: 15, outputTokens: 3 })
    expect(stateOf([runStarted('r')]).runs[0]?.usage).toEqual({
      inputTokens: null,
      outputTokens: null,
    })
  })

  it('distinguishes steps by their messages, not by their names', () => {
    const state = stateOf([
      runStarted('r'),
      stepStarted('r', 'm1'),
      stepStarted('r', 'm2'),
      stepFinished('r', 'm1'),
      stepFinished('r', 'nobody'),
    ])
    expect(state.runs[0]?.steps).toMatchObject([{ finishedAt: timeOf(3) }, { messageId: 'm2' }])
    expect(state.runs[0]?.steps[1]).not.toHaveProperty('finishedAt')
  })

  it('puts the answer before the results of calls that ran while it was written', () => {
    const state = stateOf([
      ...answering('c1', 'c2'),
      started('c1'),
      written('c1'),
      result('c1'),
      message(says('m')),
      stepFinished('r', 'm'),
      result('c2'),
    ])
    expect(idsOf(state)).toEqual(['u', 'm', 'data-c1', 'result-c1', 'result-c2'])
  })

  it('puts it before several results, and keeps messages of other programs between them', () => {
    const state = stateOf([
      ...answering('c1', 'c2', 'c3'),
      message(says('before')),
      written('c1', 'd1'),
      written('c1', 'd2'),
      result('c1'),
      message(says('between')),
      result('c2'),
      message(says('after')),
      message(says('m')),
    ])
    expect(idsOf(state)).toEqual([
      'u',
      'before',
      'm',
      'd1',
      'd2',
      'result-c1',
      'between',
      'result-c2',
      'after',
    ])
  })

  it('leaves data of others in place, and an answer without results at the end', () => {
    const data = says('d', { type: 'data', kind: 'state', data: 1 }, { content_type: 'data' })
    const empty = says('e', null, { content_type: 'data' })
    const state = stateOf([
      ...answering('c1'),
      message(data),
      message(empty),
      result('c1'),
      message(says('m')),
    ])
    expect(idsOf(state)).toEqual(['u', 'd', 'e', 'm', 'result-c1'])
    expect(idsOf(stateOf([...answering('c1'), message(says('m'))]))).toEqual(['u', 'm'])
  })

  it('keeps queued messages out of the conversation until their run or step starts', () => {
    const waiting = [
      ...answering(),
      message(says('q1'), { deliver: 'next_run', runId: 'r2', context: 1 }),
      message(says('s1'), { deliver: 'next_step' }),
    ]
    const state = stateOf(waiting)
    expect(idsOf(state)).toEqual(['u'])
    expect(state.inbox).toMatchObject([
      { message: { id: 'q1' }, deliver: 'next_run', runId: 'r2', context: 1 },
      { message: { id: 's1' }, deliver: 'next_step' },
    ])
    const steered = stateOf([
      ...waiting,
      message(says('m')),
      stepFinished('r', 'm'),
      stepStarted('r', 'm2', ['s1', 'nobody']),
    ])
    expect(idsOf(steered)).toEqual(['u', 'm', 's1'])
    expect(steered.inbox.map((one) => one.message.id)).toEqual(['q1'])
    const started = stateOf([...waiting, runFinished('r'), runStarted('r2', ['q1'])])
    expect(idsOf(started)).toEqual(['u', 'q1'])
    expect(started.inbox.map((one) => one.message.id)).toEqual(['s1'])
    expect(started.runs[1]?.messageIds).toEqual(['q1'])
  })

  it('delivers in arrival order, whatever the order in which they are named', () => {
    const queued = ['a', 'b', 'c'].map((id) => message(says(id), { deliver: 'next_run' }))
    expect(idsOf(stateOf([...queued, runStarted('r', ['c', 'a'])]))).toEqual(['a', 'c'])
  })

  it('counts take-overs of a run', () => {
    const claim = (owner: string, runId = 'r'): ConversationEvent => ({
      type: 'RUN_CLAIMED',
      threadId: 'c',
      runId,
      owner,
    })
    const state = stateOf([runStarted('r'), claim('host-2'), claim('host-3'), claim('x', 'nobody')])
    expect(state.runs).toMatchObject([{ owner: 'host-3', claims: 2, status: 'running' }])
  })

  it('drops unfinished output at a take-over', () => {
    const half: ConversationEvent[] = [
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Look' },
      { type: 'TOOL_CALL_START', toolCallId: 'c2', toolCallName: 'look', parentMessageId: 'm' },
    ]
    const claim: ConversationEvent = { type: 'RUN_CLAIMED', threadId: 'c', runId: 'r', owner: 'o' }
    const durable = [...answering('c1'), claim]
    const live = foldAll(emptyConversation, [
      ...recordsOf(answering('c1')),
      ...half.map((event) => ({ event })),
      ...recordsOf(durable).slice(-1),
    ])
    expect(live).toEqual(stateOf(durable))
  })

  it('closes the calls of a run that ended, and no others', () => {
    const state = stateOf([
      runStarted('r'),
      stepStarted('r', 'm1'),
      callEnd('done', 'm1'),
      callEnd('open', 'm1'),
      started('open'),
      result('done'),
      runStarted('other'),
      stepStarted('other', 'm2'),
      callEnd('theirs', 'm2', 'other'),
      { type: 'RUN_ERROR', threadId: 'c', runId: 'r', code: 'run_failed', message: 'x' },
    ])
    expect(state.runs[0]).toMatchObject({
      status: 'failed',
      finishedAt: timeOf(9),
      error: { code: 'run_failed', message: 'x' },
    })
    const { done, open, theirs } = state.calls
    expect([done?.status, open?.status, theirs?.status]).toEqual(['done', 'unanswered', 'planned'])
  })

  it('ends a run once', () => {
    const events = [runStarted('r'), runFinished('r')]
    const error = { type: 'RUN_ERROR', threadId: 'c', runId: 'r', code: 'x', message: '' } as const
    expect(stateOf([...events, error]).runs).toEqual(stateOf(events).runs)
    expect(stateOf([...events, runFinished('nobody')]).runs).toEqual(stateOf(events).runs)
  })

  it('accepts one result for each call, and none after its run', () => {
    const twice = stateOf([
      ...answering('c1'),
      result('c1'),
      message({ ...resultMessage('c1', { code: 'x', message: 'y' }), id: 'again' }),
      started('c1', { attempt: 2 }),
    ])
    expect(twice.calls.c1).toMatchObject({
      status: 'done',
      resultMessageId: 'result-c1',
      attempts: 0,
    })
    expect(idsOf(twice)).toContain('again')
    const late = stateOf([...answering('c1'), runFinished('r'), result('c1')])
    expect(late.calls.c1?.status).toBe('unanswered')
  })

  it('records failed calls and errors in their arguments', () => {
    const state = stateOf([
      ...answering(),
      { ...(callEnd('c1', 'm') as Event<'TOOL_CALL_END'>), problem: 'no JSON' },
      result('c1', { code: 'invalid_arguments', message: 'no JSON' }),
    ])
    expect(state.calls.c1).toMatchObject({ status: 'failed', problem: 'no JSON', attempts: 0 })
  })

  it('does not let late stream events undo what is in the log', () => {
    const folded = createFold()
    for (const record of recordsOf([...answering('c1'), asked('c1')])) folded.apply(record)
    const before = structuredClone(folded.state.calls.c1)
    expect(before).toMatchObject({ status: 'waiting', runId: 'r' })
    const start = { toolCallId: 'c1', toolCallName: 'look', parentMessageId: 'm' }
    folded.apply({ event: { type: 'TOOL_CALL_START', ...start } })
    folded.apply({ event: { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"a":' } })
    expect(folded.state.calls.c1).toEqual(before)
  })

  it('drops the text of an abandoned answer when the model is asked again', () => {
    const folded = createFold()
    const records = recordsOf([...answering(), stepStarted('r', 'm2')])
    for (const record of records.slice(0, -1)) folded.apply(record)
    folded.apply({ event: { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hal' } })
    expect(folded.state.streaming).toEqual({ m: 'Hal' })
    for (const record of records.slice(-1)) folded.apply(record)
    expect(folded.state.streaming).toEqual({})
  })

  it('keeps why the model is asked again until its step, its run or its owner ends', () => {
    const retry: ConversationEvent = {
      type: 'MODEL_RETRY',
      messageId: 'm',
      attempt: 1,
      waitMs: 500,
      reason: 'The provider is busy (429)',
    }
    const ends: ConversationEvent[] = [
      stepFinished('r', 'm'),
      { type: 'RUN_CLAIMED', threadId: 'c', runId: 'r', owner: 'o' },
      { type: 'RUN_ERROR', threadId: 'c', runId: 'r', code: 'model_failed', message: 'No' },
    ]
    for (const end of ends) {
      const folded = createFold()
      const records = recordsOf([...answering(), end])
      for (const record of records.slice(0, -1)) folded.apply(record)
      folded.apply({ event: retry })
      expect(folded.state.runs[0]?.steps[0]?.retry).toMatchObject({ attempt: 1, waitMs: 500 })
      for (const record of records.slice(-1)) folded.apply(record)
      expect(folded.state.runs[0]?.steps[0]).not.toHaveProperty('retry')
      folded.apply({ event: retry })
      if (end.type !== 'RUN_CLAIMED')
        expect(folded.state.runs[0]?.steps[0]).not.toHaveProperty('retry')
    }
  })

  it('does not show text as streaming that is already in the log', () => {
    const folded = createFold()
    const written = [...answering('c1'), stepFinished('r', 'm')]
    for (const record of recordsOf(written)) folded.apply(record)
    expect(folded.state.runs[0]?.steps[0]?.finishedAt).toBeDefined()
    const messageId = 'm'
    folded.apply({ event: { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' } })
    folded.apply({ event: { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'late' } })
    expect(folded.state.streaming).toEqual({})
  })

  it('counts attempts', () => {
    const state = stateOf([...answering('c1'), started('c1'), started('c1', { attempt: 2 })])
    expect(state.calls.c1).toMatchObject({ status: 'running', attempts: 2, startedAt: timeOf(4) })
  })

  it('records the items of a mapped call', () => {
    const item = (more: Partial<Event<'TOOL_FINISHED'>>): ConversationEvent => ({
      ...({ type: 'TOOL_FINISHED', toolCallId: 'c1', runId: 'r', item: 0 } as const),
      ...more,
    })
    const error = { code: 'tool_failed', message: 'x' }
    const state = stateOf([
      ...answering('c1'),
      started('c1', { item: 0 }),
      started('c1', { item: 2 }),
      started('c1', { item: 2, attempt: 2 }),
      started('c1', { item: 1 }),
      item({ item: 2, value: [1] }),
      item({ item: 0, error }),
    ])
    expect(state.calls.c1).toMatchObject({ status: 'running', attempts: 0 })
    expect(state.calls.c1?.items).toEqual({
      0: { attempts: 1, done: true, value: undefined, error },
      1: { attempts: 1, done: false },
      2: { attempts: 2, done: true, value: [1], error: undefined },
    })
  })

  it('keeps the outcome of a call until its result is logged', () => {
    const finished: ConversationEvent = {
      type: 'TOOL_FINISHED',
      toolCallId: 'c1',
      runId: 'r',
      value: [1],
      chosen: 1,
      label: { integrity: 'untrusted' },
    }
    const events = [...answering('c1'), started('c1'), finished]
    expect(stateOf(events).calls.c1).toMatchObject({
      status: 'running',
      outcome: { value: [1], chosen: 1, label: { integrity: 'untrusted' }, at: timeOf(5) },
    })
    const { calls } = stateOf([...events, result('c1')])
    expect([calls.c1?.status, calls.c1?.outcome]).toEqual(['done', undefined])
  })

  it('holds a call until a person has answered, once', () => {
    const request = { ...asked('c1', ['a', 'b']), previews: ['+a', null] }
    const waiting = [...answering('c1'), request]
    expect(stateOf(waiting).calls.c1).toMatchObject({
      status: 'waiting',
      approval: {
        arguments: { shown: true },
        items: ['a', 'b'],
        previews: ['+a', null],
        requestedAt: timeOf(4),
      },
    })
    const refused = [...waiting, answered('c1', { approved: false, reason: 'no' })]
    const state = stateOf(refused)
    expect(state.calls.c1).toMatchObject({
      status: 'planned',
      approval: { answer: { approved: false, reason: 'no', at: timeOf(5) } },
    })
    const again = stateOf([...refused, answered('c1')])
    expect(again.calls).toEqual(state.calls)
    expect(again.runs).toEqual(state.runs)
  })

  it('ignores an answer that was not requested', () => {
    const planned = answering('c1')
    for (const before of [planned, [...planned, started('c1')], [...planned, result('c1')]]) {
      const state = stateOf(before)
      const after = stateOf([...before, answered('c1'), answered('nobody')])
      expect([after.calls, after.runs]).toEqual([state.calls, state.runs])
    }
  })

  it('keeps what a sub-agent asked with its call, and changes no other call', () => {
    const of = (event: ConversationEvent, parentToolCallId: string) =>
      ({ ...event, parentToolCallId }) as ConversationEvent
    const requests = [
      of(asked('c1/x'), 'c1'),
      of(asked('c2/0/x'), 'c2/0'),
      of(asked('gone/x'), 'gone'),
    ]
    const running = [...answering('c1', 'c2'), started('c1'), started('c2')]
    const state = stateOf([...running, ...requests])
    expect(Object.values(state.calls).map(({ status }) => status)).toEqual(['running', 'running'])
    expect(waitingCalls(state)).toMatchObject([
      { id: 'c1/x', name: 't', approval: { arguments: { shown: true } }, parentToolCallId: 'c1' },
      { id: 'c2/0/x', parentToolCallId: 'c2/0' },
    ])
    const answer = of(answered('c1/x'), 'c1')
    const after = stateOf([...running, ...requests, answer, answer, of(answered('c1/y'), 'c1')])
    expect(after.runs[0]?.waitedMs).toBe(1000)
    expect(waitingCalls(after)).toMatchObject([{ id: 'c2/0/x' }])
    const ended = stateOf([...running, ...requests, result('c1')])
    expect(waitingCalls(ended).map(({ id }) => id)).toEqual(['c2/0/x'])
  })

  it('measures how long people took, whatever messages came meanwhile', () => {
    const waited = (events: readonly ConversationEvent[]) => stateOf(events).runs[0]?.waitedMs
    const waiting = [...answering('c1', 'c2'), asked('c1')]
    expect(waited(waiting)).toBe(0)
    expect(waited([...waiting, answered('c1')])).toBe(1000)
    expect(waited([...waiting, answered('c1'), asked('c2'), answered('c2')])).toBe(2000)
    const meanwhile = message(says('q'), { deliver: 'next_run' })
    expect(waited([...waiting, meanwhile, meanwhile, answered('c1')])).toBe(3000)
    const deletion: ConversationEvent = { type: 'MESSAGE_DELETED', messageId: 'q' }
    expect(waited([...waiting, meanwhile, deletion, answered('c1')])).toBe(3000)
    expect(waited([...waiting, answered('c1'), meanwhile])).toBe(1000)
    expect(waited([...answering('c1'), meanwhile])).toBe(0)
  })

  it('has text, arguments and progress while they stream, and drops them when they are in the log', () => {
    const streams: ConversationEvent[] = [
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Look' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'ing' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look', parentMessageId: 'm' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'nobody', delta: '{' },
    ]
    const before = stateOf(answering())
    const during = foldAll(
      before,
      streams.map((event) => ({ event })),
    )
    expect(during.streaming).toEqual({ m: 'Looking' })
    expect(during.calls.c1).toMatchObject({ status: 'streaming', argumentsText: '{', attempts: 0 })
    expect(during.runs[0]?.steps[0]?.callIds).toEqual(['c1'])
    const progress = { toolCallId: 'c1', message: 'half', fraction: 0.5 }
    const rest = [callEnd('c1', 'm'), message(says('m')), started('c1'), result('c1')]
    const records = recordsOf([...answering(), ...rest]).slice(answering().length)
    const told = foldAll(during, [
      ...records.slice(0, -1),
      { event: { type: 'TOOL_PROGRESS', payload: progress } },
    ])
    expect(told.streaming).toEqual({})
    expect(told.calls.c1).toMatchObject({
      status: 'running',
      argumentsText: '{',
      progress: { message: 'half', fraction: 0.5 },
    })
    const after = foldAll(told, [
      ...records,
      { event: { type: 'TOOL_PROGRESS', payload: progress } },
      {
        event: {
          type: 'TOOL_CALL_RESULT',
          messageId: 'x',
          toolCallId: 'c1',
          content: '',
          role: 'tool',
        },
      },
    ])
    expect(after.calls.c1).toMatchObject({ status: 'done', progress: undefined })
  })

  it('has the calls of a step in log order, not in stream order', () => {
    const begin = (id: string): Foldable => ({
      event: { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: 'x', parentMessageId: 'm' },
    })
    const records = recordsOf([...answering(), callEnd('b', 'm'), callEnd('a', 'm')])
    const live = foldAll(emptyConversation, [
      ...records.slice(0, 3),
      ...['a', 'b', 'half'].map(begin),
      ...records.slice(3),
    ])
    expect(live.runs[0]?.steps[0]?.callIds).toEqual(['b', 'a', 'half'])
    const logged = foldAll(emptyConversation, records)
    expect(logged.runs[0]?.steps[0]?.callIds).toEqual(['b', 'a'])
  })

  it('accepts any text as an id', () => {
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']
    for (const id of ids) {
      const state = foldAll(emptyConversation, [
        ...recordsOf([runStarted('r'), stepStarted('r', id), callEnd(id, id), started(id)]),
        { event: { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: 'text' } },
      ])
      expect(Object.keys(state.calls)).toEqual([id])
      expect(state.calls[id]).toMatchObject({ status: 'running' })
      expect(Object.entries(state.streaming)).toEqual([[id, 'text']])
      const after = fold(state, { v: 1, position: 9, timestamp: '', event: result(id) })
      expect(after.calls[id]?.status).toBe('done')
      expect(Object.keys(emptyConversation.calls)).toEqual([])
    }
    expect(({} as { status?: unknown }).status).toBeUndefined()
  })

  it('accepts messages with any metadata of other programs', () => {
    const broken: unknown[] = [
      ...[undefined, null, 7, 'text', [], {}],
      ...[null, 'x', 7, [], {}, { tool_call_id: 7 }, { tool_call_id: null }].map((mark) => ({
        tool_result: mark,
      })),
    ]
    const before = [...answering('7', 'undefined', 'null'), started('7')]
    const messages = broken.map((metadata, i) =>
      says(`b${i}`, i % 2 ? null : 'x', {
        content_type: i % 2 ? 'data' : 'text/plain',
        metadata: metadata as Message['metadata'],
      }),
    )
    const state = stateOf([...before, ...messages.map((one) => message(one)), message(says('m'))])
    expect(idsOf(state)).toEqual(['u', ...messages.map(({ id }) => id), 'm'])
    expect(Object.values(state.calls).map(({ status }) => status)).toEqual([
      'running',
      'planned',
      'planned',
    ])
  })

  it('ignores unknown events', () => {
    for (const type of ['SOMETHING_NEW', '__proto__', 'constructor', 'toString']) {
      const event = { type } as unknown as ConversationEvent
      expect(fold(emptyConversation, { v: 1, position: 1, timestamp: 't', event })).toEqual({
        ...emptyConversation,
        position: 1,
        updatedAt: 't',
      })
    }
  })

  it('does not change its input', () => {
    const events = [...answering('c1'), result('c1'), runFinished('r')]
    const state = stateOf(events)
    expect(foldAll(state, recordsOf(events))).toBe(state)
    expect(fold(state, recordsOf(events)[0] as LogRecord)).toBe(state)
    expect(foldAll(stateOf(events.slice(0, 4)), recordsOf(events))).toEqual(state)
  })
})

describe('createFold', () => {
  it('folds in place, and returns whether a record was new', () => {
    const folding = createFold()
    const records = recordsOf(answering('c1'))
    expect(records.map((record) => folding.apply(record))).toEqual([true, true, true, true])
    expect(folding.apply(records[1] as LogRecord)).toBe(false)
    expect(folding.state).toEqual(stateOf(answering('c1')))
    expect(folding.apply({ event: { type: 'TEXT_MESSAGE_END', messageId: 'm' } })).toBe(true)
  })

  it('returns the same snapshot until something happens', () => {
    const from = stateOf([message(says('u'))])
    const folding = createFold(from)
    expect(folding.snapshot()).toBe(from)
    folding.apply(recordsOf(answering())[1] as LogRecord)
    const snapshot = folding.snapshot()
    expect(folding.snapshot()).toBe(snapshot)
    expect(snapshot).not.toBe(from)
  })

  it('reports each message when it becomes part of the conversation', () => {
    const told: string[] = []
    const folding = createFold(undefined, { onMessage: ({ id }) => told.push(id) })
    const events = [
      message(says('q'), { deliver: 'next_run' }),
      ...answering('c1'),
      result('c1'),
      message(says('m')),
      runFinished('r'),
      runStarted('r2', ['q']),
    ]
    for (const record of recordsOf(events)) folding.apply(record)
    expect(told).toEqual(['u', 'result-c1', 'm', 'q'])
    expect(idsOf(folding.state)).toEqual(['u', 'm', 'result-c1', 'q'])
  })
})

/** Any events, with few ids, so that they often refer to the same things. */
const id = fc.constantFrom('a', 'b', '__proto__')
const anyEvent: fc.Arbitrary<ConversationEvent> = fc.oneof(
  fc
    .tuple(id, fc.constantFrom(undefined, 'next_run', 'next_step'), id, fc.boolean())
    .map(([one, deliver, call, fails]) =>
      message(
        says(one, one, {
          metadata: {
            tool_result: {
              tool_call_id: call,
              ...(fails ? { error: { code: 'x', message: '' } } : {}),
            },
          },
        }),
        deliver ? { deliver: deliver as 'next_run' } : {},
      ),
    ),
  id.map((one) => message(says(one))),
  id.map((messageId): ConversationEvent => ({ type: 'MESSAGE_DELETED', messageId })),
  id.map((one) => written(one)),
  fc.tuple(id, fc.array(id)).map(([run, ids]) => runStarted(run, ids)),
  id.map((runId): ConversationEvent => ({ type: 'RUN_CLAIMED', threadId: 'c', runId, owner: 'o' })),
  id.map((run) => runFinished(run)),
  fc.tuple(id, id, fc.array(id)).map((args) => stepStarted(...args)),
  fc.tuple(id, id).map((args) => stepFinished(...args)),
  fc.tuple(id, id, id).map((args) => callEnd(...args)),
  id.map((one) => asked(one)),
  fc.tuple(id, id).map(([one, runId]) => answered(one, { runId })),
  fc
    .tuple(id, fc.option(fc.nat(2), { nil: undefined }))
    .map(([one, item]) => started(one, { item })),
  fc.tuple(id, fc.nat(2)).map(
    ([toolCallId, item]): ConversationEvent => ({
      type: 'TOOL_FINISHED',
      toolCallId,
      runId: 'r',
      item,
      value: 1,
    }),
  ),
  fc.tuple(id, id).map(
    ([toolCallId, parentMessageId]): ConversationEvent => ({
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName: 'x',
      parentMessageId,
    }),
  ),
  id.map((toolCallId): ConversationEvent => ({ type: 'TOOL_CALL_ARGS', toolCallId, delta: 'x' })),
  id.map(
    (messageId): ConversationEvent => ({
      type: 'TEXT_MESSAGE_CONTENT',
      messageId,
      delta: 'x',
    }),
  ),
  id.map(
    (toolCallId): ConversationEvent => ({
      type: 'TOOL_PROGRESS',
      payload: { toolCallId, message: 'x' },
    }),
  ),
)
const TRANSIENT = new Set([
  ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TEXT_MESSAGE_CONTENT', 'TOOL_PROGRESS'],
])
const anyEvents = fc
  .array(anyEvent, { maxLength: 60 })
  .map((events) => foldableOf(events, TRANSIENT))

/** Every event that contains a part of a text. */
const textOf = (state: unknown): string => JSON.stringify(state)

describe('a message that is deleted', () => {
  const deletion = (messageId: string): ConversationEvent => ({
    type: 'MESSAGE_DELETED',
    messageId,
  })

  it('keeps its place, its sender, its id and its time', () => {
    const events = [message(says('a', 'secret', { metadata: { own: 'secret' } })), written('b')]
    const before = stateOf(events)
    const after = stateOf([...events, deletion('a'), deletion('nobody')])
    expect(idsOf(after)).toEqual(idsOf(before))
    expect(after.messages[0]).toEqual(says('a', '', { metadata: { deleted: true } }))
    expect(after.messages[1]).toEqual(before.messages[1])
    expect([before.deletion, after.deletion]).toEqual([null, { count: 1, afterStep: null }])
    expect(textOf(after)).not.toContain('secret')
    expect(stateOf([...events, deletion('a'), deletion('a')]).deletion?.count).toBe(1)
  })

  it('removes its calls too, and keeps their results', () => {
    const before = stateOf([...answering('c1'), message(says('m')), result('c1'), runFinished('r')])
    expect(before.calls.c1?.status).toBe('done')
    const after = fold(before, {
      v: 1,
      position: 99,
      timestamp: timeOf(99),
      event: deletion('m'),
    })
    expect(after.calls).toEqual({})
    expect(after.runs[0]?.steps.map(({ callIds }) => callIds)).toEqual([[]])
    expect(after.messages.find(({ id }) => id === 'result-c1')?.metadata.tool_result).toBeDefined()
    expect(before.calls.c1?.status).toBe('done')
  })

  it('leaves its call unanswered if it was the result, and keeps the number', () => {
    const events = [...answering('c1'), message(says('m')), result('c1'), runFinished('r')]
    const after = stateOf([...events, deletion('result-c1')])
    expect(after.calls.c1).toMatchObject({ status: 'unanswered' })
    expect(after.calls.c1?.resultMessageId).toBeUndefined()
    expect(after.messages.find(({ id }) => id === 'result-c1')?.metadata).toEqual({
      deleted: true,
      result: true,
    })
  })

  it('is removed if it was still queued', () => {
    const events = [message(says('q'), { deliver: 'next_run' }), deletion('q')]
    expect(stateOf(events)).toMatchObject({ inbox: [], messages: [] })
    expect(idsOf(stateOf([...events, runStarted('r', ['q'])]))).toEqual([])
  })

  it('does not appear in the state, whatever else happened', () => {
    fc.assert(
      fc.property(anyEvents, fc.nat(60), (events, at) => {
        const said = message(says('gone', 'secret', { metadata: { tool_calls: [], x: 'secret' } }))
        const all = [...events.slice(0, at).map(({ event }) => event), said]
        const after = [...all, ...events.slice(at).map(({ event }) => event), deletion('gone')]
        const state = foldAll(emptyConversation, foldableOf(after, TRANSIENT))
        expect(textOf(state)).not.toContain('secret')
        expect(idsOf(state).filter((id) => id === 'gone')).toHaveLength(1)
      }),
    )
  })
})

describe('foldAll', () => {
  it('returns the same all at once, one by one, and in place', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const all = foldAll(emptyConversation, events)
        expect(events.reduce(fold, emptyConversation)).toEqual(all)
        const folding = createFold()
        for (const event of events) folding.apply(event)
        expect(folding.snapshot()).toEqual(all)
        expect(folding.state).toEqual(all)
      }),
    )
  })

  it('returns the same for records that were serialized to JSON', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const parsed = JSON.parse(JSON.stringify(events)) as Foldable[]
        expect(foldAll(emptyConversation, parsed)).toEqual(foldAll(emptyConversation, events))
      }),
    )
  })

  it('never changes a state that it returned, while the fold continues', () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.boolean(), { maxLength: 60 }), (events, taken) => {
        const folding = createFold()
        const snapshots: { snapshot: unknown; copy: unknown }[] = []
        events.forEach((event, i) => {
          folding.apply(event)
          if (!taken[i]) return
          const snapshot = folding.snapshot()
          snapshots.push({ snapshot, copy: structuredClone(snapshot) })
        })
        for (const { snapshot, copy } of snapshots) expect(snapshot).toEqual(copy)
        expect(emptyConversation).toMatchObject({ position: 0, messages: [], runs: [] })
      }),
    )
  })

  it('changes nothing for records that were folded before', () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        const records = events.filter((event) => event.position !== undefined)
        const state = foldAll(emptyConversation, records)
        expect(foldAll(state, records)).toBe(state)
      }),
    )
  })

  it('shares what did not change', () => {
    const before = stateOf(answering('c1'))
    const after = fold(before, { v: 1, position: 99, timestamp: '', event: written('x') })
    expect(after.runs).toBe(before.runs)
    expect(after.calls).toBe(before.calls)
    expect(after.messages[0]).toBe(before.messages[0])
  })
})
