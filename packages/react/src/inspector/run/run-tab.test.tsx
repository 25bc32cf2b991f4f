import { fireEvent, screen } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Notifications } from '../../app/notifications.tsx'
import { asked, message, runStarted, stateOf, stepStarted } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { RunTab } from './run-tab.tsx'

const many = Array.from({ length: 45 }, (_, i) => [
  runStarted(`r${i}`),
  { type: 'RUN_FINISHED', threadId: 'c', runId: `r${i}`, result: { reason: 'done' } } as const,
])

afterEach(() => {
  vi.restoreAllMocks()
})

describe('RunTab', () => {
  it('shows the newest of many runs, and more on request', async () => {
    await renderInApp(<RunTab />, { state: stateOf(...(many.flat() as never[])) })
    const names = () => screen.getAllByRole('article').map((run) => run.getAttribute('aria-label'))
    expect([names().length, names()[0]]).toEqual([20, 'Run 45'])
    fireEvent.click(screen.getByRole('button', { name: '… 25 more runs' }))
    expect(names().at(-1)).toBe('Run 6')
  })

  it('shows the run that the URL names, also an old one', async () => {
    const state = stateOf(...(many.flat() as never[]))
    await renderInApp(<RunTab />, { state, at: '/?run=r5' })
    const linked = screen.getByRole('article', { current: true })
    expect(linked.getAttribute('aria-label')).toBe('Run 6')
  })

  it('lets a person answer a call and stop the run, and shows why it could not be stopped', async () => {
    vi.spyOn(client, 'cancel').mockRejectedValue(new Error('The server is gone.'))
    await renderInApp(
      <>
        <RunTab />
        <Notifications />
      </>,
      { state: stateOf(...asked({ sum: 3 })) },
    )
    expect(screen.getByText('needs your approval')).toBeTruthy()
    expect(screen.getByRole('button', { name: /^Approve/ })).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }))
    expect((await screen.findByRole('alert')).textContent).toContain('The server is gone.')
  })

  it('shows the cost of a step and the size of a result', async () => {
    const call = { id: 'c1', name: 'read', arguments: {} }
    const ids = { toolCallId: 'c1', runId: 'r' }
    const usage = { inputTokens: 92_300, outputTokens: 31, cost: 0.023 }
    const state = stateOf(
      runStarted(),
      stepStarted('q'),
      { type: 'TOOL_CALL_END', ...ids, parentMessageId: 'q', call },
      message({ id: 'q', metadata: { tool_calls: [call] } }),
      {
        type: 'STEP_FINISHED',
        stepName: 'step 1',
        runId: 'r',
        messageId: 'q',
        usage,
        finishReason: 'tool-calls',
      },
      message({
        id: 'res',
        content: 'x'.repeat(206_000),
        metadata: { tool_result: { tool_call_id: 'c1' } },
      }),
    )
    await renderInApp(<RunTab />, { state })
    expect(screen.getByText('92,300 in, 31 out · $0.0230')).toBeTruthy()
    expect(screen.getByText('206 KB result')).toBeTruthy()
  })

  it('shows neither to readers', async () => {
    await renderInApp(<RunTab />, { state: stateOf(...asked({ sum: 3 })), role: 'reader' })
    expect(screen.getByText('waits for an approval')).toBeTruthy()
    expect(screen.queryAllByRole('button')).toEqual([])
  })
})
