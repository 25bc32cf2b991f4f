import { setTimeout as sleep } from 'node:timers/promises'
import { closedError } from '../log-errors.ts'
import { closeFile, type OpenFile, openFile } from './open-file.ts'
import { busyError, isBusy, isSqliteError, toLogError } from './sqlite-errors.ts'
import type { Statements } from './statements.ts'
import { writeQueue } from './write-queue.ts'

/** What is done around each transaction. */
export interface TransactionHooks {
  /** In it, before the first write. */
  begun(sql: Statements): void
  /** In it, after the last write. */
  ending(sql: Statements): void
  /** After it, and before any of its writers hears so. */
  ended(committed: boolean): void
}

/** The one connection of a log object to its file. Nothing here blocks while another process writes. */
export interface Connection {
  /** Reads, again and again while the file is busy. */
  read<T>(work: (sql: Statements) => T): Promise<T>
  /**
   * Writes within a transaction that is on disk when this resolves; `committed` is called just before. `work` may throw to
   * refuse, before it has written anything: that harms no other writer of the transaction. It may be called again.
   */
  write<T>(work: (sql: Statements) => T, committed?: (value: T) => void): Promise<T>
  /** Holds off `close` until `run` has ended. @throws ByrefError `log_failed` after `close` */
  use<T>(run: () => Promise<T>): Promise<T>
  /** Reads at once; null where that is not possible now. */
  glance<T>(work: (sql: Statements) => T): T | null
  readonly closed: boolean
  close(): Promise<void>
}

/** @throws What opening throws, but for a busy file, which is opened when it is first used. */
export function connect(path: string, busyTimeoutMs: number, hooks: TransactionHooks): Connection {
  let file: OpenFile | null = null
  let closing: Promise<void> | null = null
  const uses = new Set<Promise<unknown>>()

  function open(): OpenFile {
    file ??= openFile(path)
    return file
  }

  /** Calls what meets a busy file until it does not, with pauses, no longer than the limit. */
  async function read<T>(work: (sql: Statements) => T): Promise<T> {
    const since = Date.now()
    for (let attempt = 0; ; attempt++) {
      try {
        return work(open().sql)
      } catch (error) {
        if (!isBusy(error)) throw toLogError(error, path)
        if (Date.now() - since >= busyTimeoutMs) throw busyError(error, path)
        await backOff(attempt)
      }
    }
  }

  function glance<T>(work: (sql: Statements) => T): T | null {
    try {
      return work(open().sql)
    } catch (error) {
      if (isSqliteError(error)) return null
      throw error
    }
  }

  async function end(): Promise<void> {
    await Promise.allSettled(uses)
    if (file) closeFile(file)
  }

  try {
    open()
  } catch (error) {
    if (!isBusy(error)) throw toLogError(error, path)
  }
  return {
    read,
    write: writeQueue({ open, path, busyTimeoutMs, hooks, backOff }),
    glance,
    get closed() {
      return closing !== null
    },
    async use(run) {
      if (closing) throw closedError()
      const running = run()
      uses.add(running)
      try {
        return await running
      } finally {
        uses.delete(running)
      }
    },
    close() {
      closing ??= end()
      return closing
    },
  }
}

/** 1 ms growing to 50, jittered so that those who met do not meet again. */
async function backOff(attempt: number): Promise<void> {
  await sleep(Math.min(50, 2 ** Math.min(attempt, 6)) * (0.5 + Math.random()))
}
