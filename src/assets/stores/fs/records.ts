import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AssetRecord } from '../../asset-store.ts'
import { osCode, storageError } from './durable.ts'

/** A record as it lies on disk: `holder` names its refs, and no other save's. */
export type FsRecord = AssetRecord & { holder: string }

/** The record in a file, or null where there is none that can be read. */
export async function readRecord(path: string): Promise<FsRecord | null> {
  try {
    return parseRecord(await readFile(path, 'utf8'))
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw storageError(error, 'Reading an asset')
  }
}

/** The record in a text, or null. */
export function parseRecord(text: string): FsRecord | null {
  try {
    const record = JSON.parse(text)
    return record?.version === 1 && typeof record.holder === 'string' ? record : null
  } catch {
    return null
  }
}

/** Paths of all records below a folder. */
export async function recordFiles(records: string): Promise<string[]> {
  const paths: string[] = []
  for (const shard of await readFolder(records)) {
    const folder = join(records, shard)
    for (const name of await readFolder(folder)) paths.push(join(folder, name))
  }
  return paths
}

/** What the contract shows of a record. */
export function withoutHolder({ holder: _, ...record }: FsRecord): AssetRecord {
  return record
}

async function readFolder(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (osCode(error) === 'ENOENT') return []
    throw storageError(error, 'Reading the asset folder')
  })
}
