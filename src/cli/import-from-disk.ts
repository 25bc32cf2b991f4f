import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { Assets, ImportedFile } from '../assets/assets-contract.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { progressLine } from './progress-line.ts'

/** A file to import: a path, or `-` for standard input. */
export interface DiskImport {
  /** Default: the file's own; for standard input there is none to take. */
  name?: string
  mime?: string | null
  by: 'user'
}

/**
 * Saves a file from disk with its progress on stderr; a table gets a structured asset too.
 *
 * @throws ByrefError `bad_request` for a file that cannot be read; TableError for a broken table
 */
export async function importFromDisk(
  assets: Assets,
  file: string,
  { name = file === '-' ? 'stdin' : basename(file), mime, by }: DiskImport,
): Promise<ImportedFile> {
  const size = file === '-' ? 0 : await fileSize(file)
  const source = file === '-' ? process.stdin : createReadStream(file)
  const progress = progressLine()
  const body = Readable.toWeb(source) as ReadableStream<Uint8Array>
  return assets
    .importFile(body.pipeThrough(progress.counting(`saving ${name}`, size)), {
      name,
      mime,
      by,
      onProgress: ({ phase, bytes, size: total }) =>
        progress.show(LABEL[phase] + name, bytes, total),
    })
    .finally(progress.clear)
}

const LABEL = { reading: 'reading the table of ', writing: 'writing the table of ' }

/**
 * The size of a file that can be read, in bytes.
 *
 * @throws ByrefError `bad_request`
 */
export async function fileSize(file: string): Promise<number> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new ByrefError('bad_request', `Cannot read ${file}: ${errorMessage(cause)}`, { cause })
  })
  if (found.isFile()) return found.size
  throw new ByrefError('bad_request', `Cannot read ${file}: it is no file`)
}
