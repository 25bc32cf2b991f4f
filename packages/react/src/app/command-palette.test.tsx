import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { summary } from '../testing/summaries.ts'
import { Workbench } from '../workbench.tsx'

const rain = summary('c1', { title: 'Rain' })
let role = 'owner'
let asked: string[] = []

beforeEach(() => {
  role = 'owner'
  asked = []
  vi.stubGlobal('fetch', async (path: string, { method = 'GET', body }: RequestInit = {}) => {
    if (method !== 'GET') {
      asked.push(`${method} ${path} ${body ?? ''}`.trim())
      return Response.json(rain)
    }
    if (path === '/api/info') {
      return Response.json({ agents: [], caller: { role, namespace: null, subject: 'anna' } })
    }
    if (path.startsWith('/samples')) return Response.json([])
    if (path.includes('/events')) return Response.json({ records: [], next: null })
    if (path.includes('/stream')) return new Promise(() => {})
    if (path === '/api/conversations/c1') return Response.json(rain)
    return Response.json({ conversations: [], next: null })
  })
})

afterEach(() => history.replaceState(null, '', '/'))

/** The commands for the open conversation. */
async function commands(): Promise<string[]> {
  history.replaceState(null, '', '/c/c1')
  render(<Workbench filesUrl="/" />)
  await screen.findByRole('heading', { name: 'Rain' })
  await screen.findByText(/anna/)
  fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true })
  const group = await screen.findByRole('group', { name: 'This conversation' })
  return [...group.querySelectorAll('[role=option]')].map(({ textContent }) => textContent ?? '')
}

describe('CommandPalette', () => {
  it('lists the actions for the open conversation', async () => {
    expect(await commands()).toEqual(['Rename…', 'Fork', 'Export data', 'Save as HTML…', 'Delete…'])
    fireEvent.click(screen.getByRole('option', { name: 'Rename…' }))
    fireEvent.change(await screen.findByLabelText('Title'), { target: { value: ' Snow ' } })
    fireEvent.click(screen.getByRole('button', { name: 'Rename' }))
    const renamed = 'PATCH /api/conversations/c1 {"title":"Snow"}'
    await waitFor(() => expect(asked).toEqual([renamed]))
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  })

  it('asks before it deletes, and then leaves the deleted conversation', async () => {
    await commands()
    fireEvent.click(screen.getByRole('option', { name: 'Delete…' }))
    const question = await screen.findByText(/with its 2 messages/)
    expect(question.textContent).toContain('“Rain” with its 2 messages')
    const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Delete' })
    await waitFor(() => expect(button.disabled).toBe(false))
    fireEvent.click(button)
    await waitFor(() => expect(asked).toEqual(['DELETE /api/conversations/c1']))
    await waitFor(() => expect(location.pathname).toBe('/'))
  })

  it('offers readers only what they may do', async () => {
    role = 'reader'
    expect(await commands()).toEqual(['Export data', 'Save as HTML…'])
  })
})
