import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { emptyConversation } from 'byref/client'
import { expect, it, vi } from 'vitest'
import { ConversationContext } from '../app/conversation-context.tsx'
import { renderInApp } from '../testing/render-in-app.tsx'
import { AssetImage } from './asset-image.tsx'

it('reloads an image when the connection is back', async () => {
  const listeners = new Set<() => void>()
  const source = {
    id: 'c1',
    error: null,
    loaded: true,
    getState: () => emptyConversation,
    status: 'live' as 'live' | 'reconnecting',
    reconnect: () => {},
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  await renderInApp(
    <ConversationContext value={source}>
      <AssetImage reference="asset://a1" alt="A boat" />
    </ConversationContext>,
  )
  const enter = (status: 'live' | 'reconnecting') =>
    act(() => {
      source.status = status
      for (const listener of listeners) listener()
    })
  fireEvent.error(screen.getByRole('img', { name: 'A boat' }))
  expect(screen.queryByRole('img', { name: 'A boat' })).toBeNull()
  enter('reconnecting')
  enter('live')
  expect(screen.getByRole('img', { name: 'A boat' })).toBeTruthy()
})

it('says only of an image that it cannot be shown', async () => {
  vi.stubGlobal('fetch', async (path: string) => {
    const assetId = path.split('/').at(-1)
    const mime = assetId === 'table' ? 'text/csv' : 'image/png'
    return Response.json({
      asset: { assetId, mime, name: assetId, size: 9, kind: 'file' },
      meta: {},
    })
  })
  await renderInApp([
    <AssetImage key="a" reference="asset://table" alt="Rows" />,
    <AssetImage key="b" reference="asset://boat" alt="A boat" />,
  ])
  for (const name of ['Rows', 'A boat']) fireEvent.error(screen.getByRole('img', { name }))
  const chips = () => screen.getAllByRole('link').map(({ textContent }) => textContent)
  await waitFor(() => expect(chips()).toEqual(['table9 B', 'boatcannot be shown']))
})
