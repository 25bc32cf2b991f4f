import { fireEvent, render, screen } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { ResizeHandle } from './resize-handle.tsx'

describe('ResizeHandle', () => {
  it.each([
    ['ltr', 'ArrowLeft', 424],
    ['ltr', 'ArrowRight', 376],
    ['rtl', 'ArrowLeft', 376],
    ['rtl', 'ArrowRight', 424],
  ])('follows the arrow keys on a page that is %s: %s', (direction, key, size) => {
    const onResize = vi.fn()
    vi.stubGlobal('getComputedStyle', () => ({ direction }))
    render(<ResizeHandle label="Width" size={400} min={320} max={960} onResize={onResize} />)
    fireEvent.keyDown(screen.getByRole('separator'), { key })
    expect(onResize).toHaveBeenCalledWith(size)
  })
})
