// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react'
import { emptyConversation } from 'byref/client'
import { expect, it } from 'vitest'
import { ConversationSourceProvider } from '../app/conversation-context.tsx'
import { renderInApp } from '../testing/render-in-app.tsx'
import { AssetImage } from './asset-image.tsx'

it('reloads an image when the connection is back', async () => {
  const listeners = new Set<() => void>()
  const source = {
    ...{ id: 'c1', error: null, loaded: true, getState: () => emptyConversation },
    status: 'live' as 'live' | 'reconnecting',
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  await renderInApp(
    <ConversationSourceProvider value={source}>
      <AssetImage reference="asset://a1" alt="A boat" />
    </ConversationSourceProvider>,
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
