import { act, render, screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { useKeptFocus } from './use-kept-focus.ts'

function List({ names, busy = false }: { names: readonly string[]; busy?: boolean }) {
  useKeptFocus()
  return (
    <div className="byref">
      <button type="button">Outside</button>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <button type="button" disabled={busy}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

const focused = () => document.activeElement?.textContent

describe('useKeptFocus', () => {
  it('moves the focus from a removed element to the next one, then the previous one, then further out', async () => {
    const { rerender } = render(<List names={['a', 'b', 'c']} />)
    act(() => screen.getByText('b').focus())
    rerender(<List names={['a', 'c']} />)
    await waitFor(() => expect(focused()).toBe('c'))
    rerender(<List names={['a']} />)
    await waitFor(() => expect(focused()).toBe('a'))
    rerender(<List names={[]} />)
    await waitFor(() => expect(focused()).toBe('Outside'))
  })

  it('leaves the focus where a person moved it', async () => {
    const { rerender } = render(<List names={['a', 'b']} />)
    act(() => screen.getByText('a').focus())
    act(() => screen.getByText('a').blur())
    await act(async () => {})
    rerender(<List names={['b']} />)
    await act(async () => {})
    expect(document.activeElement).toBe(document.body)
  })

  it('restores the focus to a button that was temporarily disabled', async () => {
    const { rerender } = render(<List names={['a']} />)
    act(() => screen.getByText('a').focus())
    rerender(<List names={['a']} busy />)
    // A browser takes the focus from a disabled button at its next frame; jsdom does not.
    vi.spyOn(document, 'activeElement', 'get').mockReturnValue(document.body)
    const focus = vi.spyOn(screen.getByText('a'), 'focus')
    await act(async () => {})
    expect(focus).not.toHaveBeenCalled()
    rerender(<List names={['a']} />)
    await waitFor(() => expect(focus).toHaveBeenCalled())
    vi.restoreAllMocks()
  })
})
