import { act, screen, within } from '@testing-library/react'
import type { ConversationEvent, Message } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asked, message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { InProgress } from './in-progress.tsx'
import { Queued } from './queued.tsx'
import { ThreadItem } from './thread-item.tsx'
import { timeline } from './timeline.ts'

beforeEach(() => {
  vi.stubGlobal('fetch', async () => Response.json({ error: {} }, { status: 404 }))
})

const ids = (toolCallId: string) => ({ toolCallId, runId: 'r' })
const calls = (id: string, args: Record<string, unknown> = {}): ConversationEvent => ({
  type: 'TOOL_CALL_END',
  ...ids(id),
  parentMessageId: 'q',
  call: { id, name: `tool_${id}`, arguments: args },
})

function show(...parts: (Message | ConversationEvent)[]) {
  const state = stateOf(...parts)
  const page = (
    <>
      {timeline(state).map((item) => (
        <ThreadItem key={item.key} item={item} />
      ))}
      <InProgress />
      <Queued />
    </>
  )
  return renderInApp(page, { state })
}

function shown(): (string | null)[] {
  return screen.getAllByRole('article').map((article) => article.getAttribute('aria-label'))
}

describe('InProgress', () => {
  it('shows the text so far, its calls, and their results so far', async () => {
    await show(
      runStarted(),
      stepStarted('q'),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'q', delta: 'Half of' },
      calls('1'),
      calls('2'),
      { type: 'TOOL_STARTED', ...ids('1'), attempt: 1 },
      message({ content: 'seen', metadata: { tool_result: { tool_call_id: '1' } } }),
    )
    expect(screen.getAllByText('Half of').map((one) => one.tagName)).toEqual(['SPAN', 'P'])
    expect(shown()).toEqual(['Call of tool_1', 'Call of tool_2'])
    const [first] = screen.getAllByRole('article')
    expect(
      within(first as HTMLElement).getByRole('group', { name: 'Result' }).textContent,
    ).toContain('seen')
    expect(screen.getByText('waiting for other calls')).toBeTruthy()
    expect(screen.queryByText('Thinking…')).toBeNull()
  })

  it('shows that the agent is thinking, but not while a person is asked', async () => {
    const thinking = await show(runStarted(), stepStarted('q'))
    expect(screen.getByText('Thinking…')).toBeTruthy()
    thinking.unmount()
    await show(...asked({ sum: 5 }))
    expect(screen.queryByText('Thinking…')).toBeNull()
    expect(await screen.findByRole('button', { name: 'Approve' })).toBeTruthy()
  })

  it('shows how long it has been thinking, and why and when the model is called again', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, now: new Date('2026-01-01T12:00:13.000Z') })
    const retry = (attempt: number, waitMs: number): ConversationEvent => ({
      type: 'MODEL_RETRY',
      messageId: 'q',
      attempt,
      waitMs,
      reason: 'The provider is busy (429)',
    })
    const status = async (...events: ConversationEvent[]) => {
      const page = await show(runStarted(), stepStarted('q'), ...events)
      const text = page.container.textContent
      page.unmount()
      return text
    }
    expect(await status()).toContain('Thinking… 12 s')
    expect(await status(retry(1, 4000))).toContain(
      'The provider is busy (429). Trying again in 4 s…',
    )
    expect(await status(retry(2, 4000))).toContain('2 attempts failed.')
    await show(runStarted(), stepStarted('q'), retry(1, 2000))
    await act(() => vi.advanceTimersByTimeAsync(2500))
    expect(screen.getByText(/Thinking…/)).toBeTruthy()
    vi.useRealTimers()
  })

  it('counts the items of a mapped call', async () => {
    const item = (n: number): ConversationEvent[] => [
      { type: 'TOOL_STARTED', ...ids('1'), attempt: 1, item: n },
      n === 1
        ? {
            type: 'TOOL_FINISHED',
            ...ids('1'),
            item: n,
            error: { code: 'tool_failed', message: 'no' },
          }
        : { type: 'TOOL_FINISHED', ...ids('1'), item: n, value: n },
    ]
    const begun = [runStarted(), stepStarted('q')]
    const each: ConversationEvent = { type: 'TOOL_STARTED', ...ids('1'), attempt: 1, items: 3 }
    await show(...begun, calls('1', { _each: '†state.rows' }), each, ...item(0), ...item(1))
    expect(screen.getByText(/of 3 items done/).textContent).toBe('2 of 3 items done, 1 failed')
  })
})

describe('Queued', () => {
  it('shows queued messages at the end of the thread', async () => {
    const queued = (id: string, deliver: 'next_run' | 'next_step'): ConversationEvent => ({
      type: 'NEW_MESSAGE',
      payload: message({ id, content_type: 'text/plain', content: id }),
      deliver,
    })
    await show(runStarted(), queued('later', 'next_run'), queued('soon', 'next_step'))
    expect(screen.getByText('later')).toBeTruthy()
    expect(screen.getByText('Sent when this run ends')).toBeTruthy()
    expect(screen.getByText('Added at the next step')).toBeTruthy()
  })
})
