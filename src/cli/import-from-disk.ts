import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Assets, ImportedFile } from '../assets/assets-contract.ts'
import { webStream } from '../assets/bodies/body-input.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { ProgressLine } from './terminal.ts'

const PHASES = { reading: 'reading the table of ', writing: 'writing the table of ' }

/**
 * Saves a file from disk, or standard input (`-`), with its progress on stderr. A table also becomes a structured asset.
 *
 * @param options `name` defaults to that of the file.
 * @throws ByrefError `bad_request` for a file that cannot be read; TableError for a broken table
 */
export async function importFromDisk(
  assets: Assets,
  file: string,
  options: { name?: string; mime?: string | null } = {},
): Promise<ImportedFile> {
  const { name = file === '-' ? 'stdin' : basename(file), mime } = options
  const size = file === '-' ? 0 : await fileSize(file)
  const source = file === '-' ? process.stdin : createReadStream(file)
  let unread: Error | null = null
  source.once('error', (error: Error) => {
    unread = error
  })
  const progress = new ProgressLine()
  const counted = webStream(source).pipeThrough(progress.counting(`saving ${name}`, size))
  try {
    return await assets.importFile(counted, {
      name,
      mime,
      by: 'user',
      onProgress: ({ phase, bytes, size }) => progress.show(PHASES[phase] + name, bytes, size),
    })
  } catch (error) {
    throw unread === null ? error : cannotRead(file, unread)
  } finally {
    progress.clear()
  }
}

/** Returns the size of a file in bytes. @throws ByrefError `bad_request` for a file that cannot be read */
export async function fileSize(file: string): Promise<number> {
  const found = await stat(file).catch((cause: unknown) => {
    throw cannotRead(file, cause)
  })
  if (found.isFile()) return found.size
  throw new ByrefError('bad_request', `Cannot read ${file}: it is not a file`)
}

/** Returns the error for a file that cannot be read. */
export function cannotRead(file: string, cause: unknown): ByrefError {
  return new ByrefError('bad_request', `Cannot read ${file}: ${errorMessage(cause)}`, { cause })
}
