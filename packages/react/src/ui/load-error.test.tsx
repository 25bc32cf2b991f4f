import { render, screen } from '@testing-library/react'
import { ApiError } from 'byref/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LoadError } from './load-error.tsx'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = () => new ApiError(0, 'network_failed', 'The server is away')

describe('LoadError', () => {
  it('retries by itself while the error is temporary', () => {
    const onRetry = vi.fn()
    const view = render(<LoadError what="The list" error={away()} onRetry={onRetry} />)
    expect(screen.getByRole('alert').textContent).toContain('The list could not be loaded')
    vi.advanceTimersByTime(5000)
    expect(onRetry).toHaveBeenCalledTimes(1)
    view.rerender(<LoadError what="The list" error={away()} onRetry={onRetry} />)
    vi.advanceTimersByTime(5000)
    expect(onRetry).toHaveBeenCalledTimes(2)
    view.unmount()
    vi.advanceTimersByTime(50_000)
    expect(onRetry).toHaveBeenCalledTimes(2)
  })

  it('waits for a person after any other error', () => {
    const onRetry = vi.fn()
    render(<LoadError what="The list" error={new Error('No')} onRetry={onRetry} />)
    vi.advanceTimersByTime(60_000)
    expect(onRetry).not.toHaveBeenCalled()
    screen.getByRole('button', { name: 'Retry' }).click()
    expect(onRetry).toHaveBeenCalledTimes(1)
  })
})
