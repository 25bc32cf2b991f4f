// node --conditions=byref-source scripts/torture/schedules/schedules.ts [memory|sqlite|postgres] [count=1000] [first seed=1]
// Plays random schedules of runs. Prints the seed of each that fails; the same seed plays it again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryAssetStore } from '../../../src/assets/stores/memory.ts'
import { createMemoryLog } from '../../../src/log/memory-log.ts'
import { createPostgresLog } from '../../../src/log/postgres-log.ts'
import { createSqliteLog } from '../../../src/log/sqlite-log.ts'
import { startPostgres } from '../../../src/postgres/fixtures/start-postgres.ts'
import { playSchedule, type ScheduledWorld } from './play-schedule.ts'
import { realTimeScheduler } from './scheduler.ts'
import { virtualTimeScheduler } from './virtual-time.ts'

/** The logs for schedules. */
export type ScheduledLog = 'memory' | 'sqlite' | 'postgres'

/** A schedule that failed. */
export interface FailedSchedule {
  seed: number
  error: unknown
}

/** Options of {@link schedules}. */
export interface SchedulesOptions {
  count: number
  /** The first seed; the others follow. Default 1. */
  first?: number
  /** Number of concurrent schedules in real time. Default 8. */
  atOnce?: number
  onFailure?(failed: FailedSchedule): void
}

/** Plays schedules in memory, in virtual time, one after the other. Returns those that failed. */
export async function memorySchedules({
  count,
  first = 1,
  onFailure,
}: SchedulesOptions): Promise<FailedSchedule[]> {
  const failures: FailedSchedule[] = []
  for (let seed = first; seed < first + count; seed++) {
    const log = createMemoryLog()
    const world = { logs: [log, log], store: createMemoryAssetStore(), conversation: 'c' }
    try {
      await playSchedule(seed, world, virtualTimeScheduler)
    } catch (error) {
      failures.push({ seed, error })
      onFailure?.({ seed, error })
    }
  }
  return failures
}

/** Plays schedules on logs that several hosts share, in real time, several at once. Returns those that failed. */
export async function sharedSchedules(
  logs: ScheduledWorld['logs'],
  { count, first = 1, atOnce = 8, onFailure }: SchedulesOptions,
): Promise<FailedSchedule[]> {
  const failures: FailedSchedule[] = []
  const store = createMemoryAssetStore()
  let next = first
  async function playNext(): Promise<void> {
    while (next < first + count) {
      const seed = next++
      try {
        await playSchedule(seed, { logs, store, conversation: `c${seed}` }, realTimeScheduler)
      } catch (error) {
        failures.push({ seed, error })
        onFailure?.({ seed, error })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, playNext))
  return failures
}

/** Plays schedules on one SQLite file, which two hosts share. */
export async function sqliteSchedules(options: SchedulesOptions): Promise<FailedSchedule[]> {
  const folder = await mkdtemp(join(tmpdir(), 'byref-schedules-'))
  const logs = [1, 2].map(() => createSqliteLog(join(folder, 'log.sqlite')))
  try {
    return await sharedSchedules(logs, options)
  } finally {
    for (const log of logs) await log.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Plays schedules on one PostgreSQL schema, which two hosts share. */
export async function postgresSchedules(options: SchedulesOptions): Promise<FailedSchedule[]> {
  const server = await startPostgres()
  const { connectionString } = server
  const logs = [1, 2].map(() => createPostgresLog({ connectionString }))
  try {
    return await sharedSchedules(logs, options)
  } finally {
    for (const log of logs) await log.close()
    await server.remove()
  }
}

if (import.meta.main) {
  const [kind = 'memory', count = '1000', first = '1'] = process.argv.slice(2)
  const began = performance.now()
  const options: SchedulesOptions = {
    count: Number(count),
    first: Number(first),
    onFailure: ({ seed, error }) =>
      console.log(`seed ${seed}:`, process.env.VERBOSE ? error : String(error)),
  }
  const play = { memory: memorySchedules, sqlite: sqliteSchedules, postgres: postgresSchedules }
  const failures = await play[kind as ScheduledLog](options)
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${count} schedules on ${kind} in ${seconds} s: ${failures.length} failed`)
  process.exit(failures.length > 0 ? 1 : 0)
}
