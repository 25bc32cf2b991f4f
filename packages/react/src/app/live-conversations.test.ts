import { createClient, type EventsPage } from 'byref/client'
import { expect, it, vi } from 'vitest'
import { message } from '../testing/messages.ts'
import { LiveConversations } from './live-conversations.ts'

const record = {
  v: 1,
  position: 1,
  timestamp: '2026-01-01T12:00:00.000Z',
  event: { type: 'NEW_MESSAGE', payload: message({ content: 'Early.' }) },
}
const client = createClient({ fetch: () => new Promise(() => {}) })

it('opens one connection for all panes, and closes it with the last of them', async () => {
  const opened = vi.spyOn(client, 'conversation')
  const conversations = new LiveConversations(client)
  const live = conversations.open('a')
  expect(conversations.open('a')).toBe(live)
  conversations.close('a')
  await Promise.resolve()
  expect(conversations.get('a')).toBe(live)
  conversations.close('a')
  await Promise.resolve()
  expect(conversations.get('a')).toBeNull()
  expect(live.status).toBe('closed')
  expect(opened).toHaveBeenCalledOnce()
})

it('keeps a connection if a pane is replaced by another one', async () => {
  const conversations = new LiveConversations(client)
  const live = conversations.open('a')
  conversations.close('a')
  expect(conversations.open('a')).toBe(live)
  await Promise.resolve()
  expect(live.status).not.toBe('closed')
  conversations.close('a')
})

it('opens the first conversation with what was requested early', async () => {
  const page = Promise.resolve({ records: [record], next: null } as unknown as EventsPage)
  const conversations = new LiveConversations(client, { id: 'a b', page })
  const first = conversations.get('a b')
  await expect.poll(() => first?.loaded).toBe(true)
  expect(first?.getState().messages.map(({ content }) => content)).toEqual(['Early.'])
  expect(conversations.get('other')).toBeNull()
  expect(conversations.open('a b')).toBe(first)
  conversations.close('a b')
})

it('opens a conversation again that was refused before a pane showed it', async () => {
  const conversations = new LiveConversations(client, { id: 'c', page: Promise.resolve(null) })
  const refused = conversations.get('c')
  refused?.close()
  const live = conversations.open('c')
  expect(live).not.toBe(refused)
  conversations.close('c')
})

it('follows conversations again that need a login, and not those that the server refuses', async () => {
  const statuses = new Map([
    ['expired', 401],
    ['forbidden', 403],
  ])
  const asked: string[] = []
  const refusing = createClient({
    fetch: async (input) => {
      const [id = ''] = [...statuses.keys()].filter((one) => String(input).includes(one))
      asked.push(id)
      return Response.json({}, { status: statuses.get(id) })
    },
  })
  const conversations = new LiveConversations(refusing)
  const lives = [...statuses.keys()].map((id) => conversations.open(id))
  await expect.poll(() => lives.map(({ status }) => status)).toEqual(['closed', 'closed'])
  asked.length = 0
  conversations.reconnect()
  await expect.poll(() => lives.map(({ status }) => status)).toEqual(['closed', 'closed'])
  expect(asked).toEqual(['expired'])
})
