import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryLog } from '../log/memory-log.ts'
import { Activity, LeaseKeeper } from './lease-keeper.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([-3, 3])('LeaseKeeper renews a lease while the clock is set by %d hours', async (hours) => {
  const log = createMemoryLog()
  const renew = vi.spyOn(log, 'renew').mockResolvedValue(true)
  const keeper = new LeaseKeeper({
    log,
    conversation: 'c',
    owner: 'o',
    ms: 10_000,
    activity: new Activity(),
  })
  const stop = keeper.keep({ onLost() {}, onStalled() {} })
  keeper.appended({ frees: false })
  vi.setSystemTime(Date.now() + hours * 3_600_000)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(renew.mock.calls.length).toBeGreaterThanOrEqual(10)
  expect(renew.mock.calls.length).toBeLessThanOrEqual(20)
  stop()
})
