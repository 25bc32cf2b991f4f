import { dirname } from 'node:path'
import { assetExists, bodiesOf } from '../../asset-record.ts'
import { allEnded } from '../../in-parallel.ts'
import type { StoredRecord } from '../stored-record.ts'
import { holdBody, releaseBodies } from './bodies.ts'
import { linkFile, osCode, removeFile, sizeOf, syncFile, writeSmall } from './durable.ts'
import type { FsFolder } from './folder.ts'
import { createSettler, encodeJournal, type Journal } from './journal.ts'
import type { FsSpace } from './layout.ts'
import { readRecord } from './records.ts'
import type { FsWriter } from './writers.ts'

/** An asset that is ready to get its names: its bodies are in temporary files, or, if they are small, in memory. */
export interface Staged {
  record: StoredRecord
  /** By digest: the path of a file that is not synced yet, or bytes. */
  bodies: Map<string, string | Uint8Array>
}

/** Publishes assets together; gives for each what it failed with, or null. Rejects when none was begun. */
export type PublishGroup = (group: Staged[]) => Promise<({ error: unknown } | null)[]>

type Body = ReturnType<typeof bodiesOf>[number]

/** An asset on its way. */
interface Draft extends Staged {
  space: FsSpace
  /** The record's file, until the record has its name and afterwards, so that a crash leaves word of it. */
  intent: string
  /** Digests of the bodies whose bytes the disk has. */
  synced: Set<string>
  linked: boolean
  failure: { error: unknown } | null
}

/**
 * The steps that make assets visible and durable, in an order that a crash can stop anywhere (see `recover`): their
 * intents, the refs of their bodies, the bodies, their folders' sync, the records, their folders' sync. One that fails
 * in a step leaves the others and is taken back. A single asset's files are synced one by one; those of many are in a
 * journal that is.
 */
export function createGroupPublisher(
  folder: FsFolder,
  options: { publicNames: boolean },
): PublishGroup {
  const { layout, ensureFolder } = folder
  const settler = createSettler(layout)

  function draftOf(staged: Staged, writer: FsWriter): Draft {
    const space = layout.space(staged.record.namespace)
    const intent = writer.path('record')
    return { ...staged, space, intent, synced: new Set(), linked: false, failure: null }
  }

  async function prepare(draft: Draft, writer: FsWriter, sync: boolean): Promise<void> {
    const { record, intent } = draft
    await folder.openSpace(record.namespace)
    await allEnded([
      writeSmall(intent, JSON.stringify(record), { sync }),
      ...[recordFolder(draft), ...bodyFolders(draft)].map(ensureFolder),
      ...(sync ? bodiesOf(record).map((body) => writeAhead(draft, body, writer)) : []),
    ])
  }

  /** Brings a body to the disk before it is named, unless it is there already. */
  async function writeAhead(draft: Draft, body: Body, writer: FsWriter): Promise<void> {
    const { space, bodies, synced } = draft
    if ((await sizeOf(space.body(body.digest))) === body.size) return
    const staged = bodies.get(body.digest)
    if (typeof staged === 'string') await syncFile(staged)
    else await toFile(bodies, body.digest, writer, { sync: true })
    synced.add(body.digest)
  }

  async function hold(draft: Draft, writer: FsWriter, sync: boolean): Promise<void> {
    const { space, record, intent, bodies, synced } = draft
    for (const body of bodiesOf(record)) {
      const file = await toFile(bodies, body.digest, writer, { sync })
      const files = { record: intent, holder: record.holder, body: file }
      const ours = await holdBody(space, body, files)
      if (ours && sync && !synced.has(body.digest)) await syncFile(space.body(body.digest))
    }
    if (options.publicNames) await linkPublicName(draft)
  }

  async function linkRecord(draft: Draft): Promise<void> {
    const { record, space, intent } = draft
    draft.linked = await linkFile(intent, space.record(record.assetId))
    if (!draft.linked) throw assetExists(record.assetId)
  }

  async function publishDrafts(drafts: Draft[], writer: FsWriter, alone: boolean): Promise<void> {
    const syncFolder = once(folder.syncFolder)
    await step(drafts, (draft) => hold(draft, writer, alone))
    await step(drafts, (draft) => allEnded(bodyFolders(draft).map(syncFolder)))
    await step(drafts, linkRecord)
    await step(drafts, (draft) => syncFolder(recordFolder(draft)))
  }

  async function publishTogether(drafts: Draft[], writer: FsWriter): Promise<void> {
    const journal = journalOf(drafts)
    const encoded = encodeJournal(journal)
    const path = writer.path('journal')
    const written = writeSmall(path, encoded, { sync: true })
    const prepared = step(drafts, (draft) => prepare(draft, writer, false))
    try {
      await allEnded([written, prepared])
      await folder.syncFolder(writer.folder)
    } catch (error) {
      await removeFile(path)
      throw error
    }
    await publishDrafts(drafts, writer, false)
    await settler.add(path, journal, encoded.byteLength)
  }

  async function publishAlone(draft: Draft, writer: FsWriter): Promise<void> {
    await step([draft], () => prepare(draft, writer, true))
    await publishDrafts([draft], writer, true)
  }

  return async function publishGroup(group) {
    const writer = await folder.ready()
    const drafts = group.map((staged) => draftOf(staged, writer))
    const [first] = drafts
    try {
      if (drafts.length === 1 && first) await publishAlone(first, writer)
      else await publishTogether(drafts, writer)
    } catch (error) {
      for (const draft of drafts) draft.failure ??= { error }
    }
    await Promise.all(drafts.map(conclude))
    return drafts.map((draft) => draft.failure)
  }
}

/** Does a step of every asset that has not failed yet, all at once. Waits for all, and notes what fails. */
async function step(drafts: Draft[], run: (draft: Draft) => Promise<void>): Promise<void> {
  const going = drafts.filter((draft) => draft.failure === null)
  await Promise.all(
    going.map(async (draft) => {
      try {
        await run(draft)
      } catch (error) {
        draft.failure = { error }
      }
    }),
  )
}

/** Takes back what failed. The intent goes last; where it cannot, the next start or another process finds it. */
async function conclude(draft: Draft): Promise<void> {
  try {
    if (draft.failure) await withdraw(draft)
    await removeFile(draft.intent)
  } catch {
    // The asset is out, or its first error is the one to tell.
  }
}

async function withdraw({ record, space, linked }: Draft): Promise<void> {
  const path = space.record(record.assetId)
  if (linked && (await readRecord(path))?.holder === record.holder) await removeFile(path)
  await releaseBodies(space, record)
}

/** The body's name in URLs. Another process may be moving the body: then the name is given to our own copy. */
async function linkPublicName({ record, space, bodies }: Draft): Promise<void> {
  const name = space.publicName(record.digest, record.mime)
  try {
    await linkFile(space.body(record.digest), name)
  } catch (error) {
    const own = bodies.get(record.digest)
    if (osCode(error) !== 'ENOENT' || typeof own !== 'string') throw error
    await linkFile(own, name)
  }
}

/** The file that holds a body; what is in memory is written first, and stands in `bodies` as a file afterwards. */
async function toFile(
  bodies: Staged['bodies'],
  digest: string,
  writer: FsWriter,
  options: { sync: boolean },
): Promise<string> {
  const body = bodies.get(digest) as string | Uint8Array
  if (typeof body === 'string') return body
  const path = writer.path('body')
  bodies.set(digest, path)
  await writeSmall(path, body, options)
  return path
}

function journalOf(drafts: Draft[]): Journal {
  const journal: Journal = { records: drafts.map((one) => one.record), bodies: new Map() }
  for (const { bodies } of drafts) {
    for (const [digest, body] of bodies) journal.bodies.set(digest, body as Uint8Array)
  }
  return journal
}

/** Runs once for each path, and gives who asks again the same promise. */
function once(run: (path: string) => Promise<void>): (path: string) => Promise<void> {
  const runs = new Map<string, Promise<void>>()
  return (path) => {
    const begun = runs.get(path) ?? run(path)
    runs.set(path, begun)
    return begun
  }
}

function recordFolder({ record, space }: Draft): string {
  return dirname(space.record(record.assetId))
}

function bodyFolders({ record, space }: Draft): string[] {
  return [...new Set(bodiesOf(record).map((body) => space.bodyFolder(body.digest)))]
}
