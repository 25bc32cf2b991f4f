import { readFile, readlink, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../bodies/digest.ts'
import { nonce } from '../../nonce.ts'
import { foldersIn, moveFile, namesIn, osCode } from './durable.ts'

const HOUR = 60 * 60 * 1000
const UNKNOWN = '0'
const GONE = 'gone-'

/** One store's own folder for unfinished work, below `writers/`. It is made with the first file in it. */
export interface FsWriter {
  folder: string
  /** A new path in the folder, ending in `suffix`. */
  path(suffix: string): string
}

/** Names a folder of its own for this process, and shows every hour that it lives. */
export async function openWriter(writers: string): Promise<FsWriter> {
  const { machine, boot, space } = await here()
  const start = await startOf(process.pid)
  const folder = join(writers, [process.pid, start, space, boot, machine, nonce()].join('-'))
  setInterval(() => void showLife(folder), HOUR).unref()
  let count = 0
  return { folder, path: (suffix) => join(folder, `${(count++).toString(36)}.${suffix}`) }
}

/**
 * Takes over the folders of writers that are gone, and gives their new paths: whoever wakes up in one finds it taken, and
 * fails instead of finishing what is being taken back. A writer is gone when its process has ended, or its machine was
 * started anew since. Where that cannot be known, as of other machines and containers, it is gone when nothing in its
 * folder changed for `graceMs`.
 */
export async function takeAbandoned(
  writers: string,
  options: { graceMs: number; now: number },
): Promise<string[]> {
  const { graceMs, now } = options
  const taken: string[] = []
  for (const name of await foldersIn(writers)) {
    const folder = join(writers, name)
    if (name.startsWith(GONE)) {
      taken.push(folder)
      continue
    }
    const lives = (await isRunning(name)) ?? now - (await lastChange(folder)) < graceMs
    if (lives) continue
    const ours = join(writers, `${GONE}${nonce()}`)
    if (await moveFile(folder, ours)) taken.push(ours)
  }
  return taken
}

/** Removes a writer's folder and what is left in it. */
export async function removeWriter(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
}

async function showLife(folder: string): Promise<void> {
  try {
    await utimes(folder, new Date(), new Date())
  } catch {
    // The next save makes the folder again, or says what is wrong with the disk.
  }
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
    orNothing(readFile('/etc/machine-id', 'utf8')),
    orNothing(readFile('/proc/sys/kernel/random/boot_id', 'utf8')),
    orNothing(readlink('/proc/self/ns/pid')),
  ]).then(([id, boot, space]) => ({
    // A name alone does not tell machines apart: two containers may share it.
    machine: sha256(`${hostname()} ${id || boot}`).slice(0, 12),
    boot: sha256(boot).slice(0, 12),
    space: sha256(space).slice(0, 12),
  }))
  return known
}

/** What other systems than Linux do not have, and some containers do not show. */
function orNothing(reading: Promise<string>): Promise<string> {
  return reading.catch(() => '')
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
  const line = await orNothing(readFile(`/proc/${pid}/stat`, 'utf8'))
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? UNKNOWN
}

async function lastChange(folder: string): Promise<number> {
  const paths = (await namesIn(folder)).map((name) => join(folder, name))
  const times = await Promise.all([folder, ...paths].map(changedAt))
  return Math.max(...times)
}

async function changedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (osCode(error) === 'ENOENT') return 0
    throw error
  }
}
