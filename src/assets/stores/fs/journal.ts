import { readFile } from 'node:fs/promises'
import { bodiesOf } from '../../asset-record.ts'
import { sha256 } from '../../bodies/digest.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import { osCode, removeFile, rewriteFile, syncFile } from './durable.ts'
import type { FsLayout } from './layout.ts'

/**
 * Many small assets in one file that is synced once, instead of two files each. Their own files are written beside it
 * without waiting; only the folders that name them are synced. Should the machine stop before the disk has the files,
 * the journal repairs them: it writes over what has its name and lost its content, and makes no names, so that what
 * was removed in the meantime stays removed. When the disk has the files, the journal goes.
 */
export interface Journal {
  records: StoredRecord[]
  bodies: Map<string, Uint8Array>
}

/** Settling waits until no journal has come for so long, so that it is in no save's way. */
const QUIET_MS = 100
/** Where one always comes, it waits no longer. */
const MOST_WAIT_MS = 5_000
const MOST_UNSETTLED = 64 * 1024 * 1024

/** A journal as it is written: a line that says what follows, and the bodies. */
export function encodeJournal({ records, bodies }: Journal): Uint8Array {
  const sizes = [...bodies].map(([digest, bytes]) => [digest, bytes.byteLength])
  const head = Buffer.from(`${JSON.stringify({ version: 1, records, bodies: sizes })}\n`)
  return Buffer.concat([head, ...bodies.values()])
}

/** Reads a journal; null for one that is gone, or was not written to its end, and so never counted. */
export async function readJournal(path: string): Promise<Journal | null> {
  const bytes = await readBytes(path)
  const end = bytes?.indexOf(0x0a) ?? -1
  if (!bytes || end < 0) return null
  let head: { version?: number; records: StoredRecord[]; bodies: [string, number][] }
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
  /** Settles a journal of `size` bytes later, when no other has come for a while; waits where too much is not settled yet. */
  add(path: string, journal: Journal, size: number): Promise<void>
}

/** A settler for journals of one store. What it cannot settle stays, and the next start reads it. */
export function createSettler(layout: FsLayout): Settler {
  let pending: { path: string; files: string[] }[] = []
  let bytes = 0
  let dueAt = Infinity
  let timer: NodeJS.Timeout | undefined
  let settling = Promise.resolve()

  async function settle(): Promise<void> {
    const settled = pending
    pending = []
    bytes = 0
    dueAt = Infinity
    for (const { path, files } of settled) {
      try {
        for (const file of files) await syncFile(file)
        await removeFile(path)
      } catch {
        // It stays.
      }
    }
  }

  function settleNow(): Promise<void> {
    settling = settling.then(settle)
    return settling
  }

  return {
    async add(path, journal, size) {
      pending.push({ path, files: filesOf(layout, journal).map((file) => file.path) })
      bytes += size
      dueAt = Math.min(dueAt, Date.now() + MOST_WAIT_MS)
      clearTimeout(timer)
      if (bytes > MOST_UNSETTLED) await settleNow()
      else timer = setTimeout(settleNow, Math.max(0, Math.min(QUIET_MS, dueAt - Date.now())))
    },
  }
}

/**
 * Writes what the journal's files should hold where they hold something else. Harmless for a journal whose writer is
 * still at work.
 */
export async function repairFromJournal(layout: FsLayout, journal: Journal): Promise<void> {
  for (const { path, bytes, record } of filesOf(layout, journal)) {
    const found = await readBytes(path)
    const expected = bytes()
    if (found === null || Buffer.compare(found, expected) === 0) continue
    // A record of the same id that was saved after this one was removed is whole, and not ours.
    const other = record && parseRecord(found.toString('utf8'))
    if (!other) await rewriteFile(path, expected)
  }
}

interface JournalFile {
  path: string
  bytes(): Uint8Array
  record: boolean
}

function filesOf(layout: FsLayout, { records, bodies }: Journal): JournalFile[] {
  return records.flatMap((record) => {
    const space = layout.space(record.namespace)
    const files: JournalFile[] = [
      {
        path: space.record(record.assetId),
        bytes: () => Buffer.from(JSON.stringify(record)),
        record: true,
      },
    ]
    for (const { digest } of bodiesOf(record)) {
      const body = bodies.get(digest)
      if (body) files.push({ path: space.body(digest), bytes: () => body, record: false })
    }
    return files
  })
}

async function readBytes(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path)
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw error
  }
}
