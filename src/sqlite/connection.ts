import { ByrefError, errorMessage } from '../core/errors.ts'
import { RunningCalls } from '../core/running-calls.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { closeFile, type FileKind, type OpenFile, openFile } from './open-file.ts'
import {
  busyError,
  type FileOwner,
  fileError,
  isBusy,
  isSqliteError,
  movedError,
} from './sqlite-errors.ts'
import {
  type TransactionHooks,
  type TransactionStatements,
  type Write,
  writeQueue,
} from './write-queue.ts'

const { mkdirSync, statSync } = nodeBuiltin('node:fs')
const { dirname, join } = nodeBuiltin('node:path')
const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** The connection of a log or store to its file. No call blocks while another process writes. */
export interface Connection<S> {
  /** Reads. Retries while the file is busy. */
  read<T>(work: (sql: S) => T): Promise<T>
  readonly write: Write<S>
  /** Runs a call. `close` waits until it ends. @throws ByrefError after `close` */
  use<T>(run: () => Promise<T>): Promise<T>
  /** Reads without retries. Returns null if that fails. */
  tryRead<T>(work: (sql: S) => T): T | null
  readonly closed: boolean
  close(): Promise<void>
}

/** Options of {@link connect}. */
export interface ConnectOptions<S> {
  owner: FileOwner
  kind: FileKind<S>
  hooks?: TransactionHooks<S>
  /** How long a call waits while other processes lock the file, in milliseconds. Default: 60,000. */
  busyTimeoutMs?: number
}

/**
 * Opens the file, and creates it and its folder if they are missing.
 *
 * @throws What opening throws, except for a busy file, which is opened at its first use.
 */
export function connect<S extends TransactionStatements>(
  options: ConnectOptions<S>,
): Connection<S> {
  const { owner, kind, hooks, busyTimeoutMs = 60_000 } = options
  const { path } = owner
  let file: OpenFile<S> | null = null
  const calls = new RunningCalls(
    () => new ByrefError(owner.failed, `The ${owner.what} is closed: open it again`),
  )

  function open(): OpenFile<S> {
    if (file?.problem) {
      file.db.close()
      file = null
    }
    file ??= openFile(path, kind)
    return file
  }

  function openToWrite(): OpenFile<S> {
    const opened = open()
    if (opened.problem) throw opened.problem
    if (opened.isMoved()) throw movedError(owner)
    return opened
  }

  /** Reads, and retries with pauses while the file is busy, up to the time limit. */
  async function read<T>(work: (sql: S) => T): Promise<T> {
    const since = performance.now()
    for (let attempt = 0; ; attempt++) {
      try {
        return work(open().sql)
      } catch (error) {
        if (!isBusy(error)) throw fileError(error, owner)
        if (performance.now() - since >= busyTimeoutMs) throw busyError(error, owner)
        await backOff(attempt)
      }
    }
  }

  function tryRead<T>(work: (sql: S) => T): T | null {
    try {
      return work(open().sql)
    } catch (error) {
      if (isSqliteError(error)) return null
      throw error
    }
  }

  makeFolder(owner)
  try {
    open()
  } catch (error) {
    if (!isBusy(error)) throw fileError(error, owner)
  }
  return {
    read,
    write: writeQueue({ open: openToWrite, owner, busyTimeoutMs, hooks, backOff }),
    tryRead,
    get closed() {
      return calls.closed
    },
    use: (run) => calls.run(run),
    close: () =>
      calls.close(() => {
        if (file) closeFile(file)
      }),
  }
}

function makeFolder({ path, what, failed }: FileOwner): void {
  if (path === ':memory:') return
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    const message = `"${path}" is a folder: give the path of the file of the ${what}, such as "${join(path, 'data.sqlite')}"`
    throw new ByrefError('config_invalid', message)
  }
  const folder = dirname(path)
  try {
    mkdirSync(folder, { recursive: true })
  } catch (cause) {
    throw new ByrefError(
      failed,
      `The folder "${folder}" of the ${what} cannot be created (${errorMessage(cause)}): create it, or choose another path`,
      { cause },
    )
  }
}

/** Waits 1 ms, growing to 50 ms, with jitter so that two processes do not collide again. */
async function backOff(attempt: number): Promise<void> {
  await sleep(Math.min(50, 2 ** Math.min(attempt, 6)) * (0.5 + Math.random()))
}
