import { mkdir, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../bodies/digest.ts'
import { nonce } from '../../nonce.ts'
import { osCode } from './durable.ts'

const UNKNOWN = '0'

/** One store's own folder for unfinished work, below `writers/`. */
export interface FsWriter {
  folder: string
  /** A new path in the folder, ending in `suffix`. */
  path(suffix: string): string
}

/** Opens a folder of its own for this process. */
export async function openWriter(writers: string): Promise<FsWriter> {
  const { machine, boot, space } = await here()
  const start = await startOf(process.pid)
  const folder = join(writers, [process.pid, start, space, boot, machine, nonce()].join('-'))
  await mkdir(folder, { recursive: true })
  let count = 0
  return { folder, path: (suffix) => join(folder, `${(count++).toString(36)}.${suffix}`) }
}

/**
 * Folders of writers that are gone: their process has ended, or their machine was started anew since. Where that cannot
 * be known, as of other machines and containers, a writer is gone when nothing in its folder changed for `graceMs`.
 */
export async function abandonedWriters(
  writers: string,
  options: { graceMs: number; now: number },
): Promise<string[]> {
  const abandoned: string[] = []
  for (const name of await readdir(writers)) {
    const folder = join(writers, name)
    const running = await isRunning(name)
    const lives = running ?? options.now - (await lastChange(folder)) < options.graceMs
    if (!lives) abandoned.push(folder)
  }
  return abandoned
}

/** Removes a writer's folder and what is left in it. */
export async function removeWriter(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

interface Here {
  machine: string
  /** Another after every start of the machine. */
  boot: string
  /** The processes that see each other's ids. */
  space: string
}

let known: Promise<Here> | undefined

function here(): Promise<Here> {
  known ??= Promise.all([
    readFile('/etc/machine-id', 'utf8').catch(() => ''),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    readlink('/proc/self/ns/pid').catch(() => ''),
  ]).then(([id, boot, space]) => ({
    machine: sha256(`${hostname()} ${id}`).slice(0, 12),
    boot: sha256(boot).slice(0, 12),
    space: sha256(space).slice(0, 12),
  }))
  return known
}

/** Whether the writer's process lives; null where nobody here can know. */
async function isRunning(name: string): Promise<boolean | null> {
  const [pid, start, space, boot, machine] = name.split('-')
  const current = await here()
  if (machine !== current.machine) return null
  if (boot !== current.boot) return false
  if (space !== current.space) return null
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (osCode(error) === 'ESRCH') return false
  }
  const now = await startOf(Number(pid))
  return now === UNKNOWN && Number(pid) !== process.pid ? null : now === start
}

/** When the process started, in the kernel's ticks, so that a reused id is not taken for it. */
async function startOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? UNKNOWN
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
