import * as callbacks from 'node:fs'
import {
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  unlink,
} from 'node:fs/promises'
import { dirname } from 'node:path'
import { getSystemErrorMap, promisify } from 'node:util'
import { ByrefError } from '../../../errors.ts'
import type { AssetBody } from '../../asset-store.ts'
import { chunksOf } from '../../bodies/body.ts'
import { createDigester } from '../../bodies/digest.ts'
import { nonce } from '../../nonce.ts'

const MIB = 1024 * 1024

// Without file handles, which cost more than a small file itself.
const openFile = promisify(callbacks.open)
const writeFile = promisify(callbacks.write)
const closeFile = promisify(callbacks.close)
const syncData = promisify(callbacks.fdatasync)
const linkPath = promisify(callbacks.link)

/** The `code` of an error of the operating system, such as `ENOENT`; null for anything else. */
export function osCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** Whether the disk has no room for what it was to write. */
export function isDiskFull(error: unknown): boolean {
  const code = osCode(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** Whether nothing can be written: the disk or the folder is for reading only. */
export function isReadOnly(error: unknown): boolean {
  return /^(EROFS|EACCES|EPERM)$/.test(osCode(error) ?? '')
}

/** What the operating system refused, as an error that a caller can act on; anything else as it is. */
export function storageError(error: unknown, doing: string): unknown {
  const code = osCode(error)
  if (code === null || error instanceof ByrefError || !/^E[A-Z0-9]+$/.test(code)) return error
  if (isDiskFull(error)) {
    return new ByrefError('storage_full', `The disk is full: ${doing} failed. Free some space.`, {
      cause: error,
    })
  }
  return new ByrefError('storage_failed', `${doing} failed: ${reasonOf(error)}.`, { cause: error })
}

/** Runs `run`; what the operating system refuses there is thrown as a {@link storageError}. */
export async function withStorageErrors<T>(doing: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw storageError(error, doing)
  }
}

/** Writes a body to a new file, hashing as it goes. The file is not synced yet. What the body throws is passed on. */
export async function writeBody(
  path: string,
  body: AssetBody,
  signal?: AbortSignal,
): Promise<{ digest: string; size: number }> {
  const fd = await openNew(path)
  try {
    const digester = createDigester()
    for await (const chunk of chunksOf(body)) {
      for (let at = 0; at < chunk.byteLength; at += MIB) {
        signal?.throwIfAborted()
        const piece = chunk.subarray(at, at + MIB)
        const written = writeAll(fd, piece)
        digester.update(piece)
        await written
      }
    }
    return digester.finish()
  } finally {
    await closeFile(fd)
  }
}

/** Writes a small new file; with `sync`, waits until the disk has it. */
export async function writeSmall(
  path: string,
  data: Uint8Array | string,
  options: { sync: boolean },
): Promise<void> {
  const fd = await openNew(path)
  try {
    await writeAll(fd, typeof data === 'string' ? Buffer.from(data) : data)
    if (options.sync) await syncData(fd)
  } finally {
    await closeFile(fd)
  }
}

/** Waits until the disk has the file's bytes; false if there is no file. */
export async function syncFile(path: string): Promise<boolean> {
  let fd: number
  try {
    fd = await openFile(path, 'r+')
  } catch (error) {
    if (osCode(error) === 'ENOENT') return false
    throw error
  }
  try {
    await syncData(fd)
  } finally {
    await closeFile(fd)
  }
  return true
}

/**
 * Writes bytes over an existing file, in place: its names stay its own, and none is made. False if there is no file.
 */
export async function rewriteFile(path: string, bytes: Uint8Array): Promise<boolean> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch (error) {
    if (osCode(error) === 'ENOENT') return false
    throw error
  }
  try {
    await writeAll(file.fd, bytes)
    await file.truncate(bytes.byteLength)
    await file.datasync()
  } finally {
    await file.close()
  }
  return true
}

/** A second name for a file; false if the name is taken. Where the disk has no links, a copy appears under it at once. */
export async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await linkPath(from, to)
    return true
  } catch (error) {
    const code = osCode(error)
    if (code === 'EEXIST') return false
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK')
      throw error
  }
  return copyInto(from, to)
}

/** Opens a file for reading; null if there is none. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Bytes of a file; null if there is none. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Names in a folder; none if there is no folder. */
export async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (osCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Names of the folders in a folder; none if there is no folder. */
export async function foldersIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  } catch (error) {
    if (osCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes a file; false if there was none. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (osCode(error) === 'ENOENT') return false
    throw error
  }
}

/** Makes a folder and those above it. Node's own way takes a read-only disk for a missing folder. */
export async function makeFolder(path: string): Promise<void> {
  const parent = dirname(path)
  try {
    await mkdir(path)
  } catch (error) {
    if (osCode(error) === 'EEXIST') return
    if (osCode(error) !== 'ENOENT' || parent === path) throw error
    await makeFolder(parent)
    await makeFolder(path)
  }
}

/** Moves a file or a folder, into a folder that is made if it is gone; false if there was nothing to move. */
export async function moveFile(from: string, to: string): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    try {
      await rename(from, to)
      return true
    } catch (error) {
      if (osCode(error) !== 'ENOENT') throw error
    }
    if (attempt > 0 || (await sizeOf(from)) === null) return false
    await makeFolder(dirname(to))
  }
}

/** In the operating system's own words, such as `read-only file system`. */
function reasonOf(error: unknown): string {
  const { errno = 0 } = error as NodeJS.ErrnoException
  return getSystemErrorMap().get(errno)?.[1] ?? 'the operating system refused it'
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const { bytesWritten } = await writeFile(fd, bytes, at, bytes.byteLength - at, null)
    at += bytesWritten
  }
}

/** Opens a new file. Its folder may have been swept while its writer slept: then it is made again. */
async function openNew(path: string): Promise<number> {
  try {
    return await openFile(path, 'wx')
  } catch (error) {
    if (osCode(error) !== 'ENOENT') throw error
  }
  await makeFolder(dirname(path))
  return openFile(path, 'wx')
}

/** The name is taken by an empty file, which only one can make; then the copy comes in its place. */
async function copyInto(from: string, to: string): Promise<boolean> {
  const copy = `${from}.${nonce()}.copy`
  try {
    await copyFile(from, copy)
    await syncFile(copy)
    if (!(await claim(to))) return false
    try {
      await rename(copy, to)
    } catch (error) {
      await removeFile(to)
      throw error
    }
    return true
  } finally {
    await removeFile(copy)
  }
}

async function claim(path: string): Promise<boolean> {
  try {
    await closeFile(await openFile(path, 'wx'))
    return true
  } catch (error) {
    if (osCode(error) === 'EEXIST') return false
    throw error
  }
}
