import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { osCode } from './durable.ts'
import { closeFile, openFile, syncAll } from './file-descriptor.ts'

const MAX_KNOWN_FOLDERS = 20_000

/** Waits until the disk has the names in a folder. */
export async function syncFolder(path: string): Promise<void> {
  let folder: number
  try {
    folder = await openFile(path, 'r')
  } catch (error) {
    // Windows cannot open a folder, and needs no sync of one; a folder that we may not read is not ours.
    if (/^(EISDIR|EPERM|EACCES)$/.test(osCode(error) ?? '')) return
    throw error
  }
  try {
    await syncAll(folder)
  } catch (error) {
    if (osCode(error) !== 'EINVAL' && osCode(error) !== 'EPERM') throw error
  } finally {
    await closeFile(folder)
  }
}

/** Makes folders, each looked after once. */
export interface FolderMaker {
  /** Makes a folder and those above it, and waits until the disk has their names. */
  ensure(path: string): Promise<void>
  /** Somebody removed folders: each is looked after again. */
  forget(): void
}

/** A maker whose list of folders is bounded. */
export function createFolderMaker(): FolderMaker {
  const made = new Map<string, Promise<void>>()

  async function make(path: string): Promise<void> {
    const parent = dirname(path)
    try {
      await mkdir(path)
    } catch (error) {
      if (osCode(error) === 'ENOENT' && parent !== path) {
        // It was never made, or somebody removed it.
        made.delete(parent)
        await ensure(parent)
        return make(path)
      }
      if (osCode(error) !== 'EEXIST') throw error
    }
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

  return { ensure, forget: () => made.clear() }
}
