import { describe, expect, it } from 'vitest'
import { emptyConversation, openRun, type RunState } from './conversation-state.ts'

const run = (runId: string, status: RunState['status']): RunState => ({
  runId,
  status,
  owner: 'host-1',
  claims: 0,
  startedAt: '',
  usage: { inputTokens: null, outputTokens: null },
  steps: [],
  messageIds: [],
  waitedMs: 0,
})

describe('openRun', () => {
  it('is the last run while it is active', () => {
    const open = run('b', 'running')
    expect(openRun({ runs: [run('a', 'finished'), open] })).toBe(open)
    expect(openRun({ runs: [open, run('c', 'failed')] })).toBeNull()
    expect(openRun({ runs: [run('a', 'finished')] })).toBeNull()
  })

  it('is null before anything has happened', () => {
    expect(openRun(emptyConversation)).toBeNull()
  })
})

describe('emptyConversation', () => {
  it('starts at position 0, and accepts any text as an id', () => {
    expect(emptyConversation).toEqual({
      position: 0,
      updatedAt: '',
      messages: [],
      deletion: null,
      inbox: [],
      assets: [],
      assetErrors: [],
      assetsAfter: [],
      runs: [],
      calls: {},
      compaction: null,
      streaming: {},
    })
    expect('constructor' in emptyConversation.calls).toBe(false)
    expect('constructor' in emptyConversation.streaming).toBe(false)
  })
})
