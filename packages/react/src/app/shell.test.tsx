import { fireEvent, screen, waitFor } from '@testing-library/react'
import { ApiError } from 'byref/client'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { server } from '../testing/server.ts'
import { Shell } from './shell.tsx'

/** A server that accepts the token `good`, of a reader. */
let signedIn = false

beforeEach(() => {
  signedIn = false
  const unauthorized = { error: { code: 'unauthorized', message: 'This needs a token' } }
  vi.stubGlobal('fetch', async (path: string, init: RequestInit = {}) => {
    if (path === '/api/session') {
      const isGood = init.method === 'POST' && JSON.parse(String(init.body)).token === 'good'
      if (init.method === 'POST' && !isGood) return Response.json(unauthorized, { status: 401 })
      signedIn = isGood
      return new Response(null, { status: 204 })
    }
    if (!signedIn) return Response.json(unauthorized, { status: 401 })
    if (path === '/api/events') {
      const headers = { 'content-type': 'text/event-stream' }
      const start = (stream: ReadableStreamDefaultController) => {
        init.signal?.addEventListener('abort', () => stream.error(init.signal?.reason))
      }
      return new Response(new ReadableStream({ start }), { headers })
    }
    if (path === '/api/info') {
      const caller = { role: 'reader', namespace: 'team', subject: 'anna' }
      return Response.json({ name: 'byref', version: '0', agents: [], sql: false, caller })
    }
    return Response.json({ conversations: [], next: null })
  })
})

/** The shell, without any data of the server. */
async function show() {
  const view = await renderInApp(<Shell />)
  await server.queries.resetQueries({ queryKey: server.infoQuery.queryKey })
  return view
}

describe('Shell', () => {
  it('asks for a token if the server requires one, and forgets it on sign-out', async () => {
    await show()
    const field = await screen.findByLabelText('Token')
    expect(screen.queryByRole('navigation')).toBeNull()
    fireEvent.change(field, { target: { value: 'bad' } })
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    expect((await screen.findByRole('alert')).textContent).toContain('it has expired')
    fireEvent.change(field, { target: { value: ' good ' } })
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    expect((await screen.findByText('anna')).textContent).toBe('anna · reader')
    fireEvent.click(screen.getByRole('button', { name: 'Sign out' }))
    expect(await screen.findByLabelText('Token')).toBeTruthy()
  })

  it('asks for a token when the stream of changes is rejected', async () => {
    signedIn = true
    await show()
    expect(await screen.findByText('anna')).toBeTruthy()
    const { fetch } = globalThis
    vi.stubGlobal('fetch', async (...request: Parameters<typeof fetch>) => {
      if (request[0] === '/api/events') signedIn = false
      return fetch(...request)
    })
    for (const value of [true, false]) {
      Object.defineProperty(document, 'hidden', { configurable: true, value })
      fireEvent(document, new Event('visibilitychange'))
      // The connection ends.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await screen.findByLabelText('Token')).toBeTruthy()
  })

  it('keeps what was typed while other requests are rejected late', async () => {
    await show()
    const field = await screen.findByLabelText<HTMLInputElement>('Token')
    fireEvent.change(field, { target: { value: 'goo' } })
    const answer = Promise.withResolvers<void>()
    const { fetch } = globalThis
    const asked = vi.fn(async (...request: Parameters<typeof fetch>) => {
      await answer.promise
      return fetch(...request)
    })
    vi.stubGlobal('fetch', asked)
    server.noticeSignOut(new ApiError(401, 'unauthorized', 'This needs a token'))
    // A page that asked the server again would show something else until it responds.
    await new Promise((resolve) => setTimeout(resolve, 20))
    answer.resolve()
    expect(screen.getByLabelText<HTMLInputElement>('Token')).toBe(field)
    expect(field.value).toBe('goo')
  })

  it('asks for a token when an action is rejected', async () => {
    signedIn = true
    await show()
    await screen.findByText('No conversations yet')
    signedIn = false
    await expect(server.client.send('c', { content: 'Hi' })).rejects.toThrow(ApiError)
    await waitFor(() => expect(screen.getByLabelText('Token')).toBeTruthy())
  })

  it('asks again when the token has expired', async () => {
    signedIn = true
    await show()
    await screen.findByText('No conversations yet')
    signedIn = false
    await server.queries.invalidateQueries({ queryKey: ['conversations'] })
    await waitFor(() => expect(screen.getByLabelText('Token')).toBeTruthy())
  })
})
