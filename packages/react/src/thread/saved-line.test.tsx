import { screen } from '@testing-library/react'
import type { ConversationEvent } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { RunLine } from './saved-line.tsx'

const step = (messageId: string): (ConversationEvent | ReturnType<typeof message>)[] => [
  stepStarted(messageId),
  message({ id: messageId }),
  {
    type: 'STEP_FINISHED',
    stepName: 's',
    runId: 'r',
    messageId,
    finishReason: 'stop',
    usage: { inputTokens: 1000, outputTokens: 10, cost: 0.02 },
  },
]
const finished: ConversationEvent = {
  type: 'RUN_FINISHED',
  threadId: 'c',
  runId: 'r',
  result: { reason: 'done', usage: { inputTokens: 2000, outputTokens: 20, cost: 0.04 } },
}

describe('RunLine', () => {
  it('shows the total cost of all steps, and links to them', async () => {
    const state = stateOf(runStarted(), ...step('a'), ...step('b'), finished)
    await renderInApp(<RunLine messageId="b" />, { state })
    const line = screen.getByRole('link', { name: 'Whole run: 2 steps · 2,020 tokens · $0.0400' })
    expect(line.getAttribute('href')).toContain('run=r')
  })

  it('is hidden for a run of one step, and below an earlier step', async () => {
    const one = stateOf(runStarted(), ...step('a'), finished)
    const { unmount } = await renderInApp(<RunLine messageId="a" />, { state: one })
    expect(screen.queryByRole('link')).toBeNull()
    unmount()
    const two = stateOf(runStarted(), ...step('a'), ...step('b'), finished)
    await renderInApp(<RunLine messageId="a" />, { state: two })
    expect(screen.queryByRole('link')).toBeNull()
  })
})
