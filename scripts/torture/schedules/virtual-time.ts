import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Random } from '../../../src/agent/fixtures/random.ts'
import type { Scheduler } from './scheduler.ts'

interface Timer {
  due: number
  every: number | null
  fire(): void
}

/** Maximum duration of a schedule in its own milliseconds. A longer one hangs. */
const LIMIT = 600_000

/** Real milliseconds without a timer or a delayed operation, after which nothing will happen any more. */
const MAX_PAUSES = 300

/**
 * Uses virtual time: during `run`, the timers, `setImmediate`, `Date` and `Math.random` of this process belong to the
 * schedule. Only one delayed operation continues at a time, chosen by the seed. The clock moves when none is left,
 * and sometimes earlier. A schedule with the same seed is always the same, if it does not wait for real I/O.
 */
export function virtualTimeScheduler(random: Random): Scheduler {
  const ready: (() => void)[] = []
  const timers = new Set<Timer>()
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
        // Real I/O may be in progress. The clock moves only if it has no effect.
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

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearImmediate: globalThis.clearImmediate,
  Date: globalThis.Date,
  random: Math.random,
  promises: { ...timersPromises },
}

/** The clock of the active schedule; null for that of the process. */
let clock: Clock | null = null

type Fire = (...args: unknown[]) => void

/** A timer object of Node. */
function startTimer({ addTimer, now, timers }: Clock, every: boolean, fire: Fire, ms: number) {
  const timer = addTimer(fire, ms, every ? Math.max(1, ms) : null)
  return Object.assign(timer, {
    unref: () => timer,
    ref: () => timer,
    hasRef: () => true,
    refresh() {
      timer.due = now() + ms
      timers.add(timer)
      return timer
    },
  })
}

function stopTimer(timer: unknown): void {
  clock?.timers.delete(timer as Timer)
  real.clearTimeout(timer as NodeJS.Timeout)
}

class VirtualDate extends real.Date {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 && clock ? [clock.now()] : given) as [number]))
  }
  static override now(): number {
    return clock?.now() ?? real.Date.now()
  }
}

/**
 * Replacements for functions of the process. A module that is loaded during a schedule keeps them forever, so each
 * one looks up the current clock.
 */
const virtual = {
  Date: VirtualDate,
  setTimeout: (fire: Fire, ms = 1, ...args: unknown[]) =>
    clock ? startTimer(clock, false, () => fire(...args), ms) : real.setTimeout(fire, ms, ...args),
  setInterval: (fire: Fire, ms = 1, ...args: unknown[]) =>
    clock ? startTimer(clock, true, () => fire(...args), ms) : real.setInterval(fire, ms, ...args),
  setImmediate(fire: Fire, ...args: unknown[]): object {
    if (!clock) return real.setImmediate(fire, ...args)
    const one = { isCancelled: false }
    void clock.hop().then(() => one.isCancelled || fire(...args))
    return one
  },
  clearTimeout: stopTimer,
  clearInterval: stopTimer,
  clearImmediate(one: { isCancelled?: boolean } | undefined) {
    if (one && 'isCancelled' in one) one.isCancelled = true
    else real.clearImmediate(one as NodeJS.Immediate | undefined)
  },
}

const virtualPromises = {
  setImmediate: async (value: unknown) =>
    clock ? clock.hop().then(() => value) : real.promises.setImmediate(value),
  async setTimeout(ms: number, value: unknown, options: { signal?: AbortSignal } = {}) {
    if (!clock) return real.promises.setTimeout(ms, value, options)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const { signal } = options
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    clock.addTimer(() => resolve(value), ms, null)
    return promise
  },
}

/** Installs the clock. Returns a function that restores the original functions. */
function replaceClock(present: Clock): () => void {
  clock = present
  const own = Object.fromEntries(
    Object.keys(virtual).map((name) => [name, Reflect.get(globalThis, name)]),
  )
  Object.assign(globalThis, virtual)
  Math.random = () => present.random.below(1_000_000) / 1_000_000
  Object.defineProperty(performance, 'now', { value: present.now, configurable: true })
  Object.assign(timersPromises, virtualPromises)
  syncBuiltinESMExports()
  return () => {
    clock = null
    Object.assign(globalThis, own)
    Math.random = real.random
    Reflect.deleteProperty(performance, 'now')
    Object.assign(timersPromises, real.promises)
    syncBuiltinESMExports()
  }
}
