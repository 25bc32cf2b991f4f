import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

interface Timer {
  due: number
  every: number | null
  fire(): void
}

/** A schedule that takes longer hangs, in milliseconds of its own time. */
const LIMIT = 600_000

/** Real milliseconds with no timer and nothing delayed, after which nothing will ever happen. */
const MAX_PAUSES = 300

/**
 * Uses virtual time: while `run` lasts, the timers, `setImmediate`, `Date` and `Math.random` of this process are the
 * schedule's. Only one delayed operation goes on at a time, chosen by the seed; the clock moves when none is left, and
 * sometimes before. A schedule that is run again with its seed is the same, as far as nothing in it waits for real I/O.
 */
export function virtualTimeScheduler(random: Random): Scheduler {
  const ready: (() => void)[] = []
  const timers = new Set<Timer>()
  const real = { setImmediate: globalThis.setImmediate, setTimeout: globalThis.setTimeout }
  let now = Date.now()

  function addTimer(fire: () => void, ms: number, every: number | null): Timer {
    const timer = { due: now + Math.max(1, Math.ceil(ms)), every, fire }
    timers.add(timer)
    return timer
  }

  const turn = (): Promise<void> => new Promise((resolve) => void real.setImmediate(resolve))
  const realPause = (): Promise<void> => new Promise((resolve) => void real.setTimeout(resolve, 1))
  const hop = (): Promise<void> => new Promise((resolve) => void ready.push(resolve))
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void addTimer(resolve, ms, null))

  function releaseOne(): void {
    const [release] = ready.splice(random.below(ready.length), 1)
    release?.()
  }

  function fireDue(): void {
    for (const timer of [...timers].sort((a, b) => a.due - b.due)) {
      if (timer.due > now || !timers.has(timer)) continue
      if (timer.every === null) timers.delete(timer)
      else timer.due = now + timer.every
      timer.fire()
    }
  }

  function moveClock(): void {
    const next = Math.min(...[...timers].map(({ due }) => due))
    if (next < Infinity) now = Math.max(now, next)
    fireDue()
  }

  async function drive(isOver: () => boolean, deadline: number): Promise<void> {
    for (let pauses = 0; !isOver(); ) {
      await turn()
      if (isOver()) return
      if (ready.length === 0) {
        // Real I/O may be under way: only where nothing comes of it does the clock move.
        await realPause()
        if (ready.length > 0 || isOver()) continue
        if (timers.size === 0 && ++pauses > MAX_PAUSES) return
        moveClock()
      } else if (random.chance(0.03)) {
        now += random.below(60)
        fireDue()
      } else releaseOne()
      if (now > deadline) return
      if (ready.length > 0) pauses = 0
    }
  }

  return {
    note() {},
    hop,
    async hops() {
      for (let left = random.below(3); left > 0; left--) await hop()
    },
    sleep,
    async run(work) {
      const restore = replaceClock({ now: () => now, random, hop, addTimer, timers })
      let over = false
      try {
        const working = work().finally(() => {
          over = true
        })
        working.catch(() => {})
        await drive(() => over, now + LIMIT)
        if (!over)
          throw new Error(
            `hangs: ${timers.size} timers are set and ${ready.length} operations are delayed`,
          )
        return await working
      } finally {
        restore()
        timers.clear()
        for (const release of ready.splice(0)) release()
      }
    },
  }
}

interface Clock {
  now(): number
  random: Random
  hop(): Promise<void>
  addTimer(fire: () => void, ms: number, every: number | null): Timer
  timers: Set<Timer>
}

/** Puts the clock in the place of the process's own; gives what puts that back. */
function replaceClock({ now, random, hop, addTimer, timers }: Clock): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } =
    globalThis
  const saved = {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    setImmediate,
    clearImmediate,
  }
  const { Date: RealDate } = globalThis
  const { random: realRandom } = Math
  const promises = { ...timersPromises }

  class VirtualDate extends RealDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]))
    }
    static override now(): number {
      return now()
    }
  }

  const handle = (timer: Timer): object =>
    Object.assign(timer, {
      unref: () => timer,
      ref: () => timer,
      hasRef: () => true,
      refresh() {
        timer.due = now() + (timer as Timer & { ms: number }).ms
        timers.add(timer)
        return timer
      },
    })
  const clear = (timer: unknown): void => void timers.delete(timer as Timer)
  const after =
    (every: boolean) =>
    (fire: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      handle(
        Object.assign(
          addTimer(() => fire(...args), ms, every ? Math.max(1, ms) : null),
          { ms },
        ),
      )
  const immediate = (fire: (...args: unknown[]) => void, ...args: unknown[]): object => {
    const one = { cancelled: false }
    void hop().then(() => one.cancelled || fire(...args))
    return one
  }
  Object.assign(globalThis, {
    Date: VirtualDate,
    ...{ setTimeout: after(false), setInterval: after(true), setImmediate: immediate },
    ...{ clearTimeout: clear, clearInterval: clear },
    clearImmediate: (one: { cancelled: boolean } | undefined) => {
      if (one) one.cancelled = true
    },
  })
  Math.random = () => random.below(1_000_000) / 1_000_000
  Object.defineProperty(performance, 'now', { value: now, configurable: true })
  Object.assign(timersPromises, {
    setImmediate: async (value: unknown) => hop().then(() => value),
    setTimeout: (ms: number, value: unknown, { signal }: { signal?: AbortSignal } = {}) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        addTimer(() => resolve(value), ms, null)
      }),
  })
  syncBuiltinESMExports()
  return () => {
    Object.assign(globalThis, { ...saved, Date: RealDate })
    Math.random = realRandom
    Reflect.deleteProperty(performance, 'now')
    Object.assign(timersPromises, promises)
    syncBuiltinESMExports()
  }
}
