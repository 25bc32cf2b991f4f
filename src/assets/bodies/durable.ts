import type { FileHandle } from 'node:fs/promises'
import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetBody } from '../asset-store.ts'
import { chunksOf } from './body.ts'

const { access, unlink } = nodeBuiltin('node:fs/promises')
const { pipeline } = nodeBuiltin('node:stream/promises')

/** Returns the `code` of an operating system error, such as `ENOENT`. Null for anything else. */
export function osCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

/** Runs `run`. Errors of the operating system become a ByrefError, `storage_full` or `storage_failed`. */
export async function withStorageErrors<T>(doing: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const code = osCode(error)
    if (code === null || error instanceof ByrefError || !/^E[A-Z0-9]+$/.test(code)) throw error
    const options = { cause: error }
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new ByrefError(
        'storage_full',
        `${doing} failed: the disk is full. Free some space.`,
        options,
      )
    }
    // `EROFS: read-only file system, open '/data/x'`
    const reason = error instanceof Error && /^[A-Z\d]+: ([^,]+)/.exec(error.message)?.[1]
    throw new ByrefError('storage_failed', `${doing} failed: ${reason || code}.`, options)
  }
}

/** Writes a new file and closes it once its bytes are on the disk. Removes the file if that fails. */
export async function writeDurable(
  file: FileHandle,
  path: string,
  body: AssetBody,
  signal?: AbortSignal,
): Promise<void> {
  try {
    if (body instanceof Uint8Array) {
      await file.writeFile(body, { signal })
      await file.datasync()
      return
    }
    await pipeline(copiesOf(body), file.createWriteStream({ flush: true }), { signal })
    // While the stream was silent for days, a sweep may have removed the file.
    await access(path).catch((cause: unknown) => {
      const message = 'The upload took so long that a sweep removed its body; save it again.'
      throw new ByrefError('storage_failed', message, { cause })
    })
  } catch (error) {
    await unlink(path).catch(() => {})
    signal?.throwIfAborted()
    throw error
  } finally {
    await file.close()
  }
}

/** Copies the chunks, because a source may reuse its memory while a chunk waits to be written. */
async function* copiesOf(body: AssetBody): AsyncGenerator<Buffer> {
  for await (const chunk of chunksOf(body)) yield Buffer.from(chunk)
}

/** Returns the result of work on a file or folder, or null if that does not exist. */
export async function ifExists<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (osCode(error) === 'ENOENT' || osCode(error) === 'ENOTDIR') return null
    throw error
  }
}
