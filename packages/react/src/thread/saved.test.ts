import type { ConversationEvent } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { savedIn } from './saved.ts'

const asset = (assetId: string, change: object = {}): ConversationEvent => ({
  type: 'ASSET_CREATED',
  payload: {
    assetId,
    ref: `asset://${assetId}`,
    mime: 'text/csv',
    kind: 'file',
    by: 'user',
    size: 40_000,
    digest: assetId,
    ...change,
  },
})
const finished = (inputTokens: number | null): ConversationEvent[] => [
  {
    type: 'STEP_FINISHED',
    stepName: 's',
    runId: 'r',
    messageId: 'a',
    usage: { inputTokens, outputTokens: 1 },
    finishReason: 'stop',
  },
  {
    type: 'RUN_FINISHED',
    threadId: 'c',
    runId: 'r',
    result: { reason: 'done', usage: { inputTokens, outputTokens: 1 } },
  },
]

function saved(
  before: ConversationEvent[],
  tokens: number | null,
  after: ConversationEvent[] = [],
) {
  const state = stateOf(
    ...before,
    message({ id: 'q' }),
    runStarted('r', 'q'),
    stepStarted('a'),
    message({ id: 'a' }),
    ...finished(tokens),
    ...after,
  )
  const [run] = state.runs
  return run && savedIn(state, run)
}

describe('savedIn', () => {
  it('counts each existing file and value once, and no pictures', () => {
    const before = [asset('x'), asset('copy', { digest: 'x' }), asset('y', { structured: true })]
    const picture = asset('p', { kind: 'image', mime: 'image/png' })
    expect(saved([...before, picture], 1_500, [asset('later')])).toEqual({
      bytes: 80_000,
      tokens: 1_500,
      tokensByValue: 21_500,
    })
  })

  it('leaves tokens out if the provider does not count them', () => {
    expect(saved([asset('x')], null)).toMatchObject({ bytes: 40_000, tokensByValue: null })
  })

  it('is null for small savings, and during the run', () => {
    expect(saved([asset('x', { size: 100 })], 1_500)).toBeNull()
    const running = stateOf(asset('x'), runStarted(), stepStarted('a'))
    expect(running.runs[0] && savedIn(running, running.runs[0])).toBeNull()
  })
})
