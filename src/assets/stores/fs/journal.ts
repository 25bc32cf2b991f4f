import { readFile } from 'node:fs/promises'
import { sha256 } from '../../bodies/digest.ts'
import { osCode, removeFile, rewriteFile, syncFile } from './durable.ts'
import type { FsLayout } from './layout.ts'
import { type FsRecord, parseRecord } from './records.ts'

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

/** Settling waits until no journal has come for so long, so that it is in no save's way. */
const QUIET_MS = 100
const MOST_UNSETTLED = 64 * 1024 * 1024

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

/** Lets the disk catch up with journals, and removes them. */
export interface Settler {
  /** Settles the journal later, when no other has come for a while; waits where too much is not settled yet. */
  add(path: string, journal: Journal): Promise<void>
}

/** A settler for journals of one store. What it cannot settle stays, and the next start reads it. */
export function createSettler(layout: FsLayout): Settler {
  let pending: { path: string; journal: Journal }[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  let settling = Promise.resolve()

  async function settle(): Promise<void> {
    const settled = pending
    pending = []
    bytes = 0
    for (const { path, journal } of settled) {
      try {
        await settleJournal(layout, journal)
        await removeFile(path)
      } catch {
        // It stays.
      }
    }
  }

  return {
    async add(path, journal) {
      pending.push({ path, journal })
      for (const body of journal.bodies.values()) bytes += body.byteLength
      clearTimeout(timer)
      const later = () => {
        settling = settling.then(settle)
      }
      if (bytes > MOST_UNSETTLED) {
        later()
        await settling
      } else timer = setTimeout(later, QUIET_MS)
    },
  }
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
