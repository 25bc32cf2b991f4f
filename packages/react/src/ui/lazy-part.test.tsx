import { fireEvent, render, screen } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { lazyPart } from './lazy-part.tsx'

describe('lazyPart', () => {
  it('reports that its code cannot be loaded, and keeps the rest of the page', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const Part = lazyPart(() => Promise.reject(new TypeError('Failed to fetch')))
    render(
      <>
        <p>The rest</p>
        <Part />
      </>,
    )
    expect((await screen.findByRole('alert')).textContent).toContain('Check your connection')
    expect(screen.getByText('The rest')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Reload' })).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Close' })).toBeNull()
  })

  it('can be closed, if it is a dialog', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const onClose = vi.fn()
    const Dialog = lazyPart<{ onClose: () => void }>(() => Promise.reject(new Error('no')))
    render(<Dialog onClose={onClose} />)
    fireEvent.click(await screen.findByRole('button', { name: 'Close' }))
    expect(onClose).toHaveBeenCalled()
  })

  it('shows something else until it is loaded', async () => {
    const loaded = Promise.withResolvers<(props: { text: string }) => string>()
    const Part = lazyPart<{ text: string }>(
      () => loaded.promise,
      ({ text }) => <i>{text}</i>,
    )
    render(<Part text="plain" />)
    expect(screen.getByText('plain').tagName).toBe('I')
    loaded.resolve(({ text }) => `rich ${text}`)
    expect(await screen.findByText('rich plain')).toBeTruthy()
  })
})
