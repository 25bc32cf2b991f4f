import { render } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { useMedia } from './use-media.ts'

it('useMedia subscribes once for a query', () => {
  const addEventListener = vi.fn()
  vi.stubGlobal('matchMedia', () => ({ addEventListener, removeEventListener() {} }))
  const Part = ({ query }: { query: string }) => String(useMedia(query))
  const { rerender } = render(<Part query="(min-width: 1px)" />)
  rerender(<Part query="(min-width: 1px)" />)
  expect(addEventListener).toHaveBeenCalledTimes(1)
  rerender(<Part query="(min-width: 2px)" />)
  expect(addEventListener).toHaveBeenCalledTimes(2)
})
