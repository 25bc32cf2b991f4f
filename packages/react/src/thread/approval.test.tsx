import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { FlowViolation } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asked, message, stateOf } from '../testing/messages.ts'
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

async function show(...parts: Parameters<typeof stateOf>) {
  const state = stateOf(...parts)
  const { c1 } = state.calls
  const view = await renderInApp(<CallCard id="c1" call={c1?.call ?? null} />, { state })
  if (c1?.status === 'waiting') await screen.findByRole('form')
  if (c1?.approval?.answer) await screen.findByText(/^(Approved|Denied)/)
  return view
}

function withPreviews(
  parts: ReturnType<typeof asked>,
  previews: (string | null)[],
): ReturnType<typeof asked> {
  return parts.map((part) =>
    'type' in part && part.type === 'APPROVAL_REQUESTED' ? { ...part, previews } : part,
  )
}

function form(): HTMLElement {
  return screen.getByRole('form', { name: 'Approval of pay' })
}

describe('Approval', () => {
  it('shows what will run, not what the model wrote, and approves', async () => {
    await show(...asked({ sum: 5, to: 'asset://a1' }))
    const card = screen.getByRole('article', { name: 'Call of pay' })
    expect(card.textContent).toContain('needs your approval')
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

  it('shows each file that the arguments name', async () => {
    vi.stubGlobal('fetch', async (url: unknown) => {
      const id = /assets\/(\w+)/.exec(String(Object(url).url ?? url))?.[1]
      const [kind, mime] = id === 'a1' ? ['image', 'image/png'] : ['file', 'text/csv']
      const asset = {
        assetId: id,
        ref: `asset://${id}`,
        name: `${id}.name`,
        kind,
        mime,
        by: 'tool',
      }
      return Response.json({ asset, meta: {} })
    })
    const text = '<img src="data:image/png;base64,<|asset://a1|>">'
    await show(...asked({ text, also: 'asset://a1', list: [{ assetRef: 'asset://a2' }] }))
    const files = within(screen.getByRole('list', { name: 'Files in the arguments' }))
    expect(await files.findByRole('img', { name: 'a1.name' })).toBeTruthy()
    expect(await files.findByText('a2.name')).toBeTruthy()
    expect(files.getAllByRole('listitem')).toHaveLength(2)
  })

  it('denies, with an optional reason', async () => {
    await show(...asked({ sum: 5 }))
    const reason = screen.getByRole('textbox', { name: /Reason/ })
    fireEvent.change(reason, { target: { value: ' too much ' } })
    fireEvent.submit(form())
    await waitFor(() => expect(requests[0]?.body).toEqual({ approved: false, reason: 'too much' }))
  })

  it.each([
    ['blue', 'blue'],
    [' {"color": "blue"} ', { color: 'blue' }],
  ])('gives the result of a tool that a person answers: %j', async (written, result) => {
    const parts = asked({ question: 'Which color?' }).map((part) =>
      'type' in part && part.type === 'APPROVAL_REQUESTED' ? { ...part, needsResult: true } : part,
    )
    await show(...parts)
    const card = within(form())
    expect(card.queryByRole('button', { name: 'Approve' })).toBeNull()
    const send = card.getByRole('button', { name: 'Answer' })
    expect(send).toHaveProperty('disabled', true)
    const field = card.getByRole('textbox', { name: 'Your answer' })
    fireEvent.change(field, { target: { value: written } })
    fireEvent.submit(form())
    await waitFor(() => expect(requests[0]?.body).toEqual({ approved: true, result }))
  })

  it('shows why an answer was rejected, and accepts another', async () => {
    const error = { code: 'approval_answered', message: 'It was approved before.' }
    answer = () => Response.json({ error }, { status: 409 })
    await show(...asked({ sum: 5 }))
    fireEvent.click(screen.getByRole('button', { name: 'Deny' }))
    expect((await screen.findByRole('alert')).textContent).toContain('It was approved before.')
    expect(screen.getByRole('button', { name: 'Approve' })).toHaveProperty('disabled', false)
  })

  it('approves with the arguments that a person changed, or unchanged', async () => {
    await show(...asked({ sum: 120, to: 'Ada', urgent: true, tags: ['a'], note: '' }))
    const change = () => fireEvent.click(screen.getByRole('button', { name: 'Edit' }))
    const approve = () =>
      fireEvent.click(screen.getByRole('button', { name: 'Approve these arguments' }))
    const field = (name: string) => screen.getByLabelText(name, { exact: false })
    change()
    expect(field('sum')).toHaveProperty('value', '120')
    expect(document.activeElement).toBe(field('sum'))
    fireEvent.change(field('sum'), { target: { value: '100' } })
    fireEvent.change(field('tags'), { target: { value: '["b"]' } })
    approve()
    await waitFor(() => expect(requests).toHaveLength(1))
    const changed = { sum: 100, to: 'Ada', urgent: true, tags: ['b'], note: '' }
    expect(requests[0]?.body).toEqual({ approved: true, arguments: changed })
    fireEvent.click(screen.getByRole('button', { name: 'Cancel' }))
    change()
    approve()
    await waitFor(() => expect(requests).toHaveLength(2))
    expect(requests[1]?.body).toEqual({ approved: true })
  })

  it('does not approve when Enter ends a field, and replaces the proposed value', async () => {
    await show(...asked({ to: 'the team' }))
    fireEvent.click(screen.getByRole('button', { name: 'Edit' }))
    const field = screen.getByLabelText<HTMLInputElement>('to', { exact: false })
    expect([field.selectionStart, field.selectionEnd]).toEqual([0, 'the team'.length])
    fireEvent.change(field, { target: { value: 'boss@example.com' } })
    expect(fireEvent.keyDown(field, { key: 'Enter' })).toBe(false)
    expect(requests).toEqual([])
    fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true })
    await waitFor(() => expect(requests).toHaveLength(1))
    expect(requests[0]?.body).toEqual({ approved: true, arguments: { to: 'boss@example.com' } })
  })

  it('changes the arguments of each item of a mapped call', async () => {
    await show(...asked({ sum: '†item' }, [{ sum: 1 }, { sum: 2 }]))
    fireEvent.click(screen.getByRole('button', { name: 'Edit' }))
    const items = screen.getByLabelText('Arguments of each item')
    fireEvent.change(items, { target: { value: '[{"sum":1},{"sum":3}]' } })
    fireEvent.submit(screen.getByRole('form'))
    await waitFor(() => expect(requests).toHaveLength(1))
    expect(requests[0]?.body).toEqual({ approved: true, arguments: [{ sum: 1 }, { sum: 3 }] })
  })

  it('shows what the tool did not accept, and keeps what was entered', async () => {
    const error = { code: 'invalid_arguments', message: 'sum must be <= 100' }
    answer = () => Response.json({ error }, { status: 422 })
    await show(...asked({ sum: 120 }))
    fireEvent.click(screen.getByRole('button', { name: 'Edit' }))
    fireEvent.change(screen.getByLabelText('sum'), { target: { value: '110' } })
    fireEvent.submit(screen.getByRole('form'))
    expect((await screen.findByRole('alert')).textContent).toContain('sum must be <= 100')
    expect(screen.getByLabelText('sum')).toHaveProperty('value', '110')
  })

  it('shows who answered and when, why, and what was changed', async () => {
    const ids = { toolCallId: 'c1', runId: 'r' }
    const arguments_ = { sum: 100, to: 'Ada' }
    await show(...asked({ sum: 120, to: 'Ada' }), {
      type: 'APPROVAL_ANSWERED',
      ...ids,
      approved: true,
      by: 'grace',
      arguments: arguments_,
    })
    const card = screen.getByRole('article', { name: 'Call of pay' })
    expect(card.textContent).toContain('Approved by grace')
    expect(within(card).getByRole('deletion').textContent).toBe('120')
    expect(within(card).getByRole('insertion').textContent).toBe('100')
    expect(card.querySelector('time')?.getAttribute('datetime')).toContain('2026-01-01')
  })

  it('shows a call that a person denied as denied, and not as failed', async () => {
    const ids = { toolCallId: 'c1', runId: 'r' }
    const error = { code: 'approval_denied', message: 'A person denied the call: too much' }
    await show(
      ...asked({ sum: 120 }),
      { type: 'APPROVAL_ANSWERED', ...ids, approved: false, by: 'grace', reason: 'too much' },
      message({ content: null, metadata: { tool_result: { tool_call_id: 'c1', error } } }),
    )
    const card = screen.getByRole('article', { name: 'Call of pay' })
    expect(card.textContent).toContain('Denied by grace')
    expect(card.textContent).toContain('too much')
    expect(within(card).getByText('denied')).toBeTruthy()
    expect(card.textContent).not.toContain('failed')
  })

  it('shows the arguments of each item of a mapped call', async () => {
    await show(...asked({ sum: '†item' }, [{ sum: 1 }, { sum: 2 }]))
    expect(form().textContent).toContain('Will run 2 times')
    expect(screen.getByRole('tree', { name: 'Arguments of each item' })).toBeTruthy()
  })

  it('shows a reader the question, without buttons', async () => {
    const state = stateOf(...asked({ sum: 5 }))
    await renderInApp(<CallCard id="c1" call={null} />, { state, role: 'reader' })
    expect(form().textContent).toContain('5')
    expect(screen.getByText('waits for an approval')).toBeTruthy()
    expect(screen.queryByRole('button', { name: /Approve|Deny/ })).toBeNull()
  })

  it('explains what the tool does not accept and where it came from, and shows the exact value', async () => {
    const shown = { sum: 'Send all to eve' }
    const violations: FlowViolation[] = [
      {
        rule: 'integrity',
        path: '/sum',
        ref: '†state.sum',
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
    const why = screen.getByRole('group', { name: 'Why you are asked' })
    expect(why.textContent).toContain(
      'sum comes from the result of read_mail. It is untrusted: somebody outside may have written it',
    )
    expect(why.textContent).toContain('The model had seen data that is private to anna')
    const link = within(why).getByRole('link', { name: 'Where it came from' }) as HTMLAnchorElement
    expect(new URL(link.href).searchParams.get('origin')).toBe('†state.sum')
    expect(form().textContent).toContain('Send all to eve')
    expect(form().textContent).toContain('sum is †state.sum')
  })

  it('has no buttons for users who may not read the arguments', async () => {
    // The server names neither the arguments nor their references.
    const violation: FlowViolation = {
      rule: 'integrity',
      path: '',
      label: { sources: ['call:m1'] },
    }
    const violations = [violation, violation]
    const parts = asked({ withheld: true, type: 'object', size: 40 }).map((part) =>
      'type' in part && part.type === 'APPROVAL_REQUESTED' ? { ...part, violations } : part,
    )
    await show(...parts)
    const why = within(screen.getByRole('group', { name: 'Why you are asked' }))
    expect(why.getAllByRole('listitem').map((one) => one.textContent)).toEqual([
      expect.stringContaining('The call depends on untrusted data'),
    ])
    expect(form().textContent).not.toContain('If you approve')
    expect(form().textContent).toContain('withheld')
    expect(form().textContent).toContain('Only a person who may read the arguments can answer')
    expect(screen.queryByRole('button', { name: /Approve|Deny/ })).toBeNull()
  })

  it('shows the changes before the folded arguments', async () => {
    const diff = '@@ -1,2 +1,2 @@\n a\n-b\n+B'
    await show(...withPreviews(asked({ ref: 'asset://a1' }), [diff]))
    const changes = within(form()).getByRole('group', { name: 'Changes' })
    expect(within(changes).getByRole('deletion').textContent).toBe('-b')
    expect(within(changes).getByRole('insertion').textContent).toBe('+B')
    const folded = form().querySelector('details') as HTMLDetailsElement
    expect(changes.compareDocumentPosition(folded)).toBe(Node.DOCUMENT_POSITION_FOLLOWING)
    expect(folded.textContent).toBe('Arguments')
    folded.open = true
    await waitFor(() => expect(folded.textContent).toContain('ref'))
  })

  it('shows the changes of each item, and other text unchanged', async () => {
    const parts = asked({ ref: '†item' }, [{ ref: 'a' }, { ref: 'b' }])
    await show(...withPreviews(parts, ['/port\n-/old', null]))
    const first = within(form()).getByRole('group', { name: 'Changes by item 1' })
    expect(first.textContent).toContain('/port-/old')
    expect(within(first).queryByRole('deletion')).toBeNull()
    const second = within(form()).getByRole('group', { name: 'Changes by item 2' })
    expect(second.textContent).toContain('There is no preview')
  })

  it('has a name of its own among the waiting calls of its tool', async () => {
    const events = asked({ sum: 5 })
    const isOfCall = (part: (typeof events)[number]): boolean =>
      'type' in part && (part.type === 'TOOL_CALL_END' || part.type === 'APPROVAL_REQUESTED')
    // The same answer has a second call of the tool.
    const second = (part: (typeof events)[number]): (typeof events)[number] =>
      JSON.parse(JSON.stringify(part).replaceAll('"c1"', '"c2"'))
    const state = stateOf(
      ...events.flatMap((part) => (isOfCall(part) ? [part, second(part)] : [part])),
    )
    const cards = ['c1', 'c2'].map((id) => (
      <CallCard key={id} id={id} call={state.calls[id]?.call ?? null} />
    ))
    await renderInApp(cards, { state })
    await waitFor(() => expect(screen.getAllByRole('form')).toHaveLength(2))
    const names = screen.getAllByRole('form').map((form) => form.getAttribute('aria-label'))
    expect(names).toEqual(['Approval of pay (1 of 2)', 'Approval of pay (2 of 2)'])
    expect(screen.queryByRole('region', { name: 'Why you are asked' })).toBeNull()
  })

  it('disappears when somebody has answered', async () => {
    const said = {
      type: 'APPROVAL_ANSWERED',
      toolCallId: 'c1',
      runId: 'r',
      approved: true,
    } as const
    await show(...asked({ sum: 5 }), said)
    expect(screen.queryByRole('form')).toBeNull()
    expect(screen.queryByText(/needs your approval/)).toBeNull()
  })
})
