import { fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { createClient } from 'byref/client'
import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it, vi } from 'vitest'
import { MessageContent } from '../renderers/message-content.tsx'
import type { Renderers } from '../renderers/renderers-context.ts'
import { message } from '../testing/messages.ts'
import { Workbench } from '../workbench.tsx'
import { ByrefProvider } from './byref-provider.tsx'
import { Composer } from './composer.tsx'
import { Conversation } from './conversation.tsx'
import { Inspector } from './inspector.tsx'
import { Thread } from './thread.tsx'

/** A server whose conversations have one message each, and the requests that it received. */
function serverOf(text: string, change: Parameters<typeof message>[0] = {}) {
  const asked: string[] = []
  const access = { isOpen: true }
  const fetch = async (input: string | URL | Request, { method = 'GET' }: RequestInit = {}) => {
    const path = String(input).replace(/^https?:\/\/[^/]+/, '')
    asked.push(`${method} ${path}`)
    if (!access.isOpen) {
      return Response.json({ error: { code: 'unauthorized', message: 'No.' } }, { status: 401 })
    }
    if (path === '/api/info') {
      return Response.json({ agents: [], caller: { role: 'owner', subject: 'local' } })
    }
    if (path === '/api/conversations') return Response.json({ id: 'made' })
    if (path.includes('/events')) {
      const payload = message({ id: 'm1', content: text, ...change })
      const event = { type: 'NEW_MESSAGE', payload }
      const record = { v: 1, position: 1, timestamp: '2026-01-01T12:00:00.000Z', event }
      return Response.json({ records: [record], next: null })
    }
    if (path.includes('/stream')) return new Promise<Response>(() => {})
    if (method === 'POST') return Response.json({ messageId: 'm2', runId: 'r', position: 2 })
    if (path.endsWith('/versions')) return Response.json({ versions: [] })
    if (path.includes('/api/assets')) {
      return Response.json({
        asset: { assetId: 'a', ref: 'asset://a', name: 'rain.csv' },
        meta: {},
      })
    }
    return Response.json({ conversations: [], next: null })
  }
  return { client: createClient({ baseUrl: 'https://byref.invalid', fetch }), asked, access }
}

describe('ByrefProvider', () => {
  it('shows two servers on one page, each with its own theme', async () => {
    const [one, two] = [serverOf('one'), serverOf('two')]
    render(
      <StrictMode>
        <ByrefProvider client={one.client} theme="dark">
          <Thread conversationId="c" className="first" />
        </ByrefProvider>
        <ByrefProvider client={two.client} theme="light">
          <Thread conversationId="c" className="second" />
        </ByrefProvider>
      </StrictMode>,
    )
    const first = (await screen.findByText('one')).closest<HTMLElement>('.byref')
    const second = (await screen.findByText('two')).closest<HTMLElement>('.byref')
    expect([first?.dataset.theme, second?.dataset.theme]).toEqual(['dark', 'light'])
    expect([...(first?.classList ?? [])]).toEqual(expect.arrayContaining(['h-full', 'first']))
    expect(document.body.className).toBe('')
  })

  it('opens one stream for all panes of a conversation, in strict mode too', async () => {
    const { client, asked } = serverOf('shared')
    const { unmount } = render(
      <StrictMode>
        <ByrefProvider client={client}>
          <Thread conversationId="c" />
          <Composer conversationId="c" />
          <Inspector conversationId="c" />
        </ByrefProvider>
      </StrictMode>,
    )
    await screen.findByText('shared')
    await waitFor(() => expect(asked.some((path) => path.includes('/stream'))).toBe(true))
    expect(asked.filter((path) => path.includes('/stream'))).toHaveLength(1)
    unmount()
  })

  it('follows a conversation again when a person has logged in again', async () => {
    const { client, access } = serverOf('Welcome back.')
    access.isOpen = false
    render(
      <ByrefProvider client={client}>
        <Thread conversationId="c" />
      </ByrefProvider>,
    )
    await screen.findByText(/Your login is missing or has expired/)
    access.isOpen = true
    fireEvent(window, new Event('focus'))
    expect(await screen.findByText('Welcome back.')).toBeTruthy()
    expect(screen.queryByText(/Your login/)).toBeNull()
  })

  it('tries again when a person asks for it', async () => {
    const { client, access, asked } = serverOf('Welcome back.')
    access.isOpen = false
    render(
      <ByrefProvider client={client}>
        <Thread conversationId="c" />
      </ByrefProvider>,
    )
    const attempts = () => asked.filter((path) => path.includes('/events')).length
    const before = attempts()
    fireEvent.click(await screen.findByRole('button', { name: 'Try again' }))
    await waitFor(() => expect(attempts()).toBe(before + 1))
    await screen.findByText(/Your login is missing or has expired/)
  })

  it('tells a pane outside of it what is missing', () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(() => render(<Thread conversationId="c" />)).toThrow('<ByrefProvider>')
    const without = { client: undefined as never }
    expect(() => render(<ByrefProvider {...without}>a</ByrefProvider>)).toThrow('needs a client')
  })

  it('shows a new conversation while the id is not known', async () => {
    const { client } = serverOf('unknown')
    render(
      <ByrefProvider client={client}>
        <Thread conversationId={undefined as never} empty={<p>Nothing yet.</p>} />
      </ByrefProvider>,
    )
    expect(screen.getByText('Nothing yet.')).toBeTruthy()
  })

  it('opens links in the inspector, and does not change the URL of the page', async () => {
    const { client } = serverOf('See [rain.csv](asset://a), please.')
    render(
      <ByrefProvider client={client}>
        <Thread conversationId="c" />
        <Inspector conversationId="c" />
      </ByrefProvider>,
    )
    fireEvent.click(await screen.findByRole('link', { name: /rain\.csv/ }))
    expect(await screen.findByRole('heading', { name: 'rain.csv' })).toBeTruthy()
    expect([location.pathname, location.hash, location.search]).toEqual(['/', '', ''])
  })

  it('opens an asset by its URL if there is no inspector', async () => {
    const { client } = serverOf('See [rain.csv](asset://a), please.')
    render(
      <ByrefProvider client={client}>
        <Thread conversationId="c" />
      </ByrefProvider>,
    )
    const link = await screen.findByRole('link', { name: /rain\.csv/ })
    expect(link.getAttribute('href')).toBe(client.assetUrl('asset://a'))
    expect(link.getAttribute('target')).toBe('_blank')
  })
})

describe('Composer', () => {
  it('asks before the page is left during an upload, and ends the upload with its provider', async () => {
    const { client } = serverOf('one')
    let signal: AbortSignal | undefined
    vi.spyOn(client, 'upload').mockImplementation((_, options) => {
      signal = options?.signal
      return new Promise(() => {})
    })
    const { unmount } = render(
      <ByrefProvider client={client}>
        <Composer conversationId="c" />
      </ByrefProvider>,
    )
    const leaves = () => dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(leaves()).toBe(true)
    const files = [new File(['x'], 'a.csv')]
    fireEvent.change(await screen.findByLabelText('Attach files'), { target: { files } })
    expect(leaves()).toBe(false)
    unmount()
    expect([signal?.aborted, leaves()]).toEqual([true, true])
  })
})

describe('Conversation', () => {
  it.each([{}, { conversationId: null }])(
    'creates the conversation with the first message, and continues it: %j',
    async (given) => {
      const { client, asked } = serverOf('answer')
      render(
        <ByrefProvider client={client}>
          <Conversation {...given} empty={<p>Ask me anything.</p>} />
        </ByrefProvider>,
      )
      expect(screen.getByText('Ask me anything.')).toBeTruthy()
      fireEvent.change(screen.getByRole('textbox', { name: 'Message' }), {
        target: { value: 'Hi' },
      })
      fireEvent.click(screen.getByRole('button', { name: 'Send' }))
      expect(await screen.findByText('answer')).toBeTruthy()
      expect(asked).toContain('POST /api/conversations')
      expect(asked.some((path) => path.startsWith('POST /api/conversations/made/messages'))).toBe(
        true,
      )
    },
  )

  it('offers no forks if the app shows one conversation', async () => {
    const { client } = serverOf('alone')
    render(
      <ByrefProvider client={client}>
        <Conversation conversationId="c" />
      </ByrefProvider>,
    )
    await screen.findByText('alone')
    fireEvent.pointerDown(screen.getByRole('button', { name: 'Message actions' }), { button: 0 })
    const menu = await screen.findByRole('menu')
    expect(within(menu).queryByText('Rewind to here')).toBeNull()
    expect(within(menu).queryByText('Copy link')).toBeNull()
    expect(within(menu).getByText('Copy text')).toBeTruthy()
    // Inside an element with the styles and the theme.
    expect(menu.closest('.byref')).toBeTruthy()
  })
})

describe('Thread', () => {
  it('says that a conversation does not exist, and does not look as if it were loading', async () => {
    const error = { code: 'conversation_not_found', message: 'There is no conversation "gone"' }
    const fetch = async () => Response.json({ error }, { status: 404 })
    render(
      <ByrefProvider client={createClient({ fetch })}>
        <Thread conversationId="gone" />
      </ByrefProvider>,
    )
    const notice = await screen.findByRole('alert')
    expect(notice.textContent).toContain('This conversation does not exist.')
    expect(within(notice).queryByRole('button')).toBeNull()
    expect(document.querySelector('.animate-pulse')).toBeNull()
  })
})

describe('renderers', () => {
  const Broken = () => {
    throw new Error('Out of paint')
  }

  it('show the built-in rendering and a notice in place of a renderer that throws', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const renderers: Renderers = {
      messages: {
        note: ({ message }) => (
          <section>
            <MessageContent message={message} />
          </section>
        ),
      },
      contents: { 'text/plain': Broken },
    }
    const { client } = serverOf('kept', { message_type: 'note', content_type: 'text/plain' })
    render(
      <ByrefProvider client={client} renderers={renderers}>
        <Thread conversationId="c" />
      </ByrefProvider>,
    )
    expect(await screen.findByText('kept')).toBeTruthy()
    expect(screen.getByText('The renderer of text/plain failed: Out of paint')).toBeTruthy()
  })
})

describe('on a server', () => {
  it('renders to HTML without a browser', () => {
    const { client } = serverOf('later')
    for (const name of [
      'window',
      'document',
      'localStorage',
      'matchMedia',
      'location',
      'navigator',
    ]) {
      vi.stubGlobal(name, undefined)
    }
    const html = renderToString(
      <ByrefProvider client={client}>
        <Conversation conversationId="c" />
        <Inspector conversationId="c" />
      </ByrefProvider>,
    )
    const workbench = renderToString(<Workbench client={client} />)
    vi.unstubAllGlobals()
    expect(html).toContain('aria-label="Message"')
    expect(html).toContain('Loading the conversation')
    expect(workbench).toBe('<div class="byref h-full"></div>')
  })
})
