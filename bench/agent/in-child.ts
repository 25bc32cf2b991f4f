import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs a program in its own process, so that contestants do not share a heap or compiled code. Resolves to what the
 * program sent by {@link answerParent}; null if that took longer than `seconds`. The process is ended in either case.
 */
export function inChild<T>(
  program: string,
  args: readonly string[],
  seconds: number,
): Promise<T | null> {
  const folder = mkdtempSync(join(tmpdir(), 'byref-bench-'))
  const child = fork(program, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, BENCH_FOLDER: folder },
  })
  const { promise, resolve, reject } = Promise.withResolvers<T | null>()
  const timer = setTimeout(() => {
    resolve(null)
    child.kill('SIGKILL')
  }, seconds * 1000)
  child.on('message', (answer) => {
    resolve(answer as T)
    child.kill('SIGKILL')
  })
  child.on('error', reject)
  child.on('exit', (code) => {
    clearTimeout(timer)
    rmSync(folder, { recursive: true })
    reject(new Error(`${program} ${args.join(' ')} ended with ${code} and no answer`))
  })
  return promise
}

/** Sends the answer to the parent. The parent then ends this process, even if a library left something open. */
export function answerParent(answer: unknown): void {
  process.send?.(answer)
}

/** The folder of this process. It is removed when the process ends. */
export function ownFolder(): string {
  return process.env.BENCH_FOLDER ?? tmpdir()
}

/** CPU time of all threads of this process, in microseconds. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
