import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Composer } from '../composer/composer.tsx'
import { runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { Thread } from './thread.tsx'

let hasRunner = false
let position = 0
let asked: string[] = []

beforeEach(() => {
  hasRunner = false
  position = 0
  asked = []
  vi.useFakeTimers({ shouldAdvanceTime: true })
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path)
    if (path === '/api/conversations/c1') return Response.json({ id: 'c1', hasRunner, position })
    return Response.json({ conversations: [], resumed: true })
  })
})
afterEach(() => {
  vi.useRealTimers()
})

const state = stateOf(runStarted(), stepStarted('q'))
const summaries = () => asked.filter((path) => path === '/api/conversations/c1').length

describe('an open run without events', () => {
  it('can be resumed if no server works on it', async () => {
    await renderInApp(<Thread />, { state })
    expect(screen.getByText(/Thinking/)).toBeTruthy()
    await act(() => vi.advanceTimersByTimeAsync(5_000))
    expect((await screen.findByRole('alert')).textContent).toContain('This run was interrupted')
    expect(screen.queryByText(/Thinking/)).toBeNull()
    fireEvent.click(screen.getByRole('button', { name: 'Resume' }))
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
    expect(asked).toContain('/api/conversations/c1/resume')
    await act(() => vi.advanceTimersByTimeAsync(10_000))
    expect(await screen.findByRole('alert')).toBeTruthy()
  })

  it('is not called an answer that is being written', async () => {
    await renderInApp(<Composer />, { state })
    expect(screen.getByText('Answering…')).toBeTruthy()
    await act(() => vi.advanceTimersByTimeAsync(5_000))
    expect(await screen.findByText(/^Interrupted/)).toBeTruthy()
    expect(screen.queryByText('Answering…')).toBeNull()
  })

  it.each([
    [
      'a server works on it',
      () => {
        hasRunner = true
      },
    ],
    [
      'the page has not received the newest events',
      () => {
        position = 1e6
      },
    ],
  ])('is shown as it is while %s', async (_, given) => {
    given()
    await renderInApp(<Thread />, { state })
    const before = summaries()
    await act(() => vi.advanceTimersByTimeAsync(5_000))
    await waitFor(() => expect(summaries()).toBeGreaterThan(before))
    expect(screen.queryByRole('alert')).toBeNull()
    expect(screen.getByText(/Thinking/)).toBeTruthy()
  })

  it('cannot be resumed by readers, nor if another run started it', async () => {
    const reader = await renderInApp(<Thread />, { state, role: 'reader' })
    await act(() => vi.advanceTimersByTimeAsync(5_000))
    await screen.findByRole('alert')
    expect(screen.queryByRole('button', { name: 'Resume' })).toBeNull()
    reader.unmount()
    const run = { threadId: 'c', runId: 'r', messageIds: [], owner: 'me', toolCallId: 'call' }
    await renderInApp(<Thread />, { state: stateOf({ type: 'RUN_STARTED', ...run }) })
    await act(() => vi.advanceTimersByTimeAsync(20_000))
    expect(screen.queryByRole('alert')).toBeNull()
  })
})
