// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { infoQuery, queries } from './client.ts'
import { Shell } from './shell.tsx'

/** A server that knows the token `good`, of a reader. */
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
    if (path === '/api/info') {
      const caller = { role: 'reader', namespace: 'team', subject: 'anna' }
      return Response.json({ name: 'byref', version: '0', agents: [], sql: false, caller })
    }
    return Response.json({ conversations: [], next: null })
  })
})

/** The shell, to which nothing is known of the server yet. */
async function show() {
  const view = await renderInApp(<Shell />)
  await queries.resetQueries({ queryKey: infoQuery.queryKey })
  return view
}

describe('Shell', () => {
  it('asks for a token where the server wants one, and forgets it on signing out', async () => {
    await show()
    const field = await screen.findByLabelText('Token')
    expect(screen.queryByRole('navigation')).toBeNull()
    fireEvent.change(field, { target: { value: 'bad' } })
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    expect((await screen.findByRole('alert')).textContent).toContain('its time is over')
    fireEvent.change(field, { target: { value: ' good ' } })
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }))
    expect((await screen.findByText('anna')).textContent).toBe('anna · reader')
    fireEvent.click(screen.getByRole('button', { name: 'Sign out' }))
    expect(await screen.findByLabelText('Token')).toBeTruthy()
  })

  it('asks again where the token holds no longer', async () => {
    signedIn = true
    await show()
    await screen.findByText('No conversations yet')
    signedIn = false
    await queries.invalidateQueries({ queryKey: ['conversations'] })
    await waitFor(() => expect(screen.getByLabelText('Token')).toBeTruthy())
  })
})
