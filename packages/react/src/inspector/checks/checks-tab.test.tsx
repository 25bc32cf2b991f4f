import { fireEvent, screen, within } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { message, stateOf } from '../../testing/messages.ts'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { client } from '../../testing/server.ts'
import { CallLedger } from './call-ledger.tsx'
import { ChecksTab } from './checks-tab.tsx'

const call = (id: string) =>
  message({ metadata: { tool_calls: [{ id, name: `tool-${id}`, arguments: {} }] } })
const result = (id: string) => message({ metadata: { tool_result: { tool_call_id: id } } })
const state = stateOf(call('a'), result('a'), call('b'), result('nobody'))

/** The lines of an export, in pieces that split lines and characters. */
function exported(...lines: object[]): Response {
  const bytes = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, i) =>
    bytes.slice(i * 7, i * 7 + 7),
  )
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  return new Response(body)
}

const line = (id: string, change: object) => ({
  position: 1,
  event: { type: 'NEW_MESSAGE', payload: { id, content: 'x', metadata: {}, ...change } },
})

function search(text: string): void {
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: text } })
  fireEvent.click(screen.getByRole('button', { name: 'Search' }))
}

afterEach(() => vi.restoreAllMocks())

describe('ChecksTab', () => {
  it('lists findings with their codes, and links to the messages', async () => {
    await renderInApp(<ChecksTab />, { state })
    const findings = within(screen.getByRole('list', { name: 'Findings' })).getAllByRole('listitem')
    expect(findings.map((item) => item.querySelector('code')?.textContent)).toEqual([
      'call_unanswered',
      'result_unmatched',
    ])
    expect(
      within(findings[1] as HTMLElement)
        .getByRole('link')
        .getAttribute('href'),
    ).toMatch(/#m-/)
  })

  it('counts calls by status, and filters by it', async () => {
    await renderInApp(<ChecksTab />, { state })
    const calls = () => within(screen.getByRole('list', { name: 'Calls' })).getAllByRole('listitem')
    expect(calls()).toHaveLength(3)
    fireEvent.click(screen.getByRole('button', { name: 'result without a call 1' }))
    expect(calls()).toHaveLength(1)
    expect(calls()[0]?.textContent).toContain('unknown call')
    fireEvent.click(screen.getByRole('button', { name: 'result without a call 1' }))
    expect(calls()).toHaveLength(3)
  })

  it('shows all calls again if none with the chosen status are left', async () => {
    const messages = [call('a'), result('a'), call('b')]
    function Running() {
      const [open, setOpen] = useState<ReadonlySet<string>>(new Set('b'))
      return (
        <>
          <CallLedger messages={messages} open={open} />
          <button type="button" onClick={() => setOpen(new Set())}>
            End
          </button>
        </>
      )
    }
    await renderInApp(<Running />)
    const calls = () => within(screen.getByRole('list', { name: 'Calls' })).getAllByRole('listitem')
    fireEvent.click(screen.getByRole('button', { name: 'pending 1' }))
    expect(calls()).toHaveLength(1)
    fireEvent.click(screen.getByRole('button', { name: 'End' }))
    expect(calls()).toHaveLength(2)
  })

  it('searches messages and debug data, and links to the place of each match', async () => {
    const lines = vi
      .spyOn(client, 'exportConversation')
      .mockResolvedValue(
        exported(
          { byref: 'conversation', title: 'needle' },
          line('m1', { metadata: { odd: ['ä', 'a Needle "here"'] } }),
          { debug: 'm1', value: { request: { headers: 'NEEDLE "here"' } } },
          line('m2', {}),
        ),
      )
    await renderInApp(<ChecksTab />, { state })
    search('needle "here"')
    const hits = await screen.findByRole('list', { name: 'Hits' })
    await screen.findByText('2 hits in 4 lines')
    const [first, second] = within(hits).getAllByRole('link')
    expect(first?.textContent).toContain('/metadata/odd/1')
    expect(first?.getAttribute('href')).toContain('tab=message')
    expect(second?.textContent).toContain('debug/request/headers')
    expect(decodeURIComponent(second?.getAttribute('href') ?? '')).toContain(
      'debug=/request/headers',
    )
    expect(lines.mock.lastCall?.[1]).toMatchObject({ debug: true })
  })

  it('reports that there are more matches than it shows', async () => {
    const lines = Array.from({ length: 320 }, (_, i) => line(`m${i}`, { content: 'needle' }))
    const text = lines.map((one) => JSON.stringify(one)).join('\n')
    vi.spyOn(client, 'exportConversation').mockResolvedValue(new Response(text))
    await renderInApp(<ChecksTab />, { state })
    search('needle')
    await screen.findByText('300 hits in 300 lines, and there are more')
  })

  it('does not request debug data that a member may not see, and reports a failed request', async () => {
    const lines = vi.spyOn(client, 'exportConversation').mockRejectedValue(new Error('cut off'))
    await renderInApp(<ChecksTab />, { state, role: 'member' })
    search('x')
    await screen.findByText(/cut off/)
    expect(lines.mock.lastCall?.[1]).toMatchObject({ debug: false })
  })
})
