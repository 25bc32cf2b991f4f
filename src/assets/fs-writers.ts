import { mkdir, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sha256 } from './digest.ts'
import { osCode } from './fs-durable.ts'
import { nonce } from './nonce.ts'

/** One store's own folder for unfinished work, below `writers/`. */
export interface FsWriter {
  /** A new path in the folder, ending in `suffix`. */
  path(suffix: string): string
}

/** Opens a folder of its own for this process. */
export async function openWriter(writers: string): Promise<FsWriter> {
  const name = `${process.pid}-${await startOf(process.pid)}-${await machine()}-${nonce()}`
  const folder = join(writers, name)
  await mkdir(folder, { recursive: true })
  let count = 0
  return { path: (suffix) => join(folder, `${(count++).toString(36)}.${suffix}`) }
}

/**
 * Folders of writers that are gone: their process has ended, or, where that cannot be known because they ran on another
 * machine, nothing in them changed for `graceMs`.
 */
export async function abandonedWriters(
  writers: string,
  options: { graceMs: number; now: number },
): Promise<string[]> {
  const abandoned: string[] = []
  for (const name of await readdir(writers)) {
    const folder = join(writers, name)
    const [pid, start, host] = name.split('-')
    const here = host === (await machine())
    const gone = here
      ? !(await isRunning(Number(pid), start ?? ''))
      : options.now - (await lastChange(folder)) > options.graceMs
    if (gone) abandoned.push(folder)
  }
  return abandoned
}

/** Removes a writer's folder and what is left in it. */
export async function removeWriter(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

let known: Promise<string> | undefined

/** The same for all processes that see each other's ids, and for no others; across a restart of the machine it differs. */
function machine(): Promise<string> {
  known ??= Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    readlink('/proc/self/ns/pid').catch(() => ''),
  ]).then((parts) => sha256([hostname(), ...parts].join('\n')).slice(0, 16))
  return known
}

async function isRunning(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (osCode(error) === 'ESRCH') return false
  }
  return (await startOf(pid)) === start
}

/** When the process started, in the kernel's ticks, so that a reused id is not taken for it; 0 where nobody says. */
async function startOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

async function lastChange(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  const times = await Promise.all(
    [folder, ...names.map((name) => join(folder, name))].map((path) =>
      stat(path).then(
        (found) => found.mtimeMs,
        () => 0,
      ),
    ),
  )
  return Math.max(...times)
}
