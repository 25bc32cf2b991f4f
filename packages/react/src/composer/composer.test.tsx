import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { type ConversationEvent, flatten } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { asked, message, runStarted, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { server } from '../testing/server.ts'
import { summary } from '../testing/summaries.ts'
import { Composer } from './composer.tsx'
import { keepDraft, readDraft } from './drafts.ts'
import { attach, suggestReference } from './suggestions.ts'

type Answer = (path: string, init?: RequestInit) => Response | Promise<Response>

let requests: { path: string; body: unknown }[] = []

beforeEach(() => {
  requests = []
  vi.stubGlobal('XMLHttpRequest', undefined)
})

describe('Composer', () => {
  it('starts a conversation with the first message, and opens it', async () => {
    answer((path) => Response.json(path === '/api/conversations' ? { id: 'new' } : {}))
    const { router } = await renderInApp(<Composer />, { id: null })
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/new'))
    expect(requests.map(({ path }) => path)).toEqual([
      '/api/conversations',
      '/api/conversations/new/messages',
    ])
    expect(requests[1]?.body).toEqual({
      id: expect.any(String),
      content: 'hello',
      attachments: [],
      ifBusy: 'queue',
    })
    expect(box().value).toBe('')
  })

  it('sends on Enter, but not on Shift+Enter or during IME composition', async () => {
    answer(() => Response.json({}))
    await renderInApp(<Composer />)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter', shiftKey: true })
    fireEvent.keyDown(box(), { key: 'Enter', isComposing: true })
    expect(requests).toEqual([])
  })

  it('suggests questions about the columns of an attached table', async () => {
    const columns = [
      { name: 'City', type: 'string', missing: 0 },
      { name: 'Amount', type: 'number', missing: 0 },
    ]
    const asset = { ref: 'asset://t1', assetId: 't1', mime: 'text/csv', kind: 'file', size: 9 }
    const meta = flatten({ content: { columns, rows: [{ City: 'Oslo', Amount: 5 }] } })
    answer((path) => {
      if (path.startsWith('/api/assets?')) return Response.json({ asset, table: asset })
      return Response.json(path.startsWith('/api/assets/') ? { asset, meta } : {})
    })
    await renderInApp(<Composer />)
    act(() => attach(new File(['x'], 'invoices.csv')))
    fireEvent.click(await screen.findByRole('button', { name: 'Average Amount by City' }))
    expect(box().value).toBe('Average Amount by City')
    expect(screen.queryByRole('list', { name: 'Suggested questions' })).toBeNull()
  })

  it('suggests more questions only after an answer of the demo model', async () => {
    const columns = [{ name: 'Amount', type: 'number', missing: 0 }]
    const asset = { ref: 'asset://t1', assetId: 't1', mime: 'text/csv', kind: 'file', size: 9 }
    const meta = flatten({ content: { columns, rows: [{ Amount: 5 }] } })
    answer((path) => Response.json(path.startsWith('/api/assets/') ? { asset, meta } : {}))
    const attachment = { assetRef: 'asset://t1', kind: 'file' as const, mimeType: 'text/csv' }
    const state = stateOf(message({ metadata: { attachments: [attachment] } }), message())
    await renderInApp(<Composer />, { state })
    const answeredBy = (demo: boolean) => {
      const model = { provider: 'p', id: 'm', demo }
      const agents = [{ name: 'a', trust: 'off' as const, model, tools: [] }]
      const { queries, infoQuery } = server
      act(
        () => void queries.setQueryData(infoQuery.queryKey, (info) => info && { ...info, agents }),
      )
    }
    answeredBy(true)
    fireEvent.click(await screen.findByRole('button', { name: 'Highest Amount' }))
    expect(box().value).toBe('Highest Amount')
    const list = () => screen.queryByRole('list', { name: 'Suggested questions' })
    expect(list()).toBeNull()
    type('')
    expect(list()).not.toBeNull()
    answeredBy(false)
    await waitFor(() => expect(list()).toBeNull())
  })

  it('attaches the table of a file if there is one, else the file', async () => {
    const asset = (ref: string) => ({
      ref,
      assetId: ref.slice(8),
      mime: 'text/csv',
      kind: 'file',
      size: 9,
    })
    answer((path) => {
      if (path.includes('name=a.csv')) {
        return Response.json({ asset: asset('asset://a1'), table: asset('asset://t1') })
      }
      if (path.startsWith('/api/assets?'))
        return Response.json({ asset: asset('asset://b1'), table: null })
      return Response.json(
        path.startsWith('/api/assets/') ? { asset: asset('asset://t1'), meta: {} } : {},
      )
    })
    await renderInApp(<Composer />)
    fireEvent.change(screen.getByLabelText('Attach files'), {
      target: { files: [new File(['x'], 'a.csv'), new File(['y'], 'b.bin')] },
    })
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', false),
    )
    fireEvent.click(screen.getByRole('button', { name: 'Send' }))
    await waitFor(() =>
      expect(requests.at(-1)?.body).toMatchObject({
        content: '',
        attachments: [{ assetRef: 'asset://t1' }, { assetRef: 'asset://b1' }],
        ifBusy: 'queue',
      }),
    )
  })

  it('sends when the files are uploaded, and not by itself if one failed', async () => {
    const uploads: PromiseWithResolvers<Response>[] = []
    answer((path) => {
      if (!path.startsWith('/api/assets?')) return Response.json({})
      uploads.push(Promise.withResolvers<Response>())
      return uploads.at(-1)?.promise as Promise<Response>
    })
    await renderInApp(<Composer />)
    const attach = async (count: number) => {
      const files = [new File(['x'], `${count}.bin`)]
      fireEvent.change(screen.getByLabelText('Attach files'), { target: { files } })
      await waitFor(() => expect(uploads).toHaveLength(count))
      type(`with ${count}`)
      fireEvent.keyDown(box(), { key: 'Enter' })
      expect(screen.getByText(/Sends when the files are uploaded/)).toBeTruthy()
    }
    await attach(1)
    uploads[0]?.resolve(Response.json({ asset: { ref: 'asset://a', assetId: 'a' }, table: null }))
    await waitFor(() => expect(box().value).toBe(''))
    expect(requests.at(-1)?.body).toMatchObject({ attachments: [{ assetRef: 'asset://a' }] })
    await attach(2)
    uploads[1]?.resolve(Response.json({ error: { code: 'x', message: 'No.' } }, { status: 422 }))
    await screen.findByText(/Not attached/)
    await waitFor(() => expect(screen.queryByText(/Sends when/)).toBeNull())
    expect(box().value).toBe('with 2')
  })

  it('does not send by itself after a file was removed', async () => {
    answer((path) =>
      path.startsWith('/api/assets?') ? new Promise<Response>(() => {}) : Response.json({}),
    )
    await renderInApp(<Composer />)
    fireEvent.change(screen.getByLabelText('Attach files'), {
      target: { files: [new File(['x'], 'big.bin')] },
    })
    type('look at this')
    fireEvent.keyDown(box(), { key: 'Enter' })
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel big.bin' }))
    await waitFor(() => expect(screen.queryByText(/Sends when/)).toBeNull())
    expect(box().value).toBe('look at this')
    expect(requests.some(({ path }) => path.endsWith('/messages'))).toBe(false)
  })

  it('stops the run, and restores queued messages with their files', async () => {
    answer((path) =>
      path.startsWith('/api/assets/')
        ? Response.json({
            asset: { assetId: 'a', ref: 'asset://a', name: 'a.csv', size: 9 },
            meta: {},
          })
        : Response.json({ cancelled: true }),
    )
    const queued: ConversationEvent = {
      type: 'NEW_MESSAGE',
      deliver: 'next_run',
      payload: message({
        content_type: 'text/plain',
        content: 'and then this',
        metadata: { attachments: [{ assetRef: 'asset://a', kind: 'file', mimeType: 'text/csv' }] },
      }),
    }
    await renderInApp(<Composer />, { state: stateOf(runStarted(), queued) })
    type('half')
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }))
    await waitFor(() => expect(box().value).toBe('and then this\n\nhalf'))
    expect(await screen.findByRole('button', { name: 'Remove a.csv' })).toBeTruthy()
    expect(requests.find(({ path }) => path.endsWith('/cancel'))?.body).toEqual({
      discardQueued: true,
    })
  })

  it('removes a file that is being uploaded', async () => {
    let signal: AbortSignal | null | undefined
    answer((path, init) => {
      if (path.startsWith('/api/assets?')) signal = init?.signal
      return new Promise<Response>(() => {})
    })
    await renderInApp(<Composer />)
    fireEvent.change(screen.getByLabelText('Attach files'), {
      target: { files: [new File(['x'], 'big.bin')] },
    })
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel big.bin' }))
    expect(signal?.aborted).toBe(true)
    expect(screen.queryByRole('button', { name: /big.bin/ })).toBeNull()
  })

  it('shows why an upload failed, and retries on request', async () => {
    let failed = false
    answer(() => {
      if (failed) return Response.json({ asset: { ref: 'asset://a1', assetId: 'a1' }, table: null })
      failed = true
      const error = { code: 'table_invalid', message: 'Line 3 has too few cells.' }
      return Response.json({ error }, { status: 422 })
    })
    await renderInApp(<Composer />)
    fireEvent.change(screen.getByLabelText('Attach files'), {
      target: { files: [new File(['x'], 'a.csv')] },
    })
    expect(await screen.findByText('Not attached. Line 3 has too few cells.')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', true)
    fireEvent.click(screen.getByRole('button', { name: 'Retry a.csv' }))
    await waitFor(() =>
      expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', false),
    )
  })

  it('retries to attach a file of the server', async () => {
    let failed = false
    answer(() => {
      const asset = { ref: 'asset://a1', assetId: 'a1', name: 'a.csv', size: 9 }
      if (failed) return Response.json({ asset, meta: {} })
      failed = true
      return Response.json({ error: { code: 'internal', message: 'No.' } }, { status: 500 })
    })
    await renderInApp(<Composer />)
    act(() => void suggestReference({ assetRef: 'asset://a1', fileName: 'a.csv' }, []))
    fireEvent.click(await screen.findByRole('button', { name: 'Retry a.csv' }))
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry a.csv' })).toBeNull())
    expect(screen.getByRole('button', { name: 'Send' })).toHaveProperty('disabled', false)
  })

  it('sends without a file that failed, and keeps that file for a retry', async () => {
    const error = { code: 'body_too_large', message: 'It is too large.' }
    answer((path) =>
      path.startsWith('/api/assets')
        ? Response.json({ error }, { status: 413 })
        : Response.json({}, { status: 202 }),
    )
    await renderInApp(<Composer />)
    fireEvent.change(screen.getByLabelText('Attach files'), {
      target: { files: [new File(['x'], 'big.bin')] },
    })
    await screen.findByText(/It is too large/)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(box().value).toBe(''))
    expect(requests.at(-1)?.body).toMatchObject({ content: 'hello', attachments: [] })
    expect(screen.getByRole('button', { name: 'Retry big.bin' })).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Remove big.bin' }))
    expect(screen.queryByRole('button', { name: 'Retry big.bin' })).toBeNull()
  })

  it('queues on Enter during a run, and steers it on Ctrl+Enter', async () => {
    answer(() => Response.json({}, { status: 202 }))
    await renderInApp(<Composer />, { state: stateOf(runStarted()) })
    expect(screen.queryByRole('button', { name: 'Send next' })).toBeNull()
    const said: unknown[] = []
    for (const [text, ctrlKey] of [
      ['later', false],
      ['now', true],
    ] as const) {
      type(text)
      fireEvent.keyDown(box(), { key: 'Enter', ctrlKey })
      await waitFor(() => expect(box().value).toBe(''))
      said.push(requests.at(-1)?.body)
    }
    type('by press')
    expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Send next' })).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Add now' }))
    await waitFor(() => expect(box().value).toBe(''))
    said.push(requests.at(-1)?.body)
    expect(said).toMatchObject([
      { content: 'later', ifBusy: 'queue' },
      { content: 'now', ifBusy: 'steer' },
      { content: 'by press', ifBusy: 'steer' },
    ])
  })

  it('is hidden from readers', async () => {
    await renderInApp(<Composer />, { role: 'reader' })
    expect(screen.queryByRole('textbox')).toBeNull()
    expect(screen.getByText(/Read-only/)).toBeTruthy()
  })

  it('is hidden if the server does not have the agent of the conversation', async () => {
    const view = await renderInApp(<Composer />)
    const { queries, infoQuery, conversationQuery } = server
    const model = { id: 'm', provider: 'p', demo: false }
    const agent = (name: string) => ({ name, trust: 'off' as const, model, tools: [] })
    act(() => {
      queries.setQueryData(conversationQuery('c1').queryKey, summary('c1', { agent: 'helper' }))
      queries.setQueryData(
        infoQuery.queryKey,
        (info) => info && { ...info, agents: [agent('chat'), agent('other')] },
      )
    })
    expect((await view.findByText(/^Read-only/)).textContent).toContain('“helper”')
    expect(screen.queryByRole('textbox')).toBeNull()
  })

  it('keeps the text and shows why if sending fails', async () => {
    const error = { code: 'conversation_busy', message: 'A run is going on.' }
    answer(() => Response.json({ error }, { status: 409 }))
    await renderInApp(<Composer />)
    type('hello')
    fireEvent.click(screen.getByRole('button', { name: 'Send' }))
    expect((await screen.findByRole('alert')).textContent).toContain('conversation_busy')
    expect(box().value).toBe('hello')
  })

  it('resends the same message after a lost response, and then a new one', async () => {
    const exists = { code: 'message_exists', message: 'It exists.' }
    const answers = [
      () => Promise.reject(new TypeError('lost')),
      () => Response.json({ error: exists }, { status: 409 }),
      () => Response.json({}),
    ]
    answer(() => answers.shift()?.() ?? Response.json({}))
    await renderInApp(<Composer />)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    expect((await screen.findByRole('alert')).textContent).toContain('It may not have arrived.')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(box().value).toBe(''))
    expect(screen.queryByRole('alert')).toBeNull()
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(box().value).toBe(''))
    const [first, second, third] = requests.map(({ body }) => (body as { id?: string }).id)
    expect(first).toEqual(expect.any(String))
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('creates one conversation, also if the first message needs two attempts', async () => {
    const error = { code: 'internal', message: 'No.' }
    let failed = false
    answer((path) => {
      if (path === '/api/conversations') return Response.json({ id: 'new' })
      if (failed) return Response.json({})
      failed = true
      return Response.json({ error }, { status: 500 })
    })
    const { router } = await renderInApp(<Composer />, { id: null })
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await screen.findByRole('alert')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/new'))
    expect(requests.filter(({ path }) => path === '/api/conversations')).toHaveLength(1)
  })

  it('keeps what is typed and attached while a message is being sent', async () => {
    const sent = Promise.withResolvers<Response>()
    const asset = { ref: 'asset://a1', assetId: 'a1', mime: 'text/csv', kind: 'file', size: 9 }
    answer((path) => {
      if (path.endsWith('/messages')) return sent.promise
      return Response.json(path.startsWith('/api/assets?') ? { asset, table: null } : {})
    })
    await renderInApp(<Composer />)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    type('hello and more')
    act(() => attach(new File(['x'], 'late.csv')))
    await screen.findByRole('button', { name: 'Remove late.csv' })
    sent.resolve(Response.json({}))
    await waitFor(() => expect(box().value).toBe('and more'))
    expect(screen.getByRole('button', { name: 'Remove late.csv' })).toBeTruthy()
  })

  it('carries text that is typed meanwhile over to a new conversation', async () => {
    const sent = Promise.withResolvers<Response>()
    answer((path) => (path.endsWith('/messages') ? sent.promise : Response.json({ id: 'new' })))
    const { router } = await renderInApp(<Composer />, { id: null })
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(requests.at(-1)?.path).toBe('/api/conversations/new/messages'))
    type('hello and more')
    sent.resolve(Response.json({}))
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/new'))
    expect([readDraft(''), readDraft('new')]).toEqual(['', 'and more'])
    keepDraft('new', '')
  })

  it('does not clear the text of another new conversation on the page', async () => {
    answer((path) => Response.json(path === '/api/conversations' ? { id: 'new' } : {}))
    const both = [<Composer key="one" />, <Composer key="two" />]
    const { router } = await renderInApp(both, { id: null })
    const [one, two] = screen.getAllByRole<HTMLTextAreaElement>('textbox', { name: 'Message' })
    if (!one || !two) throw new Error('There are not two boxes.')
    fireEvent.change(one, { target: { value: 'hello' } })
    fireEvent.change(two, { target: { value: 'something else' } })
    fireEvent.keyDown(one, { key: 'Enter' })
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/new'))
    expect([one.value, two.value]).toEqual(['', 'something else'])
    expect(readDraft('new')).toBe('')
  })

  it('clears what was sent, and stays, if another conversation is shown by then', async () => {
    const sent = Promise.withResolvers<Response>()
    answer((path) => (path.endsWith('/messages') ? sent.promise : Response.json({ id: 'new' })))
    const first = await renderInApp(<Composer />, { id: null })
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(requests.at(-1)?.path).toBe('/api/conversations/new/messages'))
    first.unmount()
    sent.resolve(Response.json({}))
    await waitFor(() => expect(readDraft('')).toBe(''))
    expect(first.router.state.location.pathname).toBe('/')
  })

  it('keeps the draft of a conversation while another one is shown', async () => {
    const first = await renderInApp(<Composer />)
    type('half a thought')
    first.unmount()
    const other = await renderInApp(<Composer />, { id: 'c2' })
    expect(box().value).toBe('')
    other.unmount()
    await renderInApp(<Composer />)
    expect(box().value).toBe('half a thought')
  })

  it('keeps the attachments of a conversation while another one is shown, until they are sent', async () => {
    const asset = { ref: 'asset://a1', assetId: 'a1', mime: 'text/csv', kind: 'file', size: 9 }
    answer((path) => Response.json(path.startsWith('/api/assets?') ? { asset, table: null } : {}))
    const first = await renderInApp(<Composer />)
    act(() => attach(new File(['x'], 'a.csv')))
    await waitFor(() => expect(server.attachedFiles.get('c1')).toHaveLength(1))
    first.unmount()
    const other = await renderInApp(<Composer />, { id: 'c2' })
    expect(screen.queryByText('a.csv')).toBeNull()
    other.unmount()
    const again = await renderInApp(<Composer />)
    expect(screen.getByText('a.csv')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Send' }))
    await waitFor(() => expect(screen.queryByText('a.csv')).toBeNull())
    again.unmount()
    await renderInApp(<Composer />)
    expect(screen.queryByText('a.csv')).toBeNull()
  })

  it('continues an upload while another conversation is shown', async () => {
    const asset = { ref: 'asset://a1', assetId: 'a1', mime: 'text/csv', kind: 'file', size: 9 }
    const uploaded = Promise.withResolvers<Response>()
    let signal: AbortSignal | null | undefined
    answer((path, init) => {
      if (!path.startsWith('/api/assets?')) return Response.json({})
      signal = init?.signal
      return uploaded.promise
    })
    const first = await renderInApp(<Composer />)
    act(() => attach(new File(['x'], 'a.csv')))
    await screen.findByRole('button', { name: 'Cancel a.csv' })
    first.unmount()
    const other = await renderInApp(<Composer />, { id: 'c2' })
    expect([signal?.aborted, screen.queryByText('a.csv')]).toEqual([false, null])
    other.unmount()
    await renderInApp(<Composer />)
    expect(screen.getByRole('button', { name: 'Cancel a.csv' })).toBeTruthy()
    uploaded.resolve(Response.json({ asset, table: null }))
    expect(await screen.findByRole('button', { name: 'Remove a.csv' })).toBeTruthy()
  })

  it('sends a message that waits for its files also while another conversation is shown', async () => {
    const asset = { ref: 'asset://a1', assetId: 'a1', mime: 'text/csv', kind: 'file', size: 9 }
    const uploaded = Promise.withResolvers<Response>()
    answer((path) => (path.startsWith('/api/assets?') ? uploaded.promise : Response.json({})))
    const first = await renderInApp(<Composer />)
    act(() => attach(new File(['x'], 'a.csv')))
    type('look at this')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await screen.findByText(/Sends when/)
    first.unmount()
    const other = await renderInApp(<Composer />, { id: 'c2' })
    expect(screen.queryByText(/Sends when/)).toBeNull()
    uploaded.resolve(Response.json({ asset, table: null }))
    await waitFor(() => expect(readDraft('c1')).toBe(''))
    const sent = requests.filter(({ path }) => path.endsWith('/messages'))
    expect(sent).toMatchObject([
      {
        path: '/api/conversations/c1/messages',
        body: { content: 'look at this', attachments: [{ assetRef: 'asset://a1' }] },
      },
    ])
    other.unmount()
    await renderInApp(<Composer />)
    expect([box().value, screen.queryByText('a.csv')]).toEqual(['', null])
  })

  it('keeps a message whose file fails while another conversation is shown, and says so', async () => {
    const uploaded = Promise.withResolvers<Response>()
    answer((path) => (path.startsWith('/api/assets?') ? uploaded.promise : Response.json({})))
    const first = await renderInApp(<Composer />)
    act(() => attach(new File(['x'], 'a.csv')))
    type('look at this')
    fireEvent.keyDown(box(), { key: 'Enter' })
    first.unmount()
    const other = await renderInApp(<Composer />, { id: 'c2' })
    const error = { code: 'table_invalid', message: 'No.' }
    uploaded.resolve(Response.json({ error }, { status: 422 }))
    await waitFor(() => expect(server.toasts.get()[0]?.text).toMatch(/^A message was not sent/))
    other.unmount()
    await renderInApp(<Composer />)
    expect([box().value, screen.queryByText(/Sends when/)]).toEqual(['look at this', null])
    expect(screen.getByRole('button', { name: 'Retry a.csv' })).toBeTruthy()
    expect(requests.some(({ path }) => path.endsWith('/messages'))).toBe(false)
  })

  it('shows why a message was not sent also after another conversation was shown', async () => {
    const sent = Promise.withResolvers<Response>()
    answer((path) => (path.endsWith('/messages') ? sent.promise : Response.json({})))
    const first = await renderInApp(<Composer />)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(requests.at(-1)?.path).toMatch(/messages$/))
    first.unmount()
    sent.resolve(Response.json({ error: { code: 'internal', message: 'No.' } }, { status: 500 }))
    await waitFor(() => expect(server.toasts.get()).toHaveLength(1))
    await renderInApp(<Composer />)
    expect(screen.getByRole('alert').textContent).toContain('Not sent')
    expect(box().value).toBe('hello')
  })

  it.each([
    ['it may have arrived', () => new Response('Bad gateway', { status: 502 })],
    ['it may have arrived', () => Promise.reject(new TypeError('Failed to fetch'))],
    ['not sent', () => new Response('Too large', { status: 413 })],
    [
      'not sent',
      () => Response.json({ error: { code: 'internal', message: 'No.' } }, { status: 500 }),
    ],
  ])('after a failure says that %s', async (said, failure) => {
    answer((path) => (path.endsWith('/messages') ? failure() : Response.json({})))
    await renderInApp(<Composer />)
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    const notice = (await screen.findByRole('alert')).textContent?.toLowerCase()
    const isUnsure = said !== 'not sent'
    expect([notice?.includes('may not have arrived'), notice?.includes('not sent')]).toEqual([
      isUnsure,
      !isUnsure,
    ])
    expect(notice?.includes('you can safely send it again')).toBe(isUnsure)
    expect(box().value).toBe('hello')
  })

  it('carries a file that is attached meanwhile over to a new conversation', async () => {
    const asset = { ref: 'asset://a1', assetId: 'a1', mime: 'text/csv', kind: 'file', size: 9 }
    const sent = Promise.withResolvers<Response>()
    answer((path) => {
      if (path.endsWith('/messages')) return sent.promise
      return Response.json(path.startsWith('/api/assets?') ? { asset, table: null } : { id: 'new' })
    })
    const { router } = await renderInApp(<Composer />, { id: null })
    type('hello')
    fireEvent.keyDown(box(), { key: 'Enter' })
    await waitFor(() => expect(requests.at(-1)?.path).toBe('/api/conversations/new/messages'))
    act(() => attach(new File(['x'], 'late.csv')))
    await waitFor(() => expect(server.attachedFiles.get('')).toHaveLength(1))
    sent.resolve(Response.json({}))
    await waitFor(() => expect(router.state.location.pathname).toBe('/c/new'))
    const names = server.attachedFiles.get('new')?.map(({ file }) => file.name)
    expect([names, screen.queryByText('late.csv')]).toEqual([['late.csv'], null])
  })

  it('offers to stop instead of to send during a run', async () => {
    answer(() => Response.json({ cancelled: true }))
    const state = stateOf(runStarted())
    await renderInApp(<Composer />, { state })
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull()
    fireEvent.click(screen.getByRole('button', { name: 'Stop' }))
    await waitFor(() => expect(requests[0]?.path).toBe('/api/conversations/c1/cancel'))
  })

  it('shows who a run waits for', async () => {
    const running = await renderInApp(<Composer />, { state: stateOf(runStarted()) })
    expect(screen.getByText('Answering…')).toBeTruthy()
    running.unmount()
    const waiting = await renderInApp(<Composer />, { state: stateOf(...asked({ sum: 5 })) })
    expect(screen.getByText(/Needs your approval/)).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Stop' })).toBeTruthy()
    waiting.unmount()
    const hidden = { withheld: true, type: 'object', size: 40 }
    await renderInApp(<Composer />, { state: stateOf(...asked(hidden)) })
    expect(screen.getByText('Waits for a person who may read the arguments')).toBeTruthy()
  })
})

function answer(give: Answer): void {
  vi.stubGlobal('fetch', async (input: string, init?: RequestInit) => {
    const { body } = init ?? {}
    requests.push({ path: input, body: typeof body === 'string' ? JSON.parse(body) : body })
    return give(input, init)
  })
}

function box(): HTMLTextAreaElement {
  return screen.getByRole('textbox', { name: 'Message' })
}

function type(text: string): void {
  fireEvent.change(box(), { target: { value: text } })
}
