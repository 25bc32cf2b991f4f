// @vitest-environment jsdom
import { afterEach, expect, it, vi } from 'vitest'
import { message } from '../testing/messages.ts'

const record = {
  ...{ v: 1, position: 1, timestamp: '2026-01-01T12:00:00.000Z' },
  event: { type: 'NEW_MESSAGE', payload: message({ content: 'Early.' }) },
}

/** The module as it is in a page that was opened at an address, with this as what was asked for early. */
async function openedAt(address: string, page: Promise<unknown> | undefined) {
  history.replaceState(null, '', address)
  vi.stubGlobal('byrefFirstPage', page)
  vi.stubGlobal('fetch', () => new Promise(() => {}))
  vi.resetModules()
  return import('./first-conversation.ts')
}

afterEach(() => history.replaceState(null, '', '/'))

it('opens the conversation of the address with what was asked for early, and gives it away once', async () => {
  const page = Promise.resolve({ records: [record], next: null })
  const { firstConversation, takeFirstConversation } = await openedAt('/c/a%20b', page)
  const first = firstConversation('a b')
  await expect.poll(() => first?.loaded).toBe(true)
  expect(first?.getState().messages.map(({ content }) => content)).toEqual(['Early.'])
  expect(takeFirstConversation('other')).toBeNull()
  expect(takeFirstConversation('a b')).toBe(first)
  expect(takeFirstConversation('a b')).toBeNull()
  first?.close()
})

it('gives none away that was refused meanwhile, as before somebody signed in', async () => {
  const { firstConversation, takeFirstConversation } = await openedAt('/c/c', Promise.resolve(null))
  firstConversation('c')?.close()
  expect(takeFirstConversation('c')).toBeNull()
})

it('opens none where nothing was asked for', async () => {
  const { firstConversation } = await openedAt('/c/c', undefined)
  expect(firstConversation('c')).toBeNull()
})
