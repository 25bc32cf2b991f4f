import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { generatedLog, generatedTools } from '../agent/fixtures/generated-log.ts'
import { createBoard } from '../core/board/board.ts'
import { type ConversationState, emptyConversation } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold, type Foldable, foldAll } from '../core/events/fold.ts'
import type { Message } from '../core/messages/message.ts'
import { callsOf, deadlineOf, graphOf, isOpen, type Next, type NextInput, next } from './next.ts'
import { type Limits, resolveLimits } from './run-settings.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const SECOND = 1000

/** Records of these events, one per second from the start. */
function recordsOf(events: readonly ConversationEvent[]): LogRecord[] {
  return events.map((event, i) => {
    const timestamp = new Date(START + i * SECOND).toISOString()
    return { v: 1, position: i + 1, timestamp, event }
  })
}

const stateOf = (events: readonly ConversationEvent[]): ConversationState =>
  foldAll(emptyConversation, recordsOf(events))

interface Given {
  limits?: Limits
  /** Seconds since the first event. */
  at?: number
}

function settingsFor(
  { messages }: Pick<ConversationState, 'messages'>,
  { limits, at = 100 }: Given = {},
): NextInput {
  const board = createBoard(messages.filter(({ content_type }) => content_type === 'data'))
  return {
    limits: resolveLimits(limits),
    tools: generatedTools,
    board,
    now: START + at * SECOND,
  }
}

/** Returns the next action, in short form. */
function dueAfter(events: readonly ConversationEvent[], given?: Given): unknown {
  const state = stateOf(events)
  return inShort(next(state, settingsFor(state, given)))
}

function inShort(due: Next): unknown {
  switch (due.type) {
    case 'idle':
      return 'nothing'
    case 'start_run':
      return { start: due.runId, messages: due.messages.map(({ message }) => message.id) }
    case 'begin_step':
      return { begin: due.run.runId, messages: due.messages.map(({ message }) => message.id) }
    case 'ask_model':
      return { ask: due.step.messageId }
    case 'log_interrupted':
      return { mend: due.step.messageId }
    case 'run_calls':
      return { call: due.step.messageId }
    case 'wait':
      return { wait: due.calls.map(({ id }) => id) }
    case 'end_run':
      return { end: due.reason }
    case 'fail_run':
      return { fail: due.code }
  }
}

const messageOf = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  sender: { participant_id: 'user', participant_role: 'user' },
  message_type: 'chat',
  content_type: 'text/plain',
  content: id,
  timestamp: new Date(START).toISOString(),
  metadata: {},
  ...more,
})
const says = (id: string): ConversationEvent => ({ type: 'NEW_MESSAGE', payload: messageOf(id) })
const queues = (id: string, runId?: string): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: messageOf(id),
  deliver: 'next_run',
  ...(runId ? { runId } : {}),
})
const steers = (id: string): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: messageOf(id),
  deliver: 'next_step',
})
const starts = (runId = 'r', messageIds = ['u']): ConversationEvent => ({
  type: 'RUN_STARTED',
  threadId: 'c',
  runId,
  messageIds,
  owner: 'host-1',
})
const claims: ConversationEvent = {
  type: 'RUN_CLAIMED',
  threadId: 'c',
  runId: 'r',
  owner: 'host-2',
}
const ends = (runId = 'r'): ConversationEvent => ({
  type: 'RUN_FINISHED',
  threadId: 'c',
  runId,
  result: { reason: 'done', usage: { inputTokens: 1, outputTokens: 1 } },
})
const fails: ConversationEvent = {
  type: 'RUN_ERROR',
  threadId: 'c',
  runId: 'r',
  code: 'run_failed',
  message: 'x',
}
const steps = (messageId = 'm'): ConversationEvent => ({
  type: 'STEP_STARTED',
  stepName: 'step',
  runId: 'r',
  messageId,
})
const calls = (
  id: string,
  name = 'plain',
  args: Record<string, unknown> = {},
): ConversationEvent => ({
  type: 'TOOL_CALL_END',
  toolCallId: id,
  runId: 'r',
  parentMessageId: 'm',
  call: { id, name, arguments: args },
})
const answers = (finishReason = 'stop', messageId = 'm', tokens = 10): ConversationEvent[] => [
  says(messageId),
  {
    type: 'STEP_FINISHED',
    stepName: 'step',
    runId: 'r',
    messageId,
    finishReason,
    usage: { inputTokens: tokens, outputTokens: tokens },
  },
]
const costing = (event: ConversationEvent): ConversationEvent =>
  event.type === 'STEP_FINISHED' ? { ...event, usage: { ...event.usage, cost: 0.00003 } } : event
const begins = (toolCallId: string): ConversationEvent => ({
  type: 'TOOL_STARTED',
  toolCallId,
  runId: 'r',
  attempt: 1,
})
const results = (id: string, error?: { code: string; message: string }): ConversationEvent => ({
  type: 'NEW_MESSAGE',
  payload: messageOf(`result-${id}`, { metadata: { tool_result: { tool_call_id: id, error } } }),
})
const asks = (toolCallId: string): ConversationEvent => ({
  type: 'APPROVAL_REQUESTED',
  toolCallId,
  runId: 'r',
  toolName: 't',
  arguments: {},
})
const decides = (toolCallId: string, approved = true): ConversationEvent => ({
  type: 'APPROVAL_ANSWERED',
  toolCallId,
  runId: 'r',
  approved,
})

const begun = [says('u'), starts()]
const asked = [...begun, steps()]

/** An answer with these calls. */
const called = (...own: ConversationEvent[]) => [...asked, ...own, ...answers('tool-calls')]

/** An answer that reached the limit of output tokens inside a call. */
const cutCall = (messageId: string): ConversationEvent[] => {
  const call = { id: messageId, name: 'plain', arguments: {} }
  const ids = { toolCallId: messageId, runId: 'r', parentMessageId: messageId }
  const end = { type: 'TOOL_CALL_END', ...ids, call, problem: 'cut' } as const
  return [steps(messageId), end, ...answers('length', messageId), results(messageId)]
}

const table: [string, ConversationEvent[], unknown, Given?][] = [
  ['nothing in a new conversation', [], 'nothing'],
  ['nothing where no message waits', [says('u')], 'nothing'],
  ['nothing after a run', [...asked, ...answers(), ends()], 'nothing'],
  ['nothing after a run that failed', [...begun, fails], 'nothing'],

  ['start with the message that waits', [queues('q')], { start: undefined, messages: ['q'] }],
  [
    'start with all that ask for no run',
    [queues('a'), queues('b')],
    { start: undefined, messages: ['a', 'b'] },
  ],
  [
    'start the run that the first asks for',
    [queues('a', 'r1'), queues('b', 'r2')],
    { start: 'r1', messages: ['a'] },
  ],
  [
    'start with those behind it',
    [queues('a', 'r1'), queues('b', 'r1'), queues('c'), queues('d', 'r2')],
    { start: 'r1', messages: ['a', 'b', 'c'] },
  ],
  [
    'start without those that ask for a run',
    [queues('a'), queues('b', 'r1')],
    { start: undefined, messages: ['a'] },
  ],
  [
    'start with what came too late to steer',
    [...begun, steers('s'), ends()],
    { start: undefined, messages: ['s'] },
  ],
  [
    'start what was queued during a run that failed',
    [...begun, queues('q', 'r2'), fails],
    { start: 'r2', messages: ['q'] },
  ],

  ['ask at the beginning of a run', begun, { begin: 'r', messages: [] }],
  [
    'ask with messages that steer',
    [...begun, steers('s'), queues('q')],
    { begin: 'r', messages: ['s'] },
  ],
  [
    'ask after the calls of an answer',
    [...called(calls('1')), results('1')],
    { begin: 'r', messages: [] },
  ],
  [
    'ask after a call that failed',
    [...called(calls('1')), results('1', { code: 'x', message: '' })],
    { begin: 'r', messages: [] },
  ],
  [
    'ask where a message came instead of an end',
    [...asked, ...answers(), steers('s')],
    { begin: 'r', messages: ['s'] },
  ],
  [
    'ask again where nothing is known of an answer',
    [...asked, claims],
    { begin: 'r', messages: [] },
  ],
  [
    'ask again, though the step was the last one',
    asked,
    { begin: 'r', messages: [] },
    { limits: { steps: 1 } },
  ],
  [
    'ask again with what steers now',
    [...asked, steers('s'), claims],
    { begin: 'r', messages: ['s'] },
  ],
  [
    'fail where the process ended again and again while the model was asked',
    [...begun, ...Array.from({ length: 100 }, (_, i) => [steps(`m${i}`), claims]).flat()],
    { fail: 'interrupted' },
    { limits: { steps: 5 } },
  ],

  ['mend an answer that broke off after a call', [...asked, calls('1')], { mend: 'm' }],
  [
    'mend it also when the call is done',
    [...asked, calls('1'), results('1'), claims],
    { mend: 'm' },
  ],
  [
    'mend it before any limit ends the run',
    [...asked, calls('1')],
    { mend: 'm' },
    { limits: { runTimeoutMs: 1, steps: 1 } },
  ],

  ['call what was not begun', called(calls('1')), { call: 'm' }],
  ['call what was begun and cut off', [...called(calls('1')), begins('1')], { call: 'm' }],
  ['call what is left', [...called(calls('1'), calls('2')), results('1')], { call: 'm' }],
  ['call after an answer', [...called(calls('1', 'asks')), asks('1'), decides('1')], { call: 'm' }],
  [
    'call after a refusal',
    [...called(calls('1', 'asks')), asks('1'), decides('1', false)],
    { call: 'm' },
  ],
  ['call a tool that is gone', called(calls('1', 'gone')), { call: 'm' }],
  [
    'call what is left of a broken answer',
    [...asked, calls('1'), ...answers('error')],
    { call: 'm' },
  ],
  [
    'call what does not wait for the person',
    [...called(calls('1', 'asks'), calls('2')), asks('1')],
    { call: 'm' },
  ],
  [
    'call what has a circle to report',
    [
      ...called(
        calls('1', 'asks'),
        calls('2', 'plain', { in: '†state.b', _outputPath: '†state.c' }),
        calls('3', 'plain', { in: '†state.c', _outputPath: '†state.b' }),
      ),
      asks('1'),
    ],
    { call: 'm' },
  ],

  ['wait for a person', [...called(calls('1', 'asks')), asks('1')], { wait: ['1'] }],
  [
    'wait for all that are asked about',
    [...called(calls('1', 'asks'), calls('2', 'asks')), asks('2'), asks('1')],
    { wait: ['1', '2'] },
  ],
  [
    'wait for the rest',
    [
      ...called(calls('1', 'asks'), calls('2', 'asks')),
      asks('1'),
      asks('2'),
      decides('2'),
      results('2'),
    ],
    { wait: ['1'] },
  ],
  [
    'wait where all else needs what waits',
    [
      ...called(
        calls('1', 'asks', { _outputPath: '†state.a' }),
        calls('2', 'plain', { in: '†state.a', _outputPath: '†state.b' }),
        calls('3', 'plain', { in: '†state.b' }),
      ),
      asks('1'),
    ],
    { wait: ['1'] },
  ],
  [
    'wait where all else writes behind it',
    [
      ...called(
        calls('1', 'asks', { _outputPath: '†state.a' }),
        calls('2', 'plain', { _outputPath: '†state.a' }),
      ),
      asks('1'),
    ],
    { wait: ['1'] },
  ],
  [
    'wait however long it takes',
    [...called(calls('1', 'asks')), asks('1')],
    { wait: ['1'] },
    { limits: { runTimeoutMs: 1 }, at: 3 * 86_400 },
  ],

  ['end', [...asked, ...answers()], { end: 'done' }],
  ['end, whatever else the reason', [...asked, ...answers('other')], { end: 'done' }],
  [
    'ask again after a call that was cut by the length',
    [...begun, ...cutCall('m1')],
    { begin: 'r', messages: [] },
  ],
  [
    'end a run whose calls were cut by the length twice',
    [...begun, ...cutCall('m1'), ...cutCall('m2')],
    { end: 'length' },
  ],
  [
    'not end it if a message arrived',
    [...begun, ...cutCall('m1'), ...cutCall('m2'), steers('s')],
    { begin: 'r', messages: ['s'] },
  ],
  [
    'end a run whose answer was cut by its length',
    [...asked, ...answers('length')],
    { end: 'length' },
  ],
  [
    'end a run whose answer was filtered',
    [...asked, ...answers('content-filter')],
    { end: 'content_filter' },
  ],
  [
    'go on after calls, though the answer was cut',
    [...asked, calls('1'), ...answers('length'), results('1')],
    { begin: 'r', messages: [] },
  ],
  [
    'end by steps',
    [...called(calls('1')), results('1')],
    { end: 'step_limit' },
    { limits: { steps: 1 } },
  ],
  [
    'end by steps, whoever steers',
    [...asked, ...answers(), steers('s')],
    { end: 'step_limit' },
    { limits: { steps: 1 } },
  ],
  [
    'end by tokens',
    [...called(calls('1')), results('1')],
    { end: 'token_limit' },
    { limits: { tokens: 20 } },
  ],
  [
    'ask below the limit of tokens',
    [...called(calls('1')), results('1')],
    { begin: 'r', messages: [] },
    { limits: { tokens: 21 } },
  ],
  [
    'end by cost',
    [...called(calls('1')).map(costing), results('1')],
    { end: 'cost_limit' },
    { limits: { cost: 0.00003 } },
  ],
  [
    'ask where the price is not known',
    [...called(calls('1')), results('1')],
    { begin: 'r', messages: [] },
    { limits: { cost: 0.00003 } },
  ],
  [
    'end by time before the first step',
    begun,
    { end: 'time_limit' },
    { limits: { runTimeoutMs: 98_000 }, at: 99 },
  ],
  [
    'ask until the very moment',
    begun,
    { begin: 'r', messages: [] },
    { limits: { runTimeoutMs: 98_001 }, at: 99 },
  ],
  [
    'end by time where calls are open',
    called(calls('1')),
    { end: 'time_limit' },
    { limits: { runTimeoutMs: 1 } },
  ],
  [
    'end by time where an answer is to be asked for again',
    [...asked, claims],
    { end: 'time_limit' },
    { limits: { runTimeoutMs: 1 } },
  ],
  [
    'end what is done by its own reason',
    [...asked, ...answers()],
    { end: 'done' },
    { limits: { runTimeoutMs: 1, steps: 1 } },
  ],
]

describe('next', () => {
  it.each(table)('returns: %s', (_, events, due, given) => {
    expect(dueAfter(events, given)).toEqual(due)
  })

  it('does not count the time that people take', () => {
    const waiting = [...called(calls('1', 'asks')), asks('1')]
    const late = recordsOf([...waiting, decides('1')])
    const answered = late.at(-1) as LogRecord
    const days = 3 * 86_400
    answered.timestamp = new Date(START + days * SECOND).toISOString()
    const state = foldAll(emptyConversation, late)
    const due = (at: number) =>
      inShort(next(state, settingsFor(state, { limits: { runTimeoutMs: 10 * SECOND }, at })))
    // Started at 1, asked at 6: five seconds are used up.
    expect(due(days)).toEqual({ call: 'm' })
    expect(due(days + 4.999)).toEqual({ call: 'm' })
    expect(due(days + 5)).toEqual({ end: 'time_limit' })
  })

  it('returns the run, the step and the calls', () => {
    const state = stateOf([...called(calls('1', 'asks')), asks('1')])
    const due = next(state, settingsFor(state))
    expect(due).toMatchObject({ type: 'wait', run: { runId: 'r' }, calls: [{ status: 'waiting' }] })
    if (due.type === 'wait') expect(due.run).toBe(state.runs[0])
  })

  it('returns the same when the log is folded again', () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 1000; seed++) {
      const { events } = generatedLog(seed, 30)
      const prefix: LogRecord[] = []
      const parsed: LogRecord[] = []
      const live = createFold()
      const durable = createFold()
      for (const event of events) {
        live.apply(event)
        if (event.position === undefined) continue
        durable.apply(event)
        prefix.push(event)
        parsed.push(JSON.parse(JSON.stringify(event)))
        const due = next(durable.state, generatedSettings(durable.state, event))
        for (const records of [prefix, parsed]) {
          const anew = foldAll(emptyConversation, records)
          const again = next(anew, generatedSettings(anew, event))
          if (!isDeepStrictEqual(again, due)) expect(again, `seed ${seed}`).toEqual(due)
        }
        const heard = inShort(next(live.state, generatedSettings(live.state, event)))
        if (!isDeepStrictEqual(heard, inShort(due)))
          expect(heard, `seed ${seed}`).toEqual(inShort(due))
        seen.add(due.type === 'end_run' ? due.reason : due.type)
      }
    }
    expect([...seen].sort()).toEqual([
      ...['begin_step', 'content_filter', 'cost_limit', 'done', 'idle', 'length'],
      ...['log_interrupted', 'run_calls', 'start_run', 'step_limit', 'time_limit'],
      ...['token_limit', 'wait'],
    ])
  })
})

/** Limits that generated runs sometimes reach, checked a moment after the record. */
function generatedSettings(state: ConversationState, { timestamp }: LogRecord): NextInput {
  const limits = { steps: 4, tokens: 60, cost: 0.00004, runTimeoutMs: 3_600_000 }
  const at = (Date.parse(timestamp) - START) / SECOND
  return settingsFor(state, { limits, at })
}

describe('callsOf', () => {
  it('returns the complete calls of one step, in the order of the answer', () => {
    const begin: Foldable = {
      event: {
        type: 'TOOL_CALL_START',
        toolCallId: '3',
        toolCallName: 'x',
        parentMessageId: 'm',
      },
    }
    const state = foldAll(stateOf([...asked, calls('2'), calls('1')]), [begin])
    const step = state.runs[0]?.steps[0]
    if (step) expect(callsOf(state, step).map(({ id }) => id)).toEqual(['2', '1'])
    expect(callsOf(state, { name: '', startedAt: '', messageId: 'm', callIds: ['no'] })).toEqual([])
  })

  it('skips an id that a later answer uses', () => {
    const state = stateOf([...asked, calls('1')])
    const step = { name: '', startedAt: '', messageId: 'earlier', callIds: ['1'] }
    expect(callsOf(state, step)).toEqual([])
  })
})

describe('isOpen', () => {
  it('is true for calls that can get a result', () => {
    const events = [...called(calls('1', 'asks'), calls('2'), calls('3'), calls('4'), calls('5'))]
    const error = { code: 'x', message: '' }
    const state = stateOf([...events, asks('1'), begins('2'), results('3'), results('4', error)])
    const open = Object.values(state.calls).filter(isOpen)
    expect(open.map(({ id }) => id)).toEqual(['1', '2', '5'])
    expect(Object.values(stateOf([...events, ends()]).calls).some(isOpen)).toBe(false)
  })
})

describe('deadlineOf', () => {
  it('is infinite without a limit, and includes the time that people took', () => {
    const run = { ...(stateOf(begun).runs[0] as ConversationState['runs'][number]), waitedMs: 500 }
    expect(deadlineOf(run, { runTimeoutMs: Infinity })).toBe(Infinity)
    expect(deadlineOf(run, { runTimeoutMs: 1000 })).toBe(START + 1 * SECOND + 1500)
  })
})

describe('graphOf', () => {
  const readyOf = (events: readonly ConversationEvent[]) => {
    const state = stateOf(events)
    const step = state.runs[0]?.steps[0]
    const graph = graphOf(step ? callsOf(state, step) : [], settingsFor(state))
    return graph.ready().map(({ plan, error }) => [plan.id, error?.code ?? null])
  }
  const source = calls('1', 'plain', { _outputPath: '†state.a || †state.b' })
  const reader = calls('2', 'plain', { in: '†state.a' })
  const other = calls('3', 'plain', { in: '†state.b' })
  const writes = (name: string): ConversationEvent => ({
    type: 'NEW_MESSAGE',
    payload: messageOf(`d-${name}`, {
      content_type: 'data',
      content: { type: 'data', kind: 'state', data: 1, _path: [name], _call: '1' },
    }),
  })

  it('releases calls whose sources are in the log', () => {
    expect(readyOf(called(source, reader, other))).toEqual([['1', null]])
    expect(readyOf([...called(source, reader), writes('a'), results('1')])).toEqual([['2', null]])
  })

  it('reports a failed source to readers, except for what it wrote instead', () => {
    const error = { code: 'tool_failed', message: 'x' }
    const failed = [...called(source, reader, other), writes('b'), results('1', error)]
    expect(readyOf(failed)).toEqual([
      ['2', 'source_failed'],
      ['3', null],
    ])
  })

  it('reports an invalid call at once', () => {
    const wrong = calls('1', 'gone', { _outputPath: '†state.a' })
    expect(readyOf(called(wrong, reader))).toEqual([['1', 'tool_not_found']])
  })
})
