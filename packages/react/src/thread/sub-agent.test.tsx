import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ConversationEvent } from 'byref/client'
import { describe, expect, it, vi } from 'vitest'
import { message, runStarted, stateOf, stepStarted } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { server } from '../testing/server.ts'
import { summary } from '../testing/summaries.ts'
import { CallCard } from './call-card.tsx'
import { Thread } from './thread.tsx'

const call = { id: 'call1', name: 'critic', arguments: {} }
const ids = { toolCallId: 'call1', runId: 'r' }

/** Puts one conversation into the list. */
function list(id: string, status: 'running' | 'waiting'): void {
  const pages = [{ conversations: [summary(id, { status })], next: null }]
  const { queryKey } = server.conversationsQuery()
  act(() => void server.queries.setQueryData(queryKey, { pages, pageParams: [undefined] }))
}

describe('SubAgentLink', () => {
  it('leads from a call to the conversation of its sub-agent', async () => {
    const running: ConversationEvent[] = [
      runStarted(),
      stepStarted('q'),
      { type: 'TOOL_CALL_END', ...ids, parentMessageId: 'q', call },
      { type: 'TOOL_STARTED', ...ids, attempt: 1 },
    ]
    const payload = { toolCallId: 'call1', message: 'critic waits for an approval in c1/call1' }
    const state = stateOf(...running, { type: 'TOOL_PROGRESS', payload })
    await renderInApp(<CallCard id="call1" call={call} />, { state })
    expect(screen.queryByRole('link')).toBeNull()
    expect(screen.getByText('critic waits for an approval')).toBeTruthy()
    list('c1/call1', 'waiting')
    const link = await screen.findByRole('link', { name: 'Open its conversation' })
    expect(link.getAttribute('href')).toBe('/c/c1%2Fcall1')
    expect(screen.getByText(/Another agent answers this call/)).toBeTruthy()
  })

  it('is absent from other calls', async () => {
    await renderInApp(<CallCard id="call2" call={{ ...call, id: 'call2' }} />)
    list('c1/call1', 'running')
    expect(screen.queryByRole('link')).toBeNull()
  })
})

describe('a call of a sub-agent that waits for a person', () => {
  const asked: ConversationEvent[] = [
    runStarted(),
    stepStarted('q'),
    { type: 'TOOL_CALL_END', ...ids, parentMessageId: 'q', call },
    { type: 'TOOL_STARTED', ...ids, attempt: 1 },
    {
      type: 'APPROVAL_REQUESTED',
      parentToolCallId: 'call1',
      runId: 'r',
      toolCallId: 'call1/w1',
      toolName: 'warn',
      arguments: { mm: 80 },
    },
  ]

  it('is answered in the call that the sub-agent works for', async () => {
    const paths: string[] = []
    vi.stubGlobal('fetch', async (path: string) => {
      paths.push(path)
      return Response.json({}, { status: 202 })
    })
    await renderInApp(<CallCard id="call1" call={call} />, { state: stateOf(...asked) })
    const form = await screen.findByRole('form', { name: 'Approval of warn' })
    expect(screen.getByText('needs your approval')).toBeTruthy()
    fireEvent.click(within(form).getByRole('button', { name: 'Approve' }))
    await waitFor(() => expect(paths).toEqual(['/api/conversations/c1/calls/call1%2Fw1/approval']))
  })

  it('shows the answer, and the caller runs again', async () => {
    const answer = { parentToolCallId: 'call1', toolCallId: 'call1/w1', runId: 'r', by: 'ada' }
    const state = stateOf(...asked, { type: 'APPROVAL_ANSWERED', approved: false, ...answer })
    await renderInApp(<CallCard id="call1" call={call} />, { state })
    expect(await screen.findByText(/Denied by ada/)).toBeTruthy()
    expect(screen.getByText('running')).toBeTruthy()
    expect(screen.queryByRole('form')).toBeNull()
  })
})

describe('SubAgentOrigin', () => {
  const run = { threadId: 'c', runId: 'r', messageIds: ['m1'], owner: 'me', toolCallId: 'call1' }
  const state = stateOf(
    { type: 'RUN_STARTED', ...run },
    message({ id: 'm1', content: 'Review this' }),
  )

  it('leads from the conversation of a sub-agent to the call', async () => {
    await renderInApp(<Thread />, { state, id: 'c1/call1' })
    const link = await screen.findByRole('link', { name: 'Go to the call' })
    expect(link.getAttribute('href')).toBe('/c/c1#call-call1')
    expect(screen.getByText('Calling agent')).toBeTruthy()
  })

  it('is absent from a fork', async () => {
    await renderInApp(<Thread />, { state, id: 'c2' })
    await screen.findByText('Review this')
    expect(screen.queryByRole('link', { name: 'Go to the call' })).toBeNull()
  })
})
