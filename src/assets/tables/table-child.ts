// The program of a table process. It runs one task after another for its parent process, and ends with it.

import { existsSync, readFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import { type Spooled, withTemporaryFiles, writeBody } from './spool.ts'
import { TableError } from './table-error.ts'
import {
  resultFile,
  type TableTask,
  type TaskError,
  type TaskMessage,
  type TaskResult,
} from './table-task.ts'
import { writeTable } from './write-table.ts'

/** The result of a task, and its file, unless that is already the file of the result. */
type TaskOutcome = TaskResult & { body?: Spooled }

/** Bytes that a task may take in addition to the current memory of the process. */
const headroom = Number(process.argv[2])

/** The folder between tasks. */
const home = tmpdir()

// A low priority, so that the server stays responsive.
setPriority(5)
keepLimit()
const before = taken()
// DuckDB would finish a query before the process exits, and a query may never end.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// A terminal sends these signals to all processes. The parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.on('message', (task: TableTask) => inBackground('A table task', take(task)))

async function take(task: TableTask): Promise<void> {
  try {
    // Paths in errors and settings of a query are relative to this folder.
    process.chdir(task.folder)
    // The parent removes this folder, also if it ends this process in the middle of the task.
    Object.assign(process.env, { TMPDIR: task.folder, TEMP: task.folder })
    const found = await withTemporaryFiles(() => resultsOf(task))
    send({ type: 'done', found, memory: taken() - before })
  } catch (error) {
    send({ type: 'failed', error: asTaskError(error), memory: taken() - before })
  } finally {
    process.chdir(home)
  }
}

/** Writes the results of a task to its folder. */
async function resultsOf(task: TableTask): Promise<TaskResult[]> {
  const found: TaskResult[] = []
  for await (const outcome of runTask(task, (part) => send({ type: 'progress', part }))) {
    if (!outcome) continue
    const { body, ...result } = outcome
    if (body) await writeResult(body, join(task.folder, resultFile(found.length)))
    found.push(result)
  }
  return found
}

/** Runs a task in this process. Null if the file is not a table, or not one for DuckDB. */
async function* runTask(
  task: TableTask,
  onProgress: (part: number) => void,
): AsyncGenerator<TaskOutcome | null> {
  switch (task.type) {
    case 'query':
      yield await (await import('./run-query.ts')).runQuery(task)
      break
    case 'xlsx':
      yield* (await import('./xlsx-table.ts')).writeSheets(task)
      break
    case 'arrow':
      yield await writeTable((await import('./arrow-table.ts')).readArrowTable(task))
      break
    case 'parquet':
      yield await (await import('./parquet-table.ts')).readParquetTable(task)
      break
    case 'text':
      yield await (await import('../documents/write-pages.ts')).writePages(task)
      break
    default:
      yield await (await import('./duckdb-csv.ts')).writeByDuckdb(task, onProgress)
  }
}

function send(message: TaskMessage): void {
  process.send?.(message)
}

async function writeResult(body: Spooled, path: string): Promise<void> {
  try {
    await writeBody(body.stream(), path)
  } finally {
    await body.dispose()
  }
}

function asTaskError(error: unknown): TaskError {
  const facts = { message: errorMessage(error), isMemory: isMemory(error) }
  if (!(error instanceof ByrefError)) return { code: null, ...facts }
  const { code } = error
  if (!(error instanceof TableError)) return { code, ...facts }
  return { code, ...facts, table: { line: error.line, reason: error.reason } }
}

/** The second is from DuckDB's binding for Node. In an error that a query raises itself, other words precede it. */
const MEMORY_ERROR =
  /^Out of Memory Error|^Failed to allocate memory$|allocation failed|Invalid \w+ length/

/** Returns whether DuckDB or JavaScript ran out of memory, which libraries report in various ways. */
function isMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return MEMORY_ERROR.test(error.message) || isMemory(error.cause)
}

/**
 * Makes the operating system enforce the memory limit. The limit also counts memory that V8 reserves and never uses,
 * which depends on the version. Therefore everything above the headroom is reserved here and never touched. If the
 * system enforces no limit, a separate thread ends the process when it takes too much.
 */
function keepLimit(): void {
  const most = dataLimit()
  if (most === null) {
    watch(process.memoryUsage.rss() + headroom)
    return
  }
  const ballast = reserve(Math.max(0, most - taken() - headroom))
  if (!ballast) watch(process.memoryUsage.rss() + headroom)
  // Keeps the reference as long as the process lives.
  Object.assign(globalThis, { [Symbol('ballast')]: ballast })
}

/** Reserves memory that is never touched. Null if the system does not overcommit. */
function reserve(bytes: number): ArrayBuffer | null {
  try {
    return new ArrayBuffer(bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Returns the data bytes of this process as the limit counts them, including reserved memory. */
function taken(): number {
  if (dataLimit() === null) return process.memoryUsage.rss()
  const [, kB] = /^VmData:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kB) * 1024
}

/** Returns the data limit that this process was started with (`ulimit -d`), in bytes. Null for none. */
function dataLimit(): number | null {
  if (!existsSync('/proc/self/limits')) return null
  const [, limit] = /^Max data size\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return limit === undefined ? null : Number(limit)
}

function watch(most: number): void {
  const source = `setInterval(() => process.memoryUsage.rss() > ${most} && process.kill(process.pid, 'SIGKILL'), 10)`
  new Worker(source, { eval: true }).unref()
}
