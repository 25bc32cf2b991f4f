import { act, screen } from '@testing-library/react'
import { type ConversationEvent, type ConversationState, emptyConversation } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { ConversationContext } from '../app/conversation-context.tsx'
import { asked, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { RunStatus } from './run-status.tsx'

/** A conversation that a test changes, and all announcements of its live region. */
async function listen(first: ConversationState) {
  let state = first
  const listeners = new Set<() => void>()
  const source = {
    id: 'c',
    status: 'live',
    error: null,
    loaded: true,
    getState: () => state,
    reconnect: () => {},
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as const
  const heard: string[] = []
  const note = () => {
    const text = screen.getByRole('status').textContent ?? ''
    if (text !== '' && text !== heard.at(-1)) heard.push(text)
  }
  await renderInApp(
    <ConversationContext value={source}>
      <RunStatus />
    </ConversationContext>,
  )
  note()
  return {
    heard,
    become(next: ConversationState): void {
      act(() => {
        state = next
        for (const listener of listeners) listener()
      })
      note()
    },
  }
}

const usage = { inputTokens: null, outputTokens: null }
const begun = [runStarted(), stepStarted('q')]
const waiting = asked({ sum: 5 })
const done: ConversationEvent = {
  type: 'RUN_FINISHED',
  threadId: 'c',
  runId: 'r',
  result: { reason: 'done', usage },
}
const failed: ConversationEvent = {
  type: 'RUN_ERROR',
  threadId: 'c',
  runId: 'r',
  code: 'model_failed',
  message: 'The provider is down.',
}

describe('RunStatus', () => {
  it('announces once that the agent works, needs an approval, and is done', async () => {
    const { heard, become } = await listen(emptyConversation)
    become(stateOf(...begun))
    become(stateOf(...waiting))
    become(stateOf(...waiting))
    become(stateOf(...waiting, done))
    expect(heard).toEqual([
      'The agent is working.',
      'The agent needs your approval of pay.',
      'The answer is complete.',
    ])
  })

  it('announces why a run failed', async () => {
    const { heard, become } = await listen(stateOf(...begun))
    become(stateOf(...begun, failed))
    expect(heard).toEqual(['The agent is working.', 'The run failed. The provider is down.'])
  })

  it('announces nothing about a run that was over before', async () => {
    const { heard } = await listen(stateOf(...begun, done))
    expect(heard).toEqual([])
  })
})
