import { screen } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { message } from '../testing/messages.ts'
import { renderInApp } from '../testing/render-in-app.tsx'
import { EditMessage } from './edit-message.tsx'

it('scrolls into view with its buttons', async () => {
  const seen = vi.spyOn(Element.prototype, 'scrollIntoView')
  await renderInApp(<EditMessage message={message({ content: 'hello' })} onClose={() => {}} />)
  expect(seen.mock.contexts).toEqual([screen.getByRole('form', { name: 'Edit message' })])
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Message text' }))
})
