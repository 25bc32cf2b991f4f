// The program of a table process: does one task after the other, as its parent says, and ends with its parent.

import { existsSync, readFileSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import { type Spooled, writeBody } from './spool.ts'
import { TableError } from './table-error.ts'
import {
  resultFile,
  type TableTask,
  type TaskError,
  type TaskMessage,
  type TaskResult,
} from './table-task.ts'
import { writeTable } from './write-table.ts'

/** What a task found, and where it lies, unless that is the result's file already. */
interface TaskOutcome extends TaskResult {
  body?: Spooled
}

/** Bytes that tasks may take beside what the process has now. */
const headroom = Number(process.argv[2])

// Whoever answers people comes first.
setPriority(5)
keepLimit()
const before = taken()
process.on('disconnect', () => process.exit())
// A terminal sends these to all processes: the parent says when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.on('message', (task: TableTask) => inBackground('A table task', take(task)))

async function take(task: TableTask): Promise<void> {
  try {
    // Paths in a query's errors and settings are those of this folder.
    process.chdir(task.folder)
    const found: TaskResult[] = []
    for await (const outcome of runTask(task, (part) => tell({ type: 'progress', part }))) {
      if (!outcome) continue
      const { body, ...result } = outcome
      if (body) await writeResult(body, join(task.folder, resultFile(found.length)))
      found.push(result)
    }
    tell({ type: 'done', found, memory: taken() - before })
  } catch (error) {
    tell({ type: 'failed', error: asTaskError(error), memory: taken() - before })
  } finally {
    process.chdir(tmpdir())
  }
}

/** Does a task in this process; null where the file is not a table, or not one that DuckDB reads. */
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

function tell(message: TaskMessage): void {
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
  const told = { message: errorMessage(error), isMemory: isMemory(error) }
  if (!(error instanceof ByrefError)) return { code: null, ...told }
  const { code } = error
  if (!(error instanceof TableError)) return { code, ...told }
  return { code, ...told, table: { line: error.line, reason: error.reason } }
}

/** Whether DuckDB or JavaScript got no memory, which libraries may say in words of their own. */
function isMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /^Out of Memory Error|allocation failed|Invalid \w+ length/.test(error.message) ||
    isMemory(error.cause)
  )
}

/**
 * Has the operating system keep the limit. It counts memory that V8 reserved and never uses, as much as each version likes:
 * what is over the headroom is taken up here, and never touched. Where the system keeps no limit, a thread of our own ends the
 * process once it has taken too much.
 */
function keepLimit(): void {
  const most = dataLimit()
  if (most === null) {
    watch(process.memoryUsage.rss() + headroom)
    return
  }
  const ballast = reserve(Math.max(0, most - taken() - headroom))
  if (!ballast) watch(process.memoryUsage.rss() + headroom)
  // Kept as long as the process.
  Object.assign(globalThis, { [Symbol('ballast')]: ballast })
}

/** Memory that is never touched; null where the system gives none that it does not have. */
function reserve(bytes: number): ArrayBuffer | null {
  try {
    return new ArrayBuffer(bytes)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Bytes of data that this process has as the limit counts them: also those that are only kept for later. */
function taken(): number {
  if (dataLimit() === null) return process.memoryUsage.rss()
  const [, kB] = /^VmData:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return Number(kB) * 1024
}

/** The limit of data that this process was started with (`ulimit -d`), in bytes; null for none. */
function dataLimit(): number | null {
  if (!existsSync('/proc/self/limits')) return null
  const [, limit] = /^Max data size\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return limit === undefined ? null : Number(limit)
}

function watch(most: number): void {
  const source = `setInterval(() => process.memoryUsage.rss() > ${most} && process.kill(process.pid, 'SIGKILL'), 10)`
  new Worker(source, { eval: true }).unref()
}
