import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { ByrefError } from '../../core/errors.ts'
import { onAbort } from '../../core/on-abort.ts'
import { Slots } from '../../core/slots.ts'
import { LONGEST_TIMER } from '../../core/timer.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { tableProgram } from './duckdb.ts'
import { spoolOf, withTemporaryFiles } from './spool.ts'
import { TableError } from './table-error.ts'
import {
  resultFile,
  type TableTask,
  type TaskError,
  type TaskMessage,
  type TaskResult,
} from './table-task.ts'
import type { WrittenTable } from './write-table.ts'

const { spawn } = nodeBuiltin('node:child_process')
const { existsSync } = nodeBuiltin('node:fs')
const { mkdtemp, rm } = nodeBuiltin('node:fs/promises')
const { tmpdir } = nodeBuiltin('node:os')
const { join } = nodeBuiltin('node:path')

/** Options of a task. */
export interface TableTaskOptions {
  signal?: AbortSignal
  /** Namespaces take turns, so that none keeps the others waiting. */
  namespace?: string | null
  /** Measured from the start of the task in its process. Exceeding it is a `TimeoutError`. */
  timeoutMs?: number
  /** Called with the part that is done, from 0 to 1. */
  onProgress?(part: number): void
}

/** The process exceeded its memory limit and was ended. */
export class OutOfMemoryError extends Error {}

/** Three tasks may run at once, and two of one namespace. Others wait. */
const slots = new Slots(3, 2)

/** Bytes that a process may take for its task, in addition to the 60 MB of Node. */
const HEADROOM = 432 * 1024 * 1024

/** The maximum JavaScript heap, in MB. */
const HEAP_MB = 320

/** The limit for the operating system, in kB. It counts what V8 reserves; `table-child.ts` reserves the rest. */
const LIMIT_KB = 2 * 1024 * 1024

/** How long an idle process waits for its next task. */
const IDLE_MS = 30_000

/** A process that has taken more bytes than this is not reused after its task. */
const MAX_REUSED_BYTES = 192 * 1024 * 1024

/** Maximum number of characters kept of a process's stderr. */
const MAX_STDERR = 2_000

/**
 * Runs a task in a separate process with a memory limit by the operating system. A signal ends it at once. Returns its
 * results: none if the file is not a table, several for a workbook.
 *
 * @param prepare Makes the task in its own folder, once a process is available.
 * @throws OutOfMemoryError; the signal's reason; the task's errors; ByrefError `storage_full`, `storage_failed`
 */
export function runTableTask(
  prepare: (folder: string, signal: AbortSignal | undefined) => Promise<TableTask>,
  options: TableTaskOptions,
): Promise<WrittenTable[]> {
  return withTemporaryFiles(() => runInProcess(prepare, options))
}

async function runInProcess(
  prepare: Parameters<typeof runTableTask>[0],
  { timeoutMs, onProgress, ...given }: TableTaskOptions,
): Promise<WrittenTable[]> {
  const group = given.namespace ?? ''
  await slots.take(given.signal, group)
  let child: TableProcess | null = null
  let folder: string | null = null
  let written: WrittenTable[] = []
  try {
    child = takeProcess()
    folder = await mkdtemp(join(tmpdir(), 'byref-'))
    const signal = withTimeout(given.signal, timeoutMs)
    const found = await child.run(await prepare(folder, signal), { signal, onProgress })
    written = await open(found, folder)
    return written
  } finally {
    if (child) release(child)
    slots.free(group)
    if (folder && written.length === 0) await rm(folder, { recursive: true, force: true })
  }
}

/** Opens the results of a task. Their folder is removed with the last of them. */
async function open(found: readonly TaskResult[], folder: string): Promise<WrittenTable[]> {
  let left = found.length
  const dispose = async (): Promise<void> => {
    if (--left === 0) await rm(folder, { recursive: true, force: true })
  }
  return Array.fromAsync(found.entries(), async ([i, result]) => {
    return { ...result, body: await spoolOf(join(folder, resultFile(i)), dispose) }
  })
}

function withTimeout(signal: AbortSignal | undefined, ms: number | undefined) {
  if (ms === undefined || ms > LONGEST_TIMER) return signal
  const timeout = AbortSignal.timeout(ms)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

/** One idle process is kept, so that the next task starts without delay. */
let idle: { child: TableProcess; end: NodeJS.Timeout } | null = null

function takeProcess(): TableProcess {
  const kept = idle
  idle = null
  clearTimeout(kept?.end)
  return kept?.child.isReusable ? kept.child : new TableProcess()
}

function release(child: TableProcess): void {
  if (idle || !child.isReusable) child.end()
  else idle = { child, end: setTimeout(endIdle, IDLE_MS).unref() }
}

function endIdle(): void {
  idle?.child.end()
  idle = null
}

/** A process that runs one task after another. */
class TableProcess {
  readonly #child = start()
  readonly #ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>
  #memory = 0
  #stderr = ''

  constructor() {
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#stderr = `${this.#stderr}${text}`.slice(0, MAX_STDERR)
    })
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve([code, signal]))
      // A process that cannot be started does not emit `exit`.
      this.#child.on('error', (error) => {
        this.#stderr += error.message
        resolve([null, null])
      })
    })
    this.#keepAlive(false)
  }

  /** Whether it can run another task. */
  get isReusable(): boolean {
    return this.#child.connected && this.#memory <= MAX_REUSED_BYTES
  }

  async run(
    task: TableTask,
    { signal, onProgress }: Pick<TableTaskOptions, 'signal' | 'onProgress'>,
  ): Promise<TaskResult[]> {
    const forget = signal && onAbort(signal, () => this.end())
    this.#keepAlive(true)
    try {
      const last = await this.#answer(task, onProgress)
      this.#memory = last.memory
      if (last.type === 'failed') throw errorOf(task, last.error)
      return last.found
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      forget?.()
      this.#keepAlive(false)
    }
  }

  end(): void {
    this.#child.kill('SIGKILL')
    if (this.#child.connected) this.#child.disconnect()
  }

  async #answer(task: TableTask, onProgress: TableTaskOptions['onProgress']) {
    const child = this.#child
    const { promise, resolve } = Promise.withResolvers<Exclude<TaskMessage, { type: 'progress' }>>()
    const receive = (message: TaskMessage): void => {
      if (message.type === 'progress') onProgress?.(message.part)
      else resolve(message)
    }
    child.on('message', receive)
    try {
      // A process that cannot be started has no channel.
      child.send?.(task, () => {})
      return await Promise.race([promise, this.#ended.then((how) => this.#failure(...how))])
    } finally {
      child.off('message', receive)
    }
  }

  #failure(code: number | null, signal: NodeJS.Signals | null): never {
    // V8 and the allocator end the process with a signal if they get no memory.
    if (signal) throw new OutOfMemoryError(`The table process was ended by ${signal}`)
    const what = code === null ? 'could not be started' : `ended with status ${code}`
    throw new Error(`The table process ${what}: ${this.#stderr}`)
  }

  /** An idle child must not keep this process alive. */
  #keepAlive(isBusy: boolean): void {
    const { channel, stderr } = this.#child
    const name = isBusy ? 'ref' : 'unref'
    this.#child[name]()
    channel?.[name]()
    ;(stderr as { ref?(): void; unref?(): void } | null)?.[name]?.()
  }
}

function start(): ChildProcess {
  const program = tableProgram()
  if (program === null) {
    const message =
      'The program that reads tables was not found. Install the package byref where the bundle runs, or exclude it from the bundle'
    throw new ByrefError('dependency_missing', message)
  }
  const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MB}`]
  const args = [...flags, program, String(HEADROOM)]
  // The child gets nothing else of the environment, so that files and queries cannot reveal it.
  const names = ['TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'NODE_COMPILE_CACHE']
  const env = Object.fromEntries(
    names.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
  )
  // Queries give the same results everywhere, and their times with a zone are in UTC.
  env.TZ = 'UTC'
  const options: SpawnOptions = { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }
  const isLimited = process.platform === 'linux' && existsSync('/bin/sh')
  if (!isLimited) return spawn(process.execPath, args, options)
  const limits = `ulimit -c 0; ulimit -d ${LIMIT_KB}; exec "$0" "$@"`
  return spawn('/bin/sh', ['-c', limits, process.execPath, ...args], options)
}

function errorOf(task: TableTask, { code, message, isMemory, table }: TaskError): Error {
  if (isMemory) return new OutOfMemoryError(message)
  if (table && 'name' in task) return new TableError({ name: task.name, ...table })
  return code === null ? new Error(message) : new ByrefError(code, message)
}
