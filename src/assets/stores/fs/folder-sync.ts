import { close, fsync, open } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { osCode } from './durable.ts'

const MAX_KNOWN_FOLDERS = 20_000

const openFolder = promisify(open)
const syncAll = promisify(fsync)
const closeFolder = promisify(close)

/**
 * Waits until the disk has the names in a folder. Calls that come while one is under way share the next, so that many
 * saves at once cost few syncs.
 */
export function createFolderSync(): (path: string) => Promise<void> {
  const running = new Map<string, { now: Promise<void>; next: Promise<void> | null }>()

  async function start(path: string): Promise<void> {
    const entry = { now: syncFolderNow(path), next: null }
    running.set(path, entry)
    try {
      await entry.now
    } finally {
      if (running.get(path) === entry && entry.next === null) running.delete(path)
    }
  }

  return function syncFolder(path) {
    const entry = running.get(path)
    if (!entry) return start(path)
    entry.next ??= entry.now.catch(() => {}).then(() => start(path))
    return entry.next
  }
}

async function syncFolderNow(path: string): Promise<void> {
  let folder: number
  try {
    folder = await openFolder(path, 'r')
  } catch (error) {
    // Windows cannot open a folder, and needs no sync of one.
    if (osCode(error) === 'EISDIR' || osCode(error) === 'EPERM') return
    throw error
  }
  try {
    await syncAll(folder)
  } catch (error) {
    if (osCode(error) !== 'EINVAL' && osCode(error) !== 'EPERM') throw error
  } finally {
    await closeFolder(folder)
  }
}

/**
 * Makes folders and waits until the disk has their names, up to `root`, which must exist. Each folder is looked after
 * once; the list is bounded.
 */
export function createFolderMaker(
  root: string,
  syncFolder: (path: string) => Promise<void>,
): (path: string) => Promise<void> {
  const made = new Map<string, Promise<void>>()

  async function make(path: string): Promise<void> {
    const parent = dirname(path)
    if (parent !== root) await ensure(parent)
    await mkdir(path).catch((error: unknown) => {
      if (osCode(error) !== 'EEXIST') throw error
    })
    await syncFolder(parent)
  }

  function ensure(path: string): Promise<void> {
    const known = made.get(path)
    if (known) return known
    if (made.size > MAX_KNOWN_FOLDERS) made.clear()
    const making = make(path)
    made.set(path, making)
    making.catch(() => made.delete(path))
    return making
  }

  return ensure
}
