import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import type { ConversationSummary } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { server } from '../testing/server.ts'
import { summary } from '../testing/summaries.ts'
import { Conversations } from './conversations.tsx'
import { Notifications } from './notifications.tsx'

interface Request {
  method: string
  path: string
  body: unknown
}

let requests: Request[] = []

/** The stream of changes of the list. */
const changes = {
  controller: null as ReadableStreamDefaultController<Uint8Array> | null,
  open(signal?: AbortSignal | null): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller
      },
    })
    signal?.addEventListener('abort', () => this.controller?.error(signal.reason))
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  },
  send(change: { conversation: ConversationSummary } | { deleted: string }): void {
    this.controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(change)}\n\n`))
  },
}

/** Answers every request. `pages` returns the list for a query. */
function serve(
  pages: (query: URLSearchParams) => { conversations: ConversationSummary[]; next: string | null },
  other: (request: Request) => Response = () => Response.json({ id: 'made' }, { status: 201 }),
): void {
  vi.stubGlobal('fetch', async (input: string, init: RequestInit = {}) => {
    const url = new URL(input, 'http://x')
    const { method = 'GET', body } = init
    if (url.pathname === '/api/events') return changes.open(init.signal)
    if (method === 'GET') return Response.json(pages(url.searchParams))
    const request = {
      method,
      path: url.pathname,
      body: typeof body === 'string' ? JSON.parse(body) : body,
    }
    requests.push(request)
    return other(request)
  })
}

const page = (...conversations: ConversationSummary[]) => ({ conversations, next: null })

function show(role: 'owner' | 'member' | 'reader' = 'owner') {
  const part = (
    <>
      <Conversations />
      <Notifications />
    </>
  )
  return renderInApp(part, { role })
}

/** Opens the menu of a conversation by keyboard. */
async function menuOf(title: string): Promise<HTMLElement> {
  fireEvent.keyDown(await screen.findByRole('button', { name: `Actions for ${title}` }), {
    key: 'Enter',
  })
  return screen.findByRole('menu')
}

beforeEach(() => {
  requests = []
})

describe('Conversations', () => {
  it('shows the status of each one', async () => {
    serve(() =>
      page(
        summary('a', { status: 'running' }),
        summary('b', { status: 'waiting' }),
        summary('c', { status: 'failed' }),
        summary('d', { title: null }),
      ),
    )
    await show()
    expect((await screen.findByRole('link', { name: /Title a/ })).textContent).toContain('running')
    expect(screen.getByRole('link', { name: /Title b/ }).textContent).toContain(
      'needs your approval',
    )
    expect(screen.getByRole('link', { name: /Title c/ }).textContent).toContain('failed')
    expect(screen.getByRole('link', { name: /Untitled/ })).toBeTruthy()
  })

  it('shows a sub-agent below its caller when it needs a person, and in search results', async () => {
    const subs = [
      summary('a/x1', { status: 'waiting', agent: 'helper' }),
      summary('a/x2', { agent: 'helper' }),
    ]
    serve(() => page(summary('b/c'), ...subs, summary('a', { agent: 'chat' })))
    await show()
    const below = await screen.findByRole('list', { name: 'Sub-agents of Title a' })
    const names = (list: HTMLElement) =>
      within(list)
        .getAllByRole('link')
        .map(({ textContent }) => textContent)
    expect(names(below)).toEqual([expect.stringMatching(/^Title a\/x1· helper/)])
    expect(screen.getAllByRole('link', { name: /^Title/ })).toHaveLength(3)
    fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'title' } })
    await waitFor(() => expect(screen.getAllByRole('link', { name: /^Title/ })).toHaveLength(4))
  })

  it('offers no fork if the server does not have the agent', async () => {
    serve(() => page(summary('a', { agent: 'helper' })))
    await show()
    const model = { id: 'm', provider: 'p', demo: false }
    const agent = (name: string) => ({ name, trust: 'off' as const, model, tools: [] })
    const { queries, infoQuery } = server
    const agents = [agent('chat'), agent('other')]
    act(() => void queries.setQueryData(infoQuery.queryKey, (info) => info && { ...info, agents }))
    const menu = await menuOf('Title a')
    expect(within(menu).queryByRole('menuitem', { name: 'Fork' })).toBeNull()
    expect(within(menu).getByRole('menuitem', { name: 'Rename' })).toBeTruthy()
  })

  it('searches on the server, and returns to the whole list', async () => {
    serve((query) => {
      const search = query.get('search')
      if (search === 'rain') return page(summary('wet'))
      return search === null ? page(summary('all')) : page()
    })
    await show()
    await screen.findByText('Title all')
    const field = screen.getByRole('searchbox', { name: 'Search conversations' })
    fireEvent.change(field, { target: { value: 'rain' } })
    expect(await screen.findByText('Title wet')).toBeTruthy()
    expect(screen.queryByText('Title all')).toBeNull()
    fireEvent.change(field, { target: { value: 'snow' } })
    expect((await screen.findByText(/^No conversation contains/)).textContent).toBe(
      'No conversation contains “snow”.',
    )
    fireEvent.keyDown(field, { key: 'Escape' })
    expect(await screen.findByText('Title all')).toBeTruthy()
  })

  it('keeps the order of the server: a new title does not move a conversation', async () => {
    const at = (hour: number) => ({ updatedAt: `2026-01-01T${hour}:00:00.000Z` })
    const loaded = [summary('a', at(15)), summary('b', at(14)), summary('c', at(13))]
    serve(() => ({ conversations: loaded, next: 'more' }))
    await show()
    await screen.findByText('Title c')
    await waitFor(() => expect(changes.controller).not.toBeNull())
    const ids = () =>
      screen.getAllByRole('link', { name: /Title/ }).map((link) => link.getAttribute('href'))
    changes.send({ conversation: summary('b', { title: 'Title of mine', ...at(14) }) })
    await screen.findByText('Title of mine')
    expect(ids()).toEqual(['/c/a', '/c/b', '/c/c'])
    changes.send({ conversation: summary('c', { title: 'Title of the last', ...at(13) }) })
    await screen.findByText('Title of the last')
    expect(ids()).toEqual(['/c/a', '/c/b', '/c/c'])
    // It is on a later page.
    changes.send({ conversation: summary('old', at(10)) })
    changes.send({ conversation: summary('c', { title: 'Title of today', ...at(16) }) })
    await screen.findByText('Title of today')
    expect(ids()).toEqual(['/c/c', '/c/a', '/c/b'])
  })

  it('shows changes by others at once', async () => {
    serve(() => page(summary('a'), summary('b')))
    await show()
    await screen.findByText('Title b')
    await waitFor(() => expect(changes.controller).not.toBeNull())
    changes.send({ conversation: summary('b', { title: 'Renamed', status: 'waiting' }) })
    expect(await screen.findByText('Renamed')).toBeTruthy()
    const titles = () => screen.getAllByRole('link', { name: /Title|Renamed/ })
    expect(titles()[0]?.textContent).toContain('needs your approval')
    changes.send({ deleted: 'a' })
    await waitFor(() => expect(screen.queryByText('Title a')).toBeNull())
    expect(titles()).toHaveLength(1)
  })

  it('loads the next page on request', async () => {
    serve((query) =>
      query.get('cursor') === '2'
        ? page(summary('last'))
        : { conversations: [summary('first')], next: '2' },
    )
    await show()
    fireEvent.click(await screen.findByRole('button', { name: 'Show more' }))
    expect(await screen.findByText('Title last')).toBeTruthy()
    expect(screen.getByText('Title first')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull()
  })

  it('renames in place, restores the original title if emptied, and cancels on Escape', async () => {
    serve(
      () => page(summary('a')),
      () => Response.json(summary('a')),
    )
    await show()
    const rename = async (text: string, key: string) => {
      fireEvent.click(within(await menuOf('Title a')).getByRole('menuitem', { name: 'Rename' }))
      const field = await screen.findByRole('textbox', { name: 'New title' })
      fireEvent.change(field, { target: { value: text } })
      if (key === 'Enter') fireEvent.submit(field.closest('form') as HTMLFormElement)
      else fireEvent.keyDown(field, { key })
    }
    await rename('no', 'Escape')
    await rename(' Rain ', 'Enter')
    await waitFor(() => expect(requests).toHaveLength(1))
    await rename('', 'Enter')
    await waitFor(() => expect(requests).toHaveLength(2))
    expect(requests.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['PATCH', '/api/conversations/a', { title: 'Rain' }],
      ['PATCH', '/api/conversations/a', { title: null }],
    ])
  })

  it('forks, and opens the fork', async () => {
    serve(() => page(summary('a')))
    const { router } = await show()
    fireEvent.click(within(await menuOf('Title a')).getByRole('menuitem', { name: 'Fork' }))
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/made'))
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/api/conversations/a/fork' })
  })

  it('deletes after a confirmation, which shows the error if it fails', async () => {
    const error = { code: 'log_failed', message: 'The disk is full.' }
    let works = false
    serve(
      () => (works ? page() : page(summary('a'))),
      () =>
        works ? new Response(null, { status: 204 }) : Response.json({ error }, { status: 500 }),
    )
    await show()
    fireEvent.click(within(await menuOf('Title a')).getByRole('menuitem', { name: 'Delete…' }))
    const dialog = await screen.findByRole('dialog', { name: 'Delete this conversation?' })
    expect(dialog.textContent).toContain('“Title a” with its 2 messages')
    expect(requests).toEqual([])
    const remove = within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Delete' })
    await waitFor(() => expect(remove.disabled).toBe(false))
    fireEvent.click(remove)
    expect((await within(dialog).findByRole('alert')).textContent).toContain('The disk is full.')
    works = true
    fireEvent.click(remove)
    expect(await screen.findByText('No conversations yet')).toBeTruthy()
    expect(requests.at(-1)).toMatchObject({ method: 'DELETE', path: '/api/conversations/a' })
  })

  it('imports a file, and reports what is wrong with an invalid one', async () => {
    const error = { code: 'invalid_export', message: 'Line 2 is not valid JSON.' }
    let works = false
    serve(
      () => page(),
      () => (works ? Response.json({ id: 'made' }) : Response.json({ error }, { status: 422 })),
    )
    const { router } = await show()
    const file = new File(['{}'], 'talk.jsonl')
    const field = screen.getByLabelText('Conversation to import')
    fireEvent.change(field, { target: { files: [file] } })
    expect((await screen.findByRole('alert')).textContent).toContain(
      'talk.jsonl was not imported. Line 2 is not valid JSON.',
    )
    works = true
    fireEvent.change(field, { target: { files: [file] } })
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/made'))
  })

  it('offers only what the role allows', async () => {
    serve(() => page(summary('a')))
    const items = async () =>
      within(await menuOf('Title a'))
        .getAllByRole('menuitem')
        .map(({ textContent }) => textContent)
    const reader = await show('reader')
    expect(await items()).toEqual(['Export dataJSON Lines', 'Save as HTML…One HTML file'])
    expect(screen.queryByRole('button', { name: /Import/ })).toBeNull()
    expect(screen.queryByRole('link', { name: 'New conversation' })).toBeNull()
    reader.unmount()
    await show('member')
    expect(await items()).toEqual([
      ...['Rename', 'Fork', 'Export dataJSON Lines', 'Save as HTML…One HTML file'],
    ])
  })
})
