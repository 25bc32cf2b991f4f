import { fireEvent, screen, waitFor } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { renderInApp } from '../testing/render-in-app.tsx'
import { Text } from './text.tsx'

describe('Text', () => {
  it('draws the beginning of a very long text, and copies all of it', async () => {
    const text = 'word '.repeat(1_000_000)
    const copied = vi.fn(async () => {})
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: copied } })
    const { container } = await renderInApp(<Text text={text} plain />)
    expect(container.textContent?.length).toBeLessThan(25_000)
    expect(screen.getByText('The first 20,000 of 5,000,000 characters.')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
    expect(screen.getByText('The first 60,000 of 5,000,000 characters.')).toBeTruthy()
    fireEvent.click(screen.getByRole('button', { name: 'Copy all' }))
    await waitFor(() => expect(copied).toHaveBeenCalledWith(text))
  })

  it('draws a slightly long text in full', async () => {
    await renderInApp(<Text text={'x'.repeat(24_000)} plain />)
    expect(screen.queryByRole('button')).toBeNull()
  })
})
