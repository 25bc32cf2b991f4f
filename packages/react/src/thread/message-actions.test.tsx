import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ConversationEvent, Message } from 'byref/client'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Notifications } from '../app/notifications.tsx'
import { message, runStarted, stateOf } from '../testing/messages.ts'
import { type RenderOptions, renderInApp } from '../testing/render-in-app.tsx'
import { server } from '../testing/server.ts'
import { Queued } from './queued.tsx'
import { ThreadItem } from './thread-item.tsx'
import { timeline } from './timeline.ts'

let requests: { method: string; path: string; body: unknown }[] = []
let answer = (): Response => Response.json({ id: 'made', conversation: 'made' })

beforeEach(() => {
  requests = []
  answer = () => Response.json({ id: 'made', conversation: 'made' })
  vi.stubGlobal('fetch', async (path: string, { method = 'GET', body }: RequestInit = {}) => {
    requests.push({ method, path, body: typeof body === 'string' ? JSON.parse(body) : undefined })
    return answer()
  })
})

const sender = { participant_id: 'u', participant_role: 'user' }
const question = message({ id: 'q', sender, content_type: 'text/plain', content: 'Which month?' })
const reply = message({
  id: 'a',
  content_type: 'text/plain',
  content: 'December.',
  metadata: { has_debug_data: true },
})

function show(parts: (Message | ConversationEvent)[], options: RenderOptions = {}) {
  const state = stateOf(...parts)
  const items = timeline(state).map((item) => <ThreadItem key={item.key} item={item} />)
  return renderInApp([...items, <Notifications key="notifications" />], { ...options, state })
}

async function menuOf(id: string): Promise<HTMLElement> {
  const owner = within(document.getElementById(`m-${id}`) as HTMLElement)
  fireEvent.keyDown(owner.getByRole('button', { name: 'Message actions' }), { key: 'Enter' })
  return screen.findByRole('menu')
}

async function choose(id: string, name: RegExp): Promise<void> {
  fireEvent.click(within(await menuOf(id)).getByRole('menuitem', { name }))
}

const namesIn = (menu: HTMLElement) =>
  within(menu)
    .getAllByRole('menuitem')
    .map(({ textContent }) => textContent)

describe('MessageActions', () => {
  it('offers the actions for the message, by keyboard', async () => {
    const view = await show([question, reply])
    expect(namesIn(await menuOf('q'))).toEqual([
      'Copy text',
      'Copy link',
      'Try again',
      'Edit and continue from here',
      'Rewind to hereA new conversation',
      'Delete…',
    ])
    view.unmount()
    await show([question, reply])
    const items = namesIn(await menuOf('a'))
    expect(items).toContain('Debug data')
    expect(items).not.toContain('Edit and continue from here')
  })

  it('offers no rewind to a message that waits for a run', async () => {
    const state = stateOf(runStarted(), {
      type: 'NEW_MESSAGE',
      payload: question,
      deliver: 'next_run',
    })
    await renderInApp(<Queued />, { state })
    const items = namesIn(await menuOf('q'))
    expect(items).toContain('Try again')
    expect(items).not.toContain('Rewind to hereA new conversation')
  })

  it('repeats the message that led to an answer, in a new conversation', async () => {
    const { router } = await show([question, reply])
    await choose('a', /Try again/)
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/made'))
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/conversations/c1/messages/q/retry',
    })
  })

  it('continues from an edited message, and keeps the edit if that fails', async () => {
    const { router } = await show([question, reply])
    await choose('q', /Edit/)
    const box = await screen.findByRole('textbox', { name: 'Message text' })
    expect(box).toHaveProperty('value', 'Which month?')
    fireEvent.change(box, { target: { value: 'Which year?' } })
    const error = { code: 'log_failed', message: 'The disk is full.' }
    answer = () => Response.json({ error }, { status: 500 })
    fireEvent.keyDown(box, { key: 'Enter' })
    expect((await screen.findByRole('alert')).textContent).toContain(
      'Nothing was sent. The disk is full.',
    )
    expect(box).toHaveProperty('value', 'Which year?')
    answer = () => Response.json({ conversation: 'made' })
    fireEvent.keyDown(box, { key: 'Enter' })
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/made'))
    expect(requests.at(-1)).toMatchObject({ body: { content: 'Which year?' } })
  })

  it('restores the message on Escape', async () => {
    await show([question])
    await choose('q', /Edit/)
    fireEvent.keyDown(await screen.findByRole('textbox'), { key: 'Escape' })
    expect(screen.queryByRole('textbox')).toBeNull()
    expect(screen.getByText('Which month?')).toBeTruthy()
    expect(requests).toEqual([])
  })

  it('rewinds to the message, and says that nothing was changed if that fails', async () => {
    const error = { code: 'unreachable', message: 'The server cannot be reached.' }
    answer = () => Response.json({ error }, { status: 502 })
    const { router } = await show([question, reply])
    await choose('q', /Rewind/)
    expect((await screen.findByRole('alert')).textContent).toContain('nothing was changed')
    answer = () => Response.json({ id: 'made' }, { status: 201 })
    await choose('q', /Rewind/)
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/made'))
    expect(requests.at(-1)).toMatchObject({
      path: '/api/conversations/c1/fork',
      body: { at: 'q' },
    })
  })

  it('keeps the results of a step in a rewind', async () => {
    const calls = [{ id: 'c', name: 'look', arguments: {} }]
    await show([
      message({ id: 's', metadata: { tool_calls: calls } }),
      message({ id: 'r', metadata: { tool_result: { tool_call_id: 'c' } } }),
    ])
    await choose('s', /Rewind/)
    await waitFor(() => expect(requests[0]).toMatchObject({ body: { at: 'r' } }))
  })

  it('deletes after a confirmation, and not during a run', async () => {
    const over = await show([question])
    await choose('q', /Delete/)
    fireEvent.click(
      within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }),
    )
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
    expect(requests).toMatchObject([{ method: 'DELETE', path: '/api/conversations/c1/messages/q' }])
    over.unmount()
    await show([question, runStarted()])
    const item = within(await menuOf('q')).getByRole('menuitem', { name: /Delete/ })
    expect(item.getAttribute('aria-disabled')).toBe('true')
  })

  it('offers readers only actions that read', async () => {
    await show([question, reply], { role: 'reader' })
    expect(namesIn(await menuOf('a'))).toEqual(['Copy text', 'Copy link'])
    expect(screen.queryByRole('button', { name: 'Debug' })).toBeNull()
  })

  it('offers the debug data of a saved page in the menu, too', async () => {
    server.hasSavedDebug = true
    onTestFinished(() => {
      server.hasSavedDebug = false
    })
    await show([question, reply], { role: 'reader' })
    expect(namesIn(await menuOf('a'))).toEqual(['Copy text', 'Copy link', 'Debug data'])
  })
})
