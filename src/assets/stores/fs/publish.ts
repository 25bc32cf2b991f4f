import { dirname } from 'node:path'
import { assetExists, bodiesOf } from '../../asset-record.ts'
import { holdBody, releaseBodies } from './bodies.ts'
import { isFile, linkFile, osCode, removeFile, syncFile, writeSmall } from './durable.ts'
import type { FsFolder } from './folder.ts'
import { createSettler, encodeJournal, type Journal } from './journal.ts'
import type { FsSpace } from './layout.ts'
import type { FsRecord } from './records.ts'
import type { FsWriter } from './writers.ts'

/** An asset that is ready to get its names: its bodies are in temporary files, or, if they are small, in memory. */
export interface Staged {
  record: FsRecord
  /** By digest: the path of a file that is not synced yet, or bytes. */
  bodies: Map<string, string | Uint8Array>
}

/** Gives assets their names, many at once where many come at once. */
export type Publish = (staged: Staged) => Promise<void>

/** As many small assets, and as many of their bytes, share one journal. */
const GROUP_ITEMS = 256
const GROUP_BYTES = 16 * 1024 * 1024

/**
 * The steps that make an asset visible and durable, in an order that a crash can stop anywhere (see `recover`):
 * its intent, the refs of its bodies, the bodies, their folders' sync, the record, its folder's sync.
 */
export function createPublisher(folder: FsFolder, options: { publicNames: boolean }): Publish {
  const { layout, syncFolder, ensureFolder } = folder
  const waiting: { staged: Staged; done: () => void; failed: (error: unknown) => void }[] = []
  const settler = createSettler(layout)
  let working = false

  async function publishAlone({ record, bodies }: Staged): Promise<void> {
    const writer = await folder.ready()
    const space = await folder.openSpace(record.namespace)
    const intent = writer.path('record')
    const synced = new Set<string>()
    await Promise.all([
      writeSmall(intent, JSON.stringify(record), { sync: true }),
      ...foldersOf(space, record).map(ensureFolder),
      ...[...bodies].map(async ([digest, body]) => {
        if (await isFile(space.body(digest))) return
        if (typeof body === 'string') await syncFile(body)
        else await toFile(bodies, digest, writer, { sync: true })
        synced.add(digest)
      }),
    ])
    await publishRecord(record, space, intent, async () => {
      for (const digest of bodies.keys()) {
        const body = await toFile(bodies, digest, writer, { sync: true })
        const linked = await holdBody(space, digest, {
          record: intent,
          holder: record.holder,
          body,
        })
        if (linked && !synced.has(digest)) await syncFile(body)
      }
      await linkPublicName(space, { record, bodies })
      await Promise.all(bodyFolders(space, record).map(syncFolder))
    })
    await syncFolder(dirname(space.record(record.assetId)))
  }

  /** Holds the bodies and links the record; takes everything back if that fails. */
  async function publishRecord(
    record: FsRecord,
    space: FsSpace,
    intent: string,
    hold: () => Promise<void>,
  ): Promise<void> {
    let published = false
    try {
      await hold()
      published = await linkFile(intent, space.record(record.assetId))
      if (!published) throw assetExists(record.assetId)
    } finally {
      if (!published) await releaseBodies(space, record)
      await removeFile(intent)
    }
  }

  /** The body's name in URLs. Another process may be moving the body: then the name is given to our own copy. */
  async function linkPublicName(space: FsSpace, { record, bodies }: Staged): Promise<void> {
    if (!options.publicNames) return
    const name = space.publicName(record.digest, record.mime)
    await linkFile(space.body(record.digest), name).catch((error: unknown) => {
      const own = bodies.get(record.digest)
      if (osCode(error) !== 'ENOENT' || typeof own !== 'string') throw error
      return linkFile(own, name)
    })
  }

  async function publishGroup(group: Staged[]): Promise<PromiseSettledResult<void>[]> {
    const writer = await folder.ready()
    const journal: Journal = { records: group.map((one) => one.record), bodies: new Map() }
    for (const { bodies } of group) {
      for (const [digest, bytes] of bodies) journal.bodies.set(digest, bytes as Uint8Array)
    }
    const path = writer.path('journal')
    const spaces = new Map<string | null, FsSpace>()
    for (const { record } of group) {
      spaces.set(record.namespace, await folder.openSpace(record.namespace))
    }
    const spaceOf = (record: FsRecord) => spaces.get(record.namespace) as FsSpace
    const intents = new Map(group.map(({ record }) => [record, writer.path('record')]))
    const folders = (which: (space: FsSpace, record: FsRecord) => string[]) => [
      ...new Set(group.flatMap(({ record }) => which(spaceOf(record), record))),
    ]
    await Promise.all([
      writeSmall(path, encodeJournal(journal), { sync: true }),
      ...folders(foldersOf).map(ensureFolder),
      ...[...intents].map(([record, intent]) =>
        writeSmall(intent, JSON.stringify(record), { sync: false }),
      ),
    ])
    await syncFolder(writer.folder)
    const held = await Promise.allSettled(
      group.map(async ({ record, bodies }) => {
        const intent = intents.get(record) as string
        for (const digest of bodies.keys()) {
          const body = await toFile(bodies, digest, writer, { sync: false })
          await holdBody(spaceOf(record), digest, { record: intent, holder: record.holder, body })
        }
        await linkPublicName(spaceOf(record), { record, bodies })
      }),
    )
    const synced = await Promise.allSettled(folders(bodyFolders).map(syncFolder))
    const failure = synced.find((result) => result.status === 'rejected')
    const results = await Promise.allSettled(
      group.map(({ record }, i) =>
        publishRecord(record, spaceOf(record), intents.get(record) as string, async () => {
          const result = held[i]
          if (result?.status === 'rejected') throw result.reason
          if (failure) throw failure.reason
        }),
      ),
    )
    await Promise.all(
      folders((space, record) => [dirname(space.record(record.assetId))]).map(syncFolder),
    )
    await settler.add(path, journal)
    return results
  }

  async function work(): Promise<void> {
    working = true
    while (waiting.length > 0) {
      const group = takeGroup(waiting)
      const [only] = group
      const staged = group.map((one) => one.staged)
      const results =
        group.length === 1 && only
          ? await Promise.allSettled([publishAlone(only.staged)])
          : await publishGroup(staged).catch((reason) =>
              staged.map(() => ({ status: 'rejected' as const, reason })),
            )
      group.forEach(({ done, failed }, i) => {
        const result = results[i]
        if (result?.status === 'rejected') failed(result.reason)
        else done()
      })
    }
    working = false
  }

  return async function publish(staged) {
    if ([...staged.bodies.values()].some((body) => typeof body === 'string')) {
      return publishAlone(staged)
    }
    return new Promise((done, failed) => {
      waiting.push({ staged, done, failed })
      if (!working) void work()
    })
  }
}

function takeGroup<T extends { staged: Staged }>(waiting: T[]): T[] {
  let bytes = 0
  let count = 0
  for (const { staged } of waiting) {
    for (const body of staged.bodies.values()) bytes += body.length
    if (count > 0 && (bytes > GROUP_BYTES || count >= GROUP_ITEMS)) break
    count++
  }
  return waiting.splice(0, count)
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

function bodyFolders(space: FsSpace, record: FsRecord): string[] {
  return [...new Set(bodiesOf(record).map((body) => space.bodyFolder(body.digest)))]
}

function foldersOf(space: FsSpace, record: FsRecord): string[] {
  return [dirname(space.record(record.assetId)), ...bodyFolders(space, record)]
}
