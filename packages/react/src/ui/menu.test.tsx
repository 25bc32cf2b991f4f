import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { Copy, Link } from 'lucide-react'
import { describe, expect, it, vi } from 'vitest'
import { Button } from './button.tsx'
import { Menu, MenuItem } from './menu.tsx'

function show() {
  const onCopy = vi.fn()
  render(
    <Menu trigger={<Button>More</Button>}>
      <MenuItem icon={Copy} onSelect={onCopy}>
        Copy
      </MenuItem>
      <MenuItem icon={Link} onSelect={() => {}}>
        Link
      </MenuItem>
    </Menu>,
  )
  return { onCopy, button: screen.getByRole('button', { name: 'More' }) }
}

describe('Menu', () => {
  it('opens by keyboard at its first item, and restores the focus', async () => {
    const { button, onCopy } = show()
    button.focus()
    fireEvent.keyDown(button, { key: 'Enter' })
    const first = await screen.findByRole('menuitem', { name: 'Copy' })
    await waitFor(() => expect(document.activeElement).toBe(first))
    expect(screen.getByRole('menu', { name: 'More' })).toBeTruthy()
    fireEvent.keyDown(first, { key: 'ArrowDown' })
    const second = screen.getByRole('menuitem', { name: 'Link' })
    await waitFor(() => expect(document.activeElement).toBe(second))
    fireEvent.keyDown(second, { key: 'Escape' })
    await waitFor(() => expect(document.activeElement).toBe(button))
    expect(screen.queryByRole('menu')).toBeNull()
    fireEvent.keyDown(button, { key: ' ' })
    fireEvent.keyDown(await screen.findByRole('menuitem', { name: 'Copy' }), { key: 'Enter' })
    expect(onCopy).toHaveBeenCalledTimes(1)
  })

  it('opens and closes by a click, and its button shows the state', async () => {
    const { button } = show()
    expect(button.getAttribute('aria-expanded')).toBe('false')
    fireEvent.pointerDown(button, { button: 0 })
    await screen.findByRole('menu')
    expect(button.getAttribute('aria-expanded')).toBe('true')
    fireEvent.pointerDown(button, { button: 0 })
    await waitFor(() => expect(screen.queryByRole('menu')).toBeNull())
  })
})
