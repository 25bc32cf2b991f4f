import type { StatementSync } from 'node:sqlite'
import { inBackground } from '../core/in-background.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { makeRoom, type OpenFile } from './open-file.ts'
import {
  busyError,
  type FileOwner,
  fileError,
  isBusy,
  isFull,
  isSqliteError,
} from './sqlite-errors.ts'

const { setImmediate: nextTurn } = nodeBuiltin('node:timers/promises')

/**
 * Writes in a transaction that is on disk when this resolves; `committed` is called just before. `work` may throw
 * before it has written anything: that does not affect other writers of the transaction. It may be called again.
 */
export type Write<S> = <T>(work: (sql: S) => T, committed?: (value: T) => void) => Promise<T>

/** Hooks around each transaction. */
export interface TransactionHooks<S> {
  /** Called in the transaction, before the first write. */
  begun(sql: S): void
  /** Called in the transaction, after the last write. */
  ending(sql: S): void
  /** Called after the transaction, before its writers resolve. */
  ended(committed: boolean): void
}

/** The statements that every file has. */
export interface TransactionStatements {
  begin: StatementSync
  commit: StatementSync
}

interface Job<S> {
  since: number
  /** Does the work in a transaction, and returns the function that reports the commit to its writer. */
  run(sql: S): () => void
  failed(error: unknown): void
}

interface QueueOptions<S> {
  open(): OpenFile<S>
  owner: FileOwner
  busyTimeoutMs: number
  hooks?: TransactionHooks<S>
  backOff(attempt: number): Promise<void>
}

/**
 * Returns a function that writes in the order of the calls. The first write starts at the next microtask. Writes that
 * come before a commit ends, or while the file is busy, share the next transaction and its sync. Other work runs
 * between transactions.
 */
export function writeQueue<S extends TransactionStatements>(options: QueueOptions<S>): Write<S> {
  const waiting: Job<S>[] = []
  let running = false

  async function empty(): Promise<void> {
    while (waiting.length > 0) {
      try {
        await settle(waiting, options)
      } catch (error) {
        // Reject all waiting writers, so that none waits forever.
        for (const job of waiting.splice(0)) job.failed(error)
      }
      await nextTurn()
    }
    running = false
  }

  return (work, committed) =>
    new Promise((resolve, reject) => {
      const run = (sql: S) => {
        const value = work(sql)
        return () => {
          committed?.(value)
          resolve(value)
        }
      }
      waiting.push({ since: performance.now(), run, failed: reject })
      if (running) return
      running = true
      queueMicrotask(() => inBackground('Writing to SQLite', empty()))
    })
}

/** Empties the queue: commits its writes, or rejects those that fail. */
async function settle<S extends TransactionStatements>(
  waiting: Job<S>[],
  options: QueueOptions<S>,
): Promise<void> {
  let hasMadeRoom = false
  for (let attempt = 0; waiting.length > 0; attempt++) {
    try {
      commit(waiting, options)
      return
    } catch (error) {
      if (isBusy(error)) {
        expire(waiting, options, error)
        await options.backOff(attempt)
      } else if (isFull(error) && !hasMadeRoom) {
        hasMadeRoom = true
        makeRoom(options.open)
      } else if (waiting.length > 1) {
        // Write each one in its own transaction, to find the one that fails.
        for (const job of waiting.splice(0)) await settle([job], options)
      } else {
        waiting.pop()?.failed(fileError(error, options.owner))
      }
    }
  }
}

function expire<S>(
  waiting: Job<S>[],
  { busyTimeoutMs, owner }: QueueOptions<S>,
  cause: unknown,
): void {
  const limit = performance.now() - busyTimeoutMs
  while (waiting[0] && waiting[0].since <= limit) waiting.shift()?.failed(busyError(cause, owner))
}

/** Runs one transaction. If it throws, nothing was stored and no writer was notified. */
function commit<S extends TransactionStatements>(
  waiting: Job<S>[],
  { open, hooks }: QueueOptions<S>,
): void {
  const { db, sql } = open()
  const outcomes: (() => void)[] = []
  try {
    sql.begin.run()
    hooks?.begun(sql)
    for (const job of waiting) outcomes.push(outcomeOf(job, sql))
    hooks?.ending(sql)
    sql.commit.run()
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    hooks?.ended(false)
    throw error
  }
  waiting.splice(0)
  hooks?.ended(true)
  for (const settle of outcomes) settle()
}

function outcomeOf<S>(job: Job<S>, sql: S): () => void {
  try {
    return job.run(sql)
  } catch (error) {
    if (isSqliteError(error)) throw error
    return () => job.failed(error)
  }
}
