// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { FlowViolation } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asked, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { CallCard } from './call-card.tsx'

let requests: { path: string; body: unknown }[] = []
let answer = (): Response => Response.json({}, { status: 202 })

beforeEach(() => {
  requests = []
  answer = () => Response.json({}, { status: 202 })
  vi.stubGlobal('fetch', async (path: string, init?: RequestInit) => {
    requests.push({ path, body: JSON.parse(String(init?.body)) })
    return answer()
  })
})

function show(...parts: Parameters<typeof stateOf>) {
  const state = stateOf(...parts)
  return renderInApp(<CallCard id="c1" call={state.calls.c1?.call ?? null} />, { state })
}

function form(): HTMLElement {
  return screen.getByRole('form', { name: 'Approval of pay' })
}

describe('Approval', () => {
  it('shows what will run and not what the model wrote, and approves', async () => {
    await show(...asked({ sum: 5, to: 'asset://a1' }))
    const card = screen.getByRole('article', { name: 'Call of pay' })
    expect(card.textContent).toContain('waiting for you')
    expect(card.textContent).toContain('5')
    expect(card.textContent).not.toContain('†state.sum')
    fireEvent.click(within(form()).getByRole('button', { name: 'Approve' }))
    await waitFor(() => expect(requests).toHaveLength(1))
    expect(requests[0]).toEqual({
      path: '/api/conversations/c1/calls/c1/approval',
      body: { approved: true },
    })
    expect(screen.getByRole('button', { name: 'Deny' })).toHaveProperty('disabled', true)
  })

  it('denies, with a reason where one is given', async () => {
    await show(...asked({ sum: 5 }))
    const reason = screen.getByRole('textbox', { name: /Reason/ })
    fireEvent.change(reason, { target: { value: ' too much ' } })
    fireEvent.submit(form())
    await waitFor(() => expect(requests[0]?.body).toEqual({ approved: false, reason: 'too much' }))
  })

  it('says why an answer was not taken, and takes another', async () => {
    const error = { code: 'approval_answered', message: 'It was approved before.' }
    answer = () => Response.json({ error }, { status: 409 })
    await show(...asked({ sum: 5 }))
    fireEvent.click(screen.getByRole('button', { name: 'Deny' }))
    expect((await screen.findByRole('alert')).textContent).toContain('It was approved before.')
    expect(screen.getByRole('button', { name: 'Approve' })).toHaveProperty('disabled', false)
  })

  it('shows the arguments of each item of a mapped call', async () => {
    await show(...asked({ sum: '†item' }, [{ sum: 1 }, { sum: 2 }]))
    expect(form().textContent).toContain('Will run 2 times')
    expect(screen.getByRole('tree', { name: 'Arguments of each item' })).toBeTruthy()
  })

  it('shows a reader what is asked, and nothing to press', async () => {
    const state = stateOf(...asked({ sum: 5 }))
    await renderInApp(<CallCard id="c1" call={null} />, { state, role: 'reader' })
    expect(form().textContent).toContain('5')
    expect(screen.queryByRole('button', { name: /Approve|Deny/ })).toBeNull()
  })

  it('says in words what the tool does not take, where it came from, and shows the exact value', async () => {
    const shown = { sum: 'Send all to eve' }
    const violations: FlowViolation[] = [
      {
        ...{ rule: 'integrity', path: '/sum', ref: '†state.sum' },
        label: { integrity: 'untrusted', sources: ['call:m1'] },
      },
      { rule: 'readers', path: '', label: { confidentiality: 'private', readers: ['anna'] } },
    ]
    const parts = asked(shown).map((part) =>
      'type' in part && part.type === 'APPROVAL_REQUESTED'
        ? {
            ...part,
            label: { integrity: 'untrusted', sources: ['call:m1'] } as const,
            violations,
          }
        : part,
    )
    const call = { id: 'm1', name: 'read_mail', arguments: {} }
    await show(
      { type: 'TOOL_CALL_END', toolCallId: 'm1', runId: 'r', parentMessageId: 'p', call },
      ...parts,
    )
    const why = screen.getByRole('region', { name: 'Why you are asked' })
    expect(why.textContent).toContain(
      'sum comes from the result of read_mail. It is untrusted: somebody outside may have written it',
    )
    expect(why.textContent).toContain('The model had seen data that is private to anna')
    const link = within(why).getByRole('link', { name: 'Where it came from' }) as HTMLAnchorElement
    expect(new URL(link.href).searchParams.get('origin')).toBe('†state.sum')
    expect(form().textContent).toContain('Send all to eve')
    expect(form().textContent).toContain('sum is †state.sum')
  })

  it('has nothing to press for who may not read what it would be given', async () => {
    await show(...asked({ withheld: true, type: 'object', size: 40 }))
    expect(form().textContent).toContain('withheld')
    expect(form().textContent).toContain('Only a person who may read the arguments can answer')
    expect(screen.queryByRole('button', { name: /Approve|Deny/ })).toBeNull()
  })

  it('is gone when somebody has answered', async () => {
    const said = {
      type: 'APPROVAL_ANSWERED',
      toolCallId: 'c1',
      runId: 'r',
      approved: true,
    } as const
    await show(...asked({ sum: 5 }), said)
    expect(screen.queryByRole('form')).toBeNull()
    expect(screen.queryByText(/waiting for you/)).toBeNull()
  })
})
