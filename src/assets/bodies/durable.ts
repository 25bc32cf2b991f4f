import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetBody } from '../asset-store.ts'
import { chunksOf } from './body.ts'
import { closeFile, openFile, statFile, syncData, writeFile } from './file-descriptor.ts'
import { writeBehind } from './write-behind.ts'

const { unlink } = nodeBuiltin('node:fs/promises')

const MIB = 1024 * 1024
/** Bytes of a stream that are written at once. */
const BLOCK = MIB / 4

/** The `code` of an error of the operating system, such as `ENOENT`; null for anything else. */
export function osCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** What the operating system refused, as an error that a caller can act on; anything else as it is. */
export function storageError(error: unknown, doing: string): unknown {
  const code = osCode(error)
  if (code === null || error instanceof ByrefError || !/^E[A-Z0-9]+$/.test(code)) return error
  if (code === 'ENOSPC' || code === 'EDQUOT') {
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

/** A new file, to be written; its descriptor. */
export function createFile(path: string): Promise<number> {
  return openFile(path, 'wx')
}

/** Writes a new file and closes it when the disk has its bytes. Nothing stays of it when that fails. */
export async function writeDurable(
  { fd, path }: { fd: number; path: string },
  body: AssetBody,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await writeAll(fd, body, signal)
    await syncData(fd)
    // A stream that was silent for days: a sweep took the file for left.
    if (!(body instanceof Uint8Array) && (await statFile(fd)).nlink === 0) {
      throw new ByrefError(
        'storage_failed',
        'The body took so long that it was swept; save it again.',
      )
    }
  } catch (error) {
    await removeFile(path).catch(() => {})
    throw error
  } finally {
    await closeFile(fd)
  }
}

/** Removes a file; false if there was none. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test(osCode(error) ?? '')) return false
    throw error
  }
}

async function writeAll(fd: number, body: AssetBody, signal?: AbortSignal): Promise<void> {
  if (body instanceof Uint8Array) return writeBytes(fd, body, signal)
  const blocks = writeBehind(BLOCK, (block) => writeBytes(fd, block, signal))
  try {
    for await (const chunk of chunksOf(body)) await blocks.add(chunk)
    await blocks.end()
  } finally {
    await blocks.settled()
  }
}

async function writeBytes(fd: number, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    signal?.throwIfAborted()
    const length = Math.min(MIB, bytes.byteLength - at)
    at += await writeFile(fd, bytes, { at, length })
  }
}

/** In the operating system's own words, such as `read-only file system`. */
function reasonOf(error: unknown): string {
  // `EROFS: read-only file system, open '/data/x'`
  const words = error instanceof Error && /^[A-Z\d]+: ([^,]+)/.exec(error.message)?.[1]
  return words || 'the operating system refused it'
}
