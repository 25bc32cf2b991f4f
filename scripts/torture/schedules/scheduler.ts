import type { Random } from '../../../src/agent/fixtures/random.ts'

/** Decides when each delayed operation continues. */
export interface Scheduler {
  /** Resolves at a later point that the seed determines. */
  hop(): Promise<void>
  /** Like {@link hop}, never, once or several times. */
  hops(): Promise<void>
  /** Resolves after this duration in the time of the schedule. */
  sleep(ms: number): Promise<void>
  /** Notes progress. */
  note(): void
  /** Runs `work` under the schedule. Rejects if it hangs. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/**
 * A schedule in real time hangs if it makes no progress for this many ticks. Ticks are longer on a busy machine, so
 * they are better than time.
 */
const LIMIT_TICKS = 300
const TICK_MS = 100

/** Uses real time: each hop takes a few milliseconds. For logs with their own I/O. */
export function realTimeScheduler(random: Random): Scheduler {
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  const hop = (): Promise<void> =>
    random.chance(0.3) ? new Promise((resolve) => setImmediate(resolve)) : sleep(random.below(6))
  let left = LIMIT_TICKS
  return {
    note() {
      left = LIMIT_TICKS
    },
    hop,
    async hops() {
      for (let more = random.below(3); more > 0; more--) await hop()
    },
    sleep,
    async run(work) {
      left = LIMIT_TICKS
      let timer: ReturnType<typeof setInterval> | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setInterval(() => {
          if (--left === 0)
            reject(new Error(`hangs: nothing was appended for ${LIMIT_TICKS} ticks`))
        }, TICK_MS)
      })
      try {
        return await Promise.race([work(), late])
      } finally {
        clearInterval(timer)
      }
    },
  }
}
