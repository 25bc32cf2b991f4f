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

it('LeaseKeeper ignores a renewal that ends after the lease was released, or for another runner', async () => {
  const log = createMemoryLog()
  const answers: ((isHeld: boolean) => void)[] = []
  vi.spyOn(log, 'renew').mockImplementation(() => new Promise((resolve) => answers.push(resolve)))
  const activity = new Activity()
  const keeper = new LeaseKeeper({ log, conversation: 'c', owner: 'o', ms: 10_000, activity })
  const lost = vi.fn()
  const stop = keeper.keep({ onLost: lost, onStalled() {} })
  keeper.appended({ frees: false })
  await vi.advanceTimersByTimeAsync(5_000)
  keeper.appended({ frees: true })
  answers[0]?.(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(keeper.isOurs).toBe(false)

  keeper.appended({ frees: false })
  await vi.advanceTimersByTimeAsync(5_000)
  stop()
  keeper.keep({ onLost: lost, onStalled() {} })
  answers[1]?.(false)
  await vi.advanceTimersByTimeAsync(0)
  expect(answers).toHaveLength(2)
  expect(lost).not.toHaveBeenCalled()
})
