import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ByrefError } from '../../../errors.ts'
import { graceOf } from '../grace.ts'
import type { StoredRecord } from '../stored-record.ts'
import { releaseBodies } from './bodies.ts'
import {
  foldersIn,
  linkFile,
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

/** A store's folder, opened on first use. */
export interface FsFolder {
  layout: FsLayout
  /** Opens the folder, once: makes it, checks its version, and finishes what killed writers began. */
  ready(): Promise<FsWriter>
  /** The folders of a namespace, made if they are not there. */
  openSpace(namespace: string | null): Promise<FsSpace>
  ensureFolder(path: string): Promise<void>
  syncFolder(path: string): Promise<void>
  /** Finishes what killed writers began; gives the number of files that they had left. */
  recover(when: { graceMs: number; now: number }): Promise<number>
}

/** The folder `root`. Nothing is touched before {@link FsFolder.ready}. */
export function fsFolder(root: string): FsFolder {
  const layout = fsLayout(root)
  const syncFolder = createFolderSync()
  const ensureFolder = createFolderMaker(root, syncFolder)
  const described = new Map<string | null, Promise<void>>()
  let opened: Promise<FsWriter> | undefined

  function ready(): Promise<FsWriter> {
    opened ??= start().catch((error) => {
      opened = undefined
      throw storageError(error, `Opening the asset folder ${root}`)
    })
    return opened
  }

  async function start(): Promise<FsWriter> {
    await mkdir(layout.writers, { recursive: true })
    const writer = await openWriter(layout.writers)
    await syncFolder(layout.writers)
    await checkMarker(layout.marker, writer)
    await recover({ graceMs: graceOf(), now: Date.now() })
    return writer
  }

  async function recover(when: { graceMs: number; now: number }): Promise<number> {
    await repair()
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
    const writer = await ready()
    await ensureFolder(space.folder)
    await writeOnce(space.description, JSON.stringify({ namespace }), writer)
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

async function checkMarker(path: string, writer: FsWriter): Promise<void> {
  const text = await readText(path)
  // An empty one is being written, where the disk has no links.
  if (!text) {
    const marker = { format: 'byref-assets', version: 1 }
    await writeOnce(path, `${JSON.stringify(marker)}\n`, writer)
  } else if (JSON.parse(text).version !== 1) {
    throw new ByrefError(
      'config_invalid',
      `${path} is of a version that this byref does not know. Update byref, or choose another folder.`,
    )
  }
}
