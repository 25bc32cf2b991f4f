import type { ConversationEvent, Message } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { answeredCall, ledgerOf } from './ledger.ts'
import { timeline } from './timeline.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()

function shown(...parts: (Message | ConversationEvent)[]): string[] {
  return timeline(stateOf(...parts)).map((item) => {
    if (item.type === 'message') return `${item.header ? '# ' : ''}${item.message.id}`
    if (item.type === 'step') {
      const inner = item.asides.map(({ id }) => id).join(' ')
      return `${item.header ? '# ' : ''}${item.message.id} [${inner}]`
    }
    if (item.type === 'loop') return `loop ${item.steps.length}`
    return item.type === 'logs' ? `logs ${item.messages.length}` : item.type
  })
}

const tool = { participant_id: 't', participant_role: 'tool' }

describe('timeline', () => {
  it('gives a message a heading unless the same sender wrote within a minute', () => {
    expect(
      shown(
        message({ id: 'a', timestamp: at(0) }),
        message({ id: 'b', timestamp: at(59) }),
        message({ id: 'c', timestamp: at(120) }),
        message({ id: 'd', timestamp: at(121), metadata: { attribution: 'other' } }),
      ),
    ).toEqual(['# a', 'b', '# c', '# d'])
  })

  it('folds consecutive steps that called the same tools', () => {
    const step = (
      id: string,
      name = 'read',
      error?: { code: string; message: string },
    ): Message[] => [
      message({ id, metadata: { tool_calls: [{ id: `c${id}`, name, arguments: {} }] } }),
      message({
        id: `r${id}`,
        sender: tool,
        metadata: { tool_result: { tool_call_id: `c${id}`, error } },
      }),
    ]
    const five = ['1', '2', '3', '4', '5'].flatMap((id) => step(id))
    expect(shown(...five, message({ id: 'a' }))).toEqual(['loop 5', 'a'])
    expect(shown(...five.slice(0, 8))).toHaveLength(4)
    const failed = step('6', 'read', { code: 'tool_failed', message: 'No' })
    const others = ['7', '8'].flatMap((id) => step(id, 'look'))
    expect(shown(...five, ...failed, ...others)).toEqual([
      ...['loop 5', '6 [r6]', '7 [r7]', '8 [r8]'],
    ])
  })

  it('puts the end of a run before a message that waited for it', () => {
    const queued: ConversationEvent = {
      type: 'NEW_MESSAGE',
      deliver: 'next_run',
      payload: message({ id: 'b', timestamp: at(1) }),
    }
    expect(
      shown(
        message({ id: 'a', timestamp: at(0) }),
        runStarted('r1', 'a'),
        queued,
        {
          type: 'RUN_FINISHED',
          threadId: 'c',
          runId: 'r1',
          result: { reason: 'cancelled', usage: { inputTokens: null, outputTokens: null } },
        },
        runStarted('r2', 'b'),
      ),
    ).toEqual(['# a', 'run-end', '# b'])
  })

  it('keeps messages of a sender together across results and data', () => {
    expect(
      shown(
        message({ id: 'a' }),
        message({ id: 'r', sender: tool, metadata: { tool_result: { tool_call_id: '1' } } }),
        message({ id: 'd', sender: tool, content_type: 'data', content: { type: 'data' } }),
        message({ id: 'b' }),
      ),
    ).toEqual(['# a', 'r', 'd', 'b'])
  })

  it('puts the results and writes of calls into their step, and those of other calls in their place', () => {
    const calls = (...ids: string[]) => ({
      tool_calls: ids.map((id) => ({ id, name: 'look', arguments: {} })),
    })
    const result = (id: string, callId: string) =>
      message({ id, sender: tool, metadata: { tool_result: { tool_call_id: callId } } })
    expect(
      shown(
        message({ id: 'a', metadata: calls('1', '2') }),
        result('r2', '2'),
        message({ id: 'd', content_type: 'data', content: { type: 'data', _call: '1' } }),
        result('r1', '1'),
        result('lost', '9'),
        message({ id: 'b' }),
        result('late', '1'),
      ),
    ).toEqual(['# a [r2 d r1]', 'lost', 'b', 'late'])
  })

  it('shows a picture once: in the message that shows it, else in the step that made it', () => {
    const picture = (id: string, change = {}) => ({
      assetRef: `asset://${id}`,
      mimeType: 'image/png',
      kind: 'image',
      ...change,
    })
    const made = (id: string, ...content: object[]): Message[] => [
      message({ metadata: { tool_calls: [{ id, name: 'draw', arguments: {} }] } }),
      message({ content, sender: tool, metadata: { tool_result: { tool_call_id: id } } }),
    ]
    const user = { participant_id: 'u', participant_role: 'user' }
    const items = timeline(
      stateOf(
        ...made('1', picture('a'), { title: 'Rain', chart: picture('b') }),
        ...made('2', picture('b'), picture('c', { caption: 'Wind' })),
        message({ content: 'So: ![a](<|asset://a/content|>)' }),
        message({ sender: user, content: '<|asset://b|>' }),
        ...made('3', picture('a')),
      ),
    )
    const media = items.flatMap((item) => (item.type === 'step' ? [item.media] : []))
    expect(media.map((list) => list.map(({ ref, title }) => [ref, title]))).toEqual([
      [['asset://b', 'Rain']],
      [['asset://c', 'Wind']],
      [['asset://a', undefined]],
    ])
  })

  it('shows nothing for deleted messages, and an orphan for the result of a deleted call', () => {
    const calls = [{ id: 'c1', name: 'look', arguments: {} }]
    const deletion = (messageId: string): ConversationEvent => ({
      type: 'MESSAGE_DELETED',
      messageId,
    })
    const parts = [
      runStarted(),
      stepStarted('a'),
      message({ id: 'a', metadata: { tool_calls: calls } }),
      message({ id: 'r', sender: tool, metadata: { tool_result: { tool_call_id: 'c1' } } }),
      message({ id: 'l', message_type: 'log' }),
      message({ id: 'b' }),
    ]
    expect(shown(...parts)).toEqual(['# a [r]', 'logs 1', 'b'])
    expect(shown(...parts, deletion('l'), deletion('a'))).toEqual(['r', '# b'])
    expect(shown(...parts, ...['a', 'r', 'l', 'b'].map(deletion))).toEqual([])
    const { messages } = stateOf(...parts, deletion('a'))
    const orphan = messages.find(({ id }) => id === 'r') as Message
    expect(answeredCall(orphan, ledgerOf(messages))).toBeNull()
  })

  it('groups log messages, and nothing else with them', () => {
    const log = () => message({ message_type: 'log' })
    expect(shown(log(), log(), message({ id: 'a', message_type: 'notice' }), log())).toEqual([
      'logs 2',
      '# a',
      'logs 1',
    ])
  })

  it('puts a failed run where it ended, and shows no successful runs', () => {
    const ids = { threadId: 'c', runId: 'r' }
    const usage = { inputTokens: null, outputTokens: null }
    expect(
      shown(
        runStarted(),
        message({ id: 'a', timestamp: at(1) }),
        { type: 'RUN_ERROR', ...ids, code: 'model_failed', message: 'no' },
        message({
          id: 'b',
          timestamp: at(9),
          sender: { participant_id: 'u', participant_role: 'user' },
        }),
        runStarted('r2'),
        { type: 'RUN_FINISHED', threadId: 'c', runId: 'r2', result: { reason: 'done', usage } },
      ),
    ).toEqual(['# a', 'run-end', '# b'])
  })

  it('keeps calls whose message was never written', () => {
    const ids = { threadId: 'c', runId: 'r' }
    const call = { id: '1', name: 'tool', arguments: {} }
    expect(
      shown(
        runStarted(),
        stepStarted('m'),
        { type: 'TOOL_CALL_END', toolCallId: '1', runId: 'r', parentMessageId: 'm', call },
        { type: 'RUN_ERROR', ...ids, code: 'interrupted', message: 'killed' },
      ),
    ).toEqual(['lost-calls', 'run-end'])
  })
})
