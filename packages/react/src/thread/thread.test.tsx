import { act, fireEvent, screen } from '@testing-library/react'
import type { ConversationState } from 'byref/client'
import { afterEach, expect, it, vi } from 'vitest'
import { ConversationContext } from '../app/conversation-context.tsx'
import { newMessageId } from '../composer/use-send.ts'
import { message, stateOf } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { Thread } from './thread.tsx'

// jsdom does not have it.
afterEach(() => Reflect.deleteProperty(Element.prototype, 'scrollTo'))

it('scrolls to the end for a message of this page, and not for that of another page', async () => {
  const listeners = new Set<() => void>()
  let state: ConversationState = stateOf(message({ content: 'Hello' }))
  const source = {
    ...({ id: 'c1', status: 'live', error: null, loaded: true, getState: () => state } as const),
    reconnect: () => {},
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const scrolled = vi.fn()
  Element.prototype.scrollTo = scrolled
  await renderInApp(
    <ConversationContext value={source}>
      <Thread />
    </ConversationContext>,
  )
  const sender = { participant_id: 'anna', participant_role: 'user' }
  const say = (id: string, content: string) =>
    act(() => {
      state = stateOf(...state.messages, message({ id, sender, content }))
      for (const listener of listeners) listener()
    })
  say('elsewhere', 'From another page')
  expect(await screen.findByText('From another page')).toBeTruthy()
  expect(scrolled).not.toHaveBeenCalled()
  say(newMessageId(), 'From this page')
  expect(await screen.findByText('From this page')).toBeTruthy()
  expect(scrolled).toHaveBeenCalledTimes(1)
})

it('goes to the first and to the last message of a long conversation with Home and End', async () => {
  Element.prototype.scrollTo = () => {}
  const said = Array.from({ length: 100 }, (_, i) => message({ content: `Number ${i}.` }))
  await renderInApp(<Thread />, { state: stateOf(...said) })
  expect(await screen.findByText('Number 99.')).toBeTruthy()
  expect(screen.queryByText('Number 0.')).toBeNull()
  const scroller = document.querySelector('[data-scroller]')
  if (!scroller) throw new Error('There is no thread.')
  fireEvent.keyDown(scroller, { key: 'Home' })
  expect(await screen.findByText('Number 0.')).toBeTruthy()
  expect(screen.queryByText('Number 99.')).toBeNull()
  fireEvent.keyDown(scroller, { key: 'End' })
  expect(await screen.findByText('Number 99.')).toBeTruthy()
})
