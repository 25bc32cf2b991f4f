import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inParallel } from '../../in-parallel.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import { namesIn, osCode } from './durable.ts'

/** So many files are open at once, so that a thousand records do not need a thousand. */
const READS_AT_ONCE = 64

/** The record in a file, or null where there is none that can be read. */
export async function readRecord(path: string): Promise<StoredRecord | null> {
  const text = await readText(path)
  return text === null ? null : parseRecord(text)
}

/** The text of a file; null if there is none. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Reads files, many at once; `use` is told of each that is there: its record, or null for one that is damaged. */
export async function readRecords(
  paths: readonly string[],
  use: (record: StoredRecord | null, path: string) => unknown,
): Promise<void> {
  await inParallel(paths, { limit: READS_AT_ONCE }, async (path) => {
    const text = await readText(path)
    if (text !== null) await use(parseRecord(text), path)
  })
}

/** Paths of all records below a folder. */
export async function recordFiles(records: string): Promise<string[]> {
  const paths: string[] = []
  for (const shard of await namesIn(records)) {
    const folder = join(records, shard)
    for (const name of await namesIn(folder)) paths.push(join(folder, name))
  }
  return paths
}
