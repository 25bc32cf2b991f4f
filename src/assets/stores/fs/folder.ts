import { join } from 'node:path'
import { ByrefError } from '../../../errors.ts'
import { graceOf } from '../grace.ts'
import { describeSpace, fieldIn } from '../space-description.ts'
import type { StoredRecord } from '../stored-record.ts'
import { releaseBodies } from './bodies.ts'
import {
  foldersIn,
  isDiskFull,
  isReadOnly,
  linkFile,
  makeFolder,
  namesIn,
  removeFile,
  sizeOf,
  storageError,
  writeSmall,
} from './durable.ts'
import { createFolderMaker, createFolderSync } from './folder-sync.ts'
import { readJournal, repairFromJournal, settleJournal } from './journal.ts'
import { type FsLayout, type FsSpace, fsLayout } from './layout.ts'
import { readRecord, readText } from './records.ts'
import { type FsWriter, openWriter, removeWriter, takeAbandoned } from './writers.ts'

const MARKER = `${JSON.stringify({ format: 'byref-assets', version: 1 })}\n`

/** A store's folder, opened on first use. */
export interface FsFolder {
  layout: FsLayout
  /**
   * Opens the folder, once: checks its version, and finishes what killed writers began. Nothing is made, so that a disk
   * that is full or read-only can be read.
   */
  ready(): Promise<FsWriter>
  /** The folders of a namespace, and what they need around them, made if they are not there. */
  openSpace(namespace: string | null): Promise<FsSpace>
  ensureFolder(path: string): Promise<void>
  syncFolder(path: string): Promise<void>
  /**
   * Finishes what killed writers began; gives the number of files that they had left. What a full disk has no room for
   * waits for the next time.
   */
  recover(when: { graceMs: number; now: number }): Promise<number>
}

/** The folder `root`. Nothing is touched before {@link FsFolder.ready}. */
export function fsFolder(root: string): FsFolder {
  const layout = fsLayout(root)
  const syncFolder = createFolderSync()
  const ensureFolder = createFolderMaker(root, syncFolder)
  const described = new Map<string | null, Promise<void>>()
  let opened: Promise<FsWriter> | undefined
  let made: Promise<void> | undefined

  function ready(): Promise<FsWriter> {
    opened ??= start().catch((error) => {
      opened = undefined
      throw storageError(error, `Opening the asset folder ${root}`)
    })
    return opened
  }

  async function start(): Promise<FsWriter> {
    await checkMarker(layout.marker)
    try {
      await recover({ graceMs: graceOf(), now: Date.now() })
    } catch (error) {
      if (!isReadOnly(error)) throw error
    }
    return openWriter(layout.writers)
  }

  /** Makes the folder itself, once. */
  function make(): Promise<void> {
    made ??= makeNow().catch((error) => {
      made = undefined
      throw error
    })
    return made
  }

  async function makeNow(): Promise<void> {
    const writer = await ready()
    await makeFolder(root)
    await ensureFolder(writer.folder)
    await writeOnce(layout.marker, MARKER, writer)
    await syncFolder(root)
  }

  async function recover(when: { graceMs: number; now: number }): Promise<number> {
    try {
      await repair()
      return await takeBack(when)
    } catch (error) {
      if (isDiskFull(error)) return 0
      throw error
    }
  }

  /** Takes back what writers that are gone did not finish. */
  async function takeBack(when: { graceMs: number; now: number }): Promise<number> {
    let leftovers = 0
    for (const folder of await takeAbandoned(layout.writers, when)) {
      for (const name of await namesIn(folder)) {
        leftovers++
        if (name.endsWith('.record')) await recoverRecord(join(folder, name))
        if (name.endsWith('.journal')) await recoverJournal(join(folder, name))
      }
      await removeWriter(folder)
    }
    return leftovers
  }

  /** Brings back what the disk lost of assets that were given out, whoever saved them. */
  async function repair(): Promise<void> {
    for (const writer of await foldersIn(layout.writers)) {
      const folder = join(layout.writers, writer)
      for (const name of await namesIn(folder)) {
        if (!name.endsWith('.journal')) continue
        const journal = await readJournal(join(folder, name))
        if (journal) await repairFromJournal(layout, journal)
      }
    }
  }

  async function recoverJournal(path: string): Promise<void> {
    const journal = await readJournal(path)
    if (!journal) return
    await settleJournal(layout, journal)
    for (const record of journal.records) await withdraw(record)
  }

  async function recoverRecord(path: string): Promise<void> {
    const record = await readRecord(path)
    if (record) await withdraw(record)
  }

  /** Frees what a record holds that never got its name, or lost it. */
  async function withdraw(record: StoredRecord): Promise<void> {
    const space = layout.space(record.namespace)
    const path = space.record(record.assetId)
    // Only a writer that was killed while it took the name leaves an empty file, where the disk has no links.
    if ((await sizeOf(path)) === 0) await removeFile(path)
    const published = await readRecord(path)
    if (published?.holder !== record.holder) await releaseBodies(space, record)
  }

  async function describe(space: FsSpace, namespace: string | null): Promise<void> {
    await make()
    const writer = await ready()
    await ensureFolder(space.folder)
    await writeOnce(space.description, describeSpace(namespace), writer)
    await syncFolder(space.folder)
  }

  return {
    layout,
    ready,
    ensureFolder,
    syncFolder,
    recover,
    async openSpace(namespace) {
      const space = layout.space(namespace)
      let describing = described.get(namespace)
      if (!describing) {
        describing = describe(space, namespace)
        described.set(namespace, describing)
        describing.catch(() => described.delete(namespace))
      }
      await describing
      return space
    },
  }
}

/** A small file that nobody has made yet; one that is there stays as it is. */
async function writeOnce(path: string, text: string, writer: FsWriter): Promise<void> {
  const temporary = writer.path('text')
  try {
    await writeSmall(temporary, text, { sync: true })
    await linkFile(temporary, path)
  } finally {
    await removeFile(temporary)
  }
}

async function checkMarker(path: string): Promise<void> {
  const text = await readText(path)
  // An empty one is being written, where the disk has no links.
  if (!text) return
  const version = fieldIn(text, 'version')
  if (version === 1) return
  const what =
    typeof version === 'number'
      ? 'is of a version that this byref does not know. Update byref, or choose another folder.'
      : 'is damaged, or none of byref. If the folder is one of byref, remove that file: it is written anew.'
  throw new ByrefError('config_invalid', `${path} ${what}`)
}
