import { readFile } from 'node:fs/promises'
import { sha256 } from './digest.ts'
import { osCode, rewriteFile, syncFile } from './fs-durable.ts'
import type { FsLayout } from './fs-layout.ts'
import { type FsRecord, parseRecord } from './fs-records.ts'

/**
 * Many small assets in one file that is synced once, instead of two files each. Their own files are written beside it
 * without waiting; only the folders that name them are synced. Should the machine stop before the disk has the files,
 * the journal repairs them: it writes over what has its name and lost its content, and makes no names, so that what
 * was removed in the meantime stays removed. When the disk has the files, the journal goes.
 */
export interface Journal {
  records: FsRecord[]
  bodies: Map<string, Uint8Array>
}

/** A journal as it is written: a line that says what follows, and the bodies. */
export function encodeJournal({ records, bodies }: Journal): Uint8Array {
  const sizes = [...bodies].map(([digest, bytes]) => [digest, bytes.byteLength])
  const head = Buffer.from(`${JSON.stringify({ version: 1, records, bodies: sizes })}\n`)
  return Buffer.concat([head, ...bodies.values()])
}

/** Reads a journal; null for one that was not written to its end, and so never counted. */
export async function readJournal(path: string): Promise<Journal | null> {
  const bytes = await readFile(path)
  const end = bytes.indexOf(0x0a)
  if (end < 0) return null
  let head: { version?: number; records: FsRecord[]; bodies: [string, number][] }
  try {
    head = JSON.parse(bytes.toString('utf8', 0, end))
  } catch {
    return null
  }
  if (head.version !== 1) return null
  const bodies = new Map<string, Uint8Array>()
  let at = end + 1
  for (const [digest, size] of head.bodies) {
    const body = bytes.subarray(at, at + size)
    if (sha256(body) !== digest) return null
    bodies.set(digest, body)
    at += size
  }
  return { records: head.records, bodies }
}

/** Waits until the disk has every file of a journal that is still there. */
export async function settleJournal(layout: FsLayout, journal: Journal): Promise<void> {
  for (const { path } of filesOf(layout, journal)) await syncFile(path)
}

/**
 * Writes what the journal's files should hold where they hold something else. Harmless for a journal whose writer is
 * still at work.
 */
export async function repairFromJournal(layout: FsLayout, journal: Journal): Promise<void> {
  for (const { path, bytes, record } of filesOf(layout, journal)) {
    const found = await readFile(path).catch((error: unknown) => {
      if (osCode(error) === 'ENOENT') return null
      throw error
    })
    if (found === null || Buffer.compare(found, bytes) === 0) continue
    // A record of the same id that was saved after this one was removed is whole, and not ours.
    const other = record && parseRecord(found.toString('utf8'))
    if (!other) await rewriteFile(path, bytes)
  }
}

function filesOf(
  layout: FsLayout,
  { records, bodies }: Journal,
): { path: string; bytes: Uint8Array; record: boolean }[] {
  return records.flatMap((record) => {
    const space = layout.space(record.namespace)
    const digests = [record.digest, ...record.parts.map((part) => part.digest)]
    return [
      {
        path: space.record(record.assetId),
        bytes: Buffer.from(JSON.stringify(record)),
        record: true,
      },
      ...digests.flatMap((digest) => {
        const bytes = bodies.get(digest)
        return bytes ? [{ path: space.body(digest), bytes, record: false }] : []
      }),
    ]
  })
}
