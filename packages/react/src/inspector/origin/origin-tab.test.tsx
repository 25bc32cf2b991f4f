import { fireEvent, screen, waitFor } from '@testing-library/react'
import type { LineageInfo } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../../testing/render-in-app.tsx'
import { OriginTab } from './origin-tab.tsx'

const LINEAGE: LineageInfo = {
  of: ['call:c2'],
  nodes: [
    { id: 'call:c2', type: 'call', name: 'send_mail', ref: '†result#2' },
    {
      id: 'call:c1',
      type: 'call',
      name: 'read_mail',
      ref: '†result#1',
      label: { integrity: 'untrusted' },
    },
    {
      id: 'data:m1',
      type: 'data',
      ref: '†state.mail',
      label: { readers: ['anna'], confidentiality: 'private' },
    },
  ],
  edges: [
    { from: 'call:c1', to: 'data:m1' },
    { from: 'data:m1', to: 'call:c2', ref: '†state.mail.body' },
  ],
}

let answer: () => Response
let asked: string[] = []

beforeEach(() => {
  asked = []
  answer = () => Response.json(LINEAGE)
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path)
    return answer()
  })
})

const show = (origin?: string) =>
  renderInApp(<OriginTab />, {
    at: `/?tab=origin${origin ? `&origin=${encodeURIComponent(origin)}` : ''}`,
  })

function links(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-node]')]
}

describe('OriginTab', () => {
  it('shows the sources of a value before it, with marks and inputs', async () => {
    await show('†result#2')
    await screen.findByRole('list', { name: /What send_mail/ })
    expect(asked).toEqual([
      `/api/conversations/c1/lineage?${new URLSearchParams({ ref: '†result#2' })}`,
    ])
    expect(links().map(({ dataset }) => dataset.node)).toEqual(['call:c1', 'data:m1', 'call:c2'])
    const [mail, data, sent] = links()
    expect(mail?.textContent).toContain('untrusted')
    expect(data?.textContent).toContain('private to anna')
    expect(sent?.textContent).toContain('given †state.mail.body')
    expect(sent?.getAttribute('aria-current')).toBe('true')
  })

  it('can be navigated by arrow keys in both directions, and by links with their own URLs', async () => {
    const { router } = await show('†result#2')
    await screen.findByRole('list', { name: /was made from, and what/ })
    const [mail, data, sent] = links()
    sent?.focus()
    const press = (key: string) => fireEvent.keyDown(document.activeElement as Element, { key })
    press('ArrowLeft')
    expect(document.activeElement).toBe(data)
    press('ArrowUp')
    expect(document.activeElement).toBe(mail)
    press('ArrowRight')
    expect(document.activeElement).toBe(data)
    press('End')
    expect(document.activeElement).toBe(sent)
    fireEvent.click(mail as HTMLElement)
    await waitFor(() =>
      expect(router.state.location.search).toMatchObject({ tab: 'origin', origin: 'call:c1' }),
    )
  })

  it('draws the neighbourhood of the selected node out of hundreds, and can move on to the rest', async () => {
    const id = (n: number) => `call:c${n}`
    const many = Array.from({ length: 400 }, (_, n) => n)
    const lineage = (of: string): LineageInfo => ({
      of: [of],
      nodes: many.map((n) => ({ id: id(n), type: 'call', name: `tool${n}` })),
      edges: [
        { from: id(0), to: id(300) },
        ...many.slice(1).map((n) => ({ from: id(n - 1), to: id(n) })),
      ],
    })
    vi.stubGlobal('fetch', async (path: string) =>
      Response.json(lineage(new URL(path, 'http://x').searchParams.get('ref') as string)),
    )
    await show(id(300))
    await screen.findByRole('list', { name: /What tool300/ })
    expect(links().length).toBeLessThan(100)
    expect(screen.getByText('… 292 earlier steps')).toBeTruthy()
    const looked = () => document.querySelector<HTMLElement>('ol [aria-current]')
    looked()?.focus()
    fireEvent.keyDown(looked() as HTMLElement, { key: 'ArrowLeft' })
    await waitFor(() => expect((document.activeElement as HTMLElement).dataset.node).toBe(id(0)))
    expect(links().length).toBeLessThan(100)
  })

  it('reports an unknown name, and a failure to load', async () => {
    answer = () =>
      Response.json({ error: { code: 'variable_not_found', message: 'no' } }, { status: 404 })
    const { unmount } = await show('†gone')
    expect(await screen.findByText(/Nothing in this conversation is called †gone/)).toBeTruthy()
    unmount()
    answer = () => Response.json({ error: { code: 'log_failed', message: 'no' } }, { status: 400 })
    await show('†state')
    expect(await screen.findByText(/The origin/)).toBeTruthy()
  })
})
