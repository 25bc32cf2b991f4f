import { mkdir, open, readdir, readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { ByrefError } from '../errors.ts'
import {
  assetExists,
  assetNotFound,
  bodiesOf,
  isExpired,
  newRecord,
  objectsUnsupported,
} from './asset-record.ts'
import type {
  AssetBody,
  AssetRecord,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
  StoreVerified,
} from './asset-store.ts'
import { streamFrom } from './body.ts'
import { byteRange } from './byte-range.ts'
import { dataUrlOf } from './data-url.ts'
import { createDigester } from './digest.ts'
import { type FsRecord, holdBody, releaseBodies, restoreBody } from './fs-bodies.ts'
import {
  createFolderMaker,
  createFolderSync,
  linkFile,
  moveFile,
  osCode,
  removeFile,
  storageError,
  syncFile,
  writeBody,
  writeDurably,
} from './fs-durable.ts'
import { type FsSpace, fsLayout } from './fs-layout.ts'
import { abandonedWriters, type FsWriter, openWriter, removeWriter } from './fs-writers.ts'
import { nonce } from './nonce.ts'
import { pageOf } from './record-page.ts'

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that holds everything; made if it is missing. */
  rootDir: string
  /** Where the folder is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below it. */
  baseUrl?: string
}

const DAY = 24 * 60 * 60 * 1000
const READ_SIZE = 256 * 1024

/**
 * Keeps assets as files. What `save` gives out is on the disk: body and record are synced before they get their names,
 * and their folders after. Any number of processes may share a folder. After a crash, the next store that opens the
 * folder removes what was not finished.
 */
export function createFsAssetStore(options: FsAssetStoreOptions): FullAssetStore {
  const root = resolve(options.rootDir)
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? null
  const layout = fsLayout(root)
  const syncFolder = createFolderSync()
  const ensureFolder = createFolderMaker(root, syncFolder)
  const places = new Map<string, { createdAt: string; assetId: string }>()
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
    await checkMarker(layout.marker, writer)
    await recover({ graceMs: DAY, now: Date.now() })
    return writer
  }

  /** Finishes what killed writers began: what has no name yet goes, with everything that it held. */
  async function recover(when: { graceMs: number; now: number }): Promise<number> {
    let leftovers = 0
    for (const folder of await abandonedWriters(layout.writers, when)) {
      for (const name of await readdir(folder).catch(() => [])) {
        leftovers++
        if (name.endsWith('.record')) await abandon(join(folder, name))
      }
      await removeWriter(folder)
    }
    return leftovers
  }

  async function abandon(intent: string): Promise<void> {
    const record = parseRecord(await readFile(intent, 'utf8').catch(() => ''))
    if (!record) return
    const space = layout.space(record.namespace)
    const published = await readRecord(space.record(record.assetId))
    if (published?.holder !== record.holder) await releaseBodies(space, record)
  }

  async function find(assetId: string, where: StoreOptions = {}): Promise<FsRecord | null> {
    await ready()
    const record = await readRecord(layout.space(where.namespace ?? null).record(assetId))
    return record && record.assetId === assetId && !isExpired(record) ? record : null
  }

  async function known(assetId: string, where?: StoreOptions): Promise<FsRecord> {
    const record = await find(assetId, where)
    if (!record) throw assetNotFound(assetId)
    return record
  }

  async function openSpace(namespace: string | null, writer: FsWriter): Promise<FsSpace> {
    const space = layout.space(namespace)
    const made = ensureFolder(space.folder)
    await made
    if (!described.has(space.name)) {
      const path = writer.path('space')
      await writeDurably(path, JSON.stringify({ namespace }))
      await linkFile(path, space.description)
      await removeFile(path)
      await syncFolder(space.folder)
      described.add(space.name)
    }
    return space
  }
  const described = new Set<string>()

  async function publish(staged: Staged, writer: FsWriter): Promise<void> {
    const { record, files } = staged
    const space = await openSpace(record.namespace, writer)
    const intent = writer.path('record')
    const target = space.record(record.assetId)
    const folders = [...new Set(bodiesOf(record).map((body) => space.bodyFolder(body.digest)))]
    await Promise.all([
      writeDurably(intent, JSON.stringify(record)),
      ensureFolder(join(target, '..')),
      ...folders.map((folder) => ensureFolder(folder)),
      ...[...files.values()].map((file) => syncFile(file)),
    ])
    let published = false
    try {
      for (const [digest, body] of files) {
        await holdBody(space, digest, { record: intent, body, holder: record.holder })
        if (baseUrl && digest === record.digest)
          await linkFile(body, space.publicName(digest, record.mime))
      }
      await Promise.all(folders.map((folder) => syncFolder(folder)))
      published = await linkFile(intent, target)
      if (!published) throw assetExists(record.assetId)
      await syncFolder(join(target, '..'))
    } finally {
      if (!published) await releaseBodies(space, record)
      await removeFile(intent)
    }
  }

  async function stage(
    body: AssetBody,
    mime: string,
    options: StoreSaveOptions,
    writer: FsWriter,
    files: Map<string, string>,
  ): Promise<FsRecord> {
    const main = writer.path('body')
    files.set('', main)
    const written = await writeBody(main, body, options.signal)
    files.delete('')
    files.set(written.digest, main)
    for (const part of options.parts ?? []) {
      if (files.has(part.digest)) continue
      const path = writer.path('body')
      files.set(part.digest, path)
      await writeBody(path, part.bytes, options.signal)
    }
    return { ...newRecord(written, mime, options), holder: nonce() }
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions = {}) {
    if (options.objects?.length) throw objectsUnsupported('fs')
    const files = new Map<string, string>()
    try {
      const writer = await ready()
      const record = await stage(body, mime, options, writer, files)
      options.signal?.throwIfAborted()
      await publish({ record, files }, writer)
      return { assetId: record.assetId, info: withoutHolder(record) }
    } catch (error) {
      if (!(body instanceof Uint8Array) && !body.locked) await body.cancel(error).catch(() => {})
      throw storageError(error, 'Saving an asset')
    } finally {
      await Promise.all([...files.values()].map((file) => removeFile(file)))
    }
  }

  async function* read(record: FsRecord, digest: string, start: number, end: number) {
    const file = await openBody(record, digest)
    try {
      for (let at = start; at < end; ) {
        const buffer = new Uint8Array(Math.min(READ_SIZE, end - at))
        const { bytesRead } = await file.read(buffer, 0, buffer.byteLength, at)
        if (bytesRead === 0) throw bodyDamaged(record)
        at += bytesRead
        yield bytesRead === buffer.byteLength ? buffer : buffer.slice(0, bytesRead)
      }
    } finally {
      await file.close()
    }
  }

  async function openBody(record: FsRecord, digest: string) {
    const space = layout.space(record.namespace)
    for (let attempt = 0; ; attempt++) {
      try {
        return await open(space.body(digest), 'r')
      } catch (error) {
        if (osCode(error) !== 'ENOENT') throw storageError(error, 'Reading an asset')
      }
      if (!(await restoreBody(space, digest))) {
        if (!(await find(record.assetId, record))) throw assetNotFound(record.assetId)
        if (attempt >= 3) throw bodyDamaged(record)
      }
    }
  }

  async function bytesOf(record: FsRecord): Promise<Uint8Array> {
    const file = await openBody(record, record.digest)
    try {
      const bytes = await file.readFile()
      if (bytes.byteLength !== record.size) throw bodyDamaged(record)
      return bytes
    } finally {
      await file.close()
    }
  }

  async function remove(path: string): Promise<{ bodies: number; bytes: number } | null> {
    const writer = await ready()
    const intent = writer.path('record')
    if (!(await moveFile(path, intent))) return null
    places.delete(path)
    await syncFolder(join(path, '..'))
    const record = await readRecord(intent)
    const freed = record
      ? await releaseBodies(layout.space(record.namespace), record)
      : { bodies: 0, bytes: 0 }
    await removeFile(intent)
    return freed
  }

  async function placesOf(namespace: string | null) {
    await ready()
    const found: { createdAt: string; assetId: string; path: string }[] = []
    const records = layout.space(namespace).records
    for (const path of await recordFiles(records)) {
      let place = places.get(path)
      if (!place) {
        const record = await readRecord(path)
        if (!record || isExpired(record)) continue
        place = { createdAt: record.createdAt, assetId: record.assetId }
        if (record.expiresAt === null) places.set(path, place)
      }
      found.push({ ...place, path })
    }
    return found
  }

  return {
    full: true,
    backend: 'fs',
    readsOnce: false,
    keepsObjects: false,
    async ready() {
      await ready()
    },
    save,

    async get(assetId, where) {
      const record = await known(assetId, where)
      return { bytes: await bytesOf(record), mime: record.mime }
    },

    async urlFor(assetId, where = {}) {
      const record = await known(assetId, where)
      if (where.inline || !baseUrl) return dataUrlOf(await bytesOf(record), record.mime)
      const space = layout.space(record.namespace)
      const name = space.publicName(record.digest, record.mime)
      await linkFile(space.body(record.digest), name)
      return `${baseUrl}/${space.name}/bodies/${record.digest.slice(0, 2)}/${basename(name)}`
    },

    async info(assetId, where) {
      const record = await find(assetId, where)
      return record && withoutHolder(record)
    },

    async open(assetId, where = {}) {
      const record = await find(assetId, where)
      const digest = where.part ?? record?.digest
      const body = record && bodiesOf(record).find((one) => one.digest === digest)
      if (!body) return null
      const { start, end } = byteRange(body.size, where.start, where.end)
      const stream = streamFrom(() => read(record, body.digest, start, end))
      return { record: withoutHolder(record), start, end, stream }
    },

    async object() {
      return null
    },

    async list(where = {}) {
      const { page, next } = pageOf(await placesOf(where.namespace ?? null), where)
      const records = await Promise.all(page.map((place) => readRecord(place.path)))
      return { records: records.filter((record) => record !== null).map(withoutHolder), next }
    },

    async delete(assetId, where = {}) {
      if (!(await find(assetId, where))) return false
      const freed = await remove(layout.space(where.namespace ?? null).record(assetId))
      return freed !== null
    },

    async usage(where = {}) {
      const bodies = new Map<string, number>()
      let assets = 0
      for (const path of await recordFiles(layout.space(where.namespace ?? null).records)) {
        const record = await readRecord(path)
        if (!record) continue
        assets++
        for (const body of bodiesOf(record)) bodies.set(body.digest, body.size)
      }
      return { assets, bytes: [...bodies.values()].reduce((sum, size) => sum + size, 0) }
    },

    async namespaces() {
      await ready()
      const found: (string | null)[] = []
      for (const name of await readdir(root)) {
        const text = await readFile(join(root, name, 'space.json'), 'utf8').catch(() => null)
        if (text !== null) found.push(JSON.parse(text).namespace)
      }
      return found
    },

    async sweep(when = {}) {
      await ready()
      const now = when.now ?? Date.now()
      const leftovers = await recover({ graceMs: when.graceMs ?? DAY, now })
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers }
      for (const namespace of await this.namespaces()) {
        for (const path of await recordFiles(layout.space(namespace).records)) {
          when.signal?.throwIfAborted()
          const record = await readRecord(path)
          if (!record || !isExpired(record, now)) continue
          const freed = await remove(path)
          if (!freed) continue
          swept.assets++
          swept.bodies += freed.bodies
          swept.bytes += freed.bytes
        }
      }
      return swept
    },

    async *verify(where = {}) {
      await ready()
      const namespace = where.namespace ?? null
      for (const path of await recordFiles(layout.space(namespace).records)) {
        where.signal?.throwIfAborted()
        const text = await readFile(path, 'utf8').catch(() => null)
        if (text === null) continue
        const record = parseRecord(text)
        if (record) yield* verifyBodies(record, openBody)
        else yield { namespace, assetId: null, digest: null, size: 0, problem: 'record_damaged' }
      }
    },
  }
}

interface Staged {
  record: FsRecord
  /** Temporary files by the digest of the body that they hold. */
  files: Map<string, string>
}

async function checkMarker(path: string, writer: FsWriter): Promise<void> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (osCode(error) === 'ENOENT') return null
    throw error
  })
  if (text === null) {
    const temporary = writer.path('marker')
    await writeDurably(temporary, `${JSON.stringify({ format: 'byref-assets', version: 1 })}\n`)
    await linkFile(temporary, path)
    await removeFile(temporary)
    return
  }
  if (JSON.parse(text).version !== 1) {
    throw new ByrefError(
      'config_invalid',
      `${path} is of a version that this byref does not know. Update byref, or choose another folder.`,
    )
  }
}

async function recordFiles(records: string): Promise<string[]> {
  const paths: string[] = []
  for (const shard of await readFolder(records)) {
    const folder = join(records, shard)
    for (const name of await readFolder(folder)) paths.push(join(folder, name))
  }
  return paths
}

async function readFolder(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (osCode(error) === 'ENOENT') return []
    throw storageError(error, 'Reading the asset folder')
  })
}

async function readRecord(path: string): Promise<FsRecord | null> {
  try {
    return parseRecord(await readFile(path, 'utf8'))
  } catch (error) {
    if (osCode(error) === 'ENOENT') return null
    throw storageError(error, 'Reading an asset')
  }
}

function parseRecord(text: string): FsRecord | null {
  try {
    const record = JSON.parse(text)
    return record?.version === 1 && typeof record.holder === 'string' ? record : null
  } catch {
    return null
  }
}

function withoutHolder({ holder: _, ...record }: FsRecord): AssetRecord {
  return record
}

function bodyDamaged(record: AssetRecord): ByrefError {
  return new ByrefError(
    'storage_failed',
    `The body of asset ${JSON.stringify(record.assetId)} is missing or damaged on disk; run "byref assets verify".`,
  )
}

async function* verifyBodies(
  record: FsRecord,
  openBody: (record: FsRecord, digest: string) => ReturnType<typeof open>,
): AsyncGenerator<StoreVerified> {
  for (const { digest, size } of bodiesOf(record)) {
    const found = { namespace: record.namespace, assetId: record.assetId, digest, size }
    const actual = await digestOf(() => openBody(record, digest))
    if (actual === 'gone') continue
    const problem =
      actual === 'missing' ? 'body_missing' : actual === digest ? null : 'body_damaged'
    yield { ...found, problem }
  }
}

async function digestOf(openBody: () => ReturnType<typeof open>): Promise<string> {
  let file: Awaited<ReturnType<typeof open>>
  try {
    file = await openBody()
  } catch (error) {
    if (error instanceof ByrefError) return error.code === 'asset_not_found' ? 'gone' : 'missing'
    throw error
  }
  const digester = createDigester()
  for await (const chunk of file.createReadStream({ highWaterMark: READ_SIZE })) {
    digester.update(chunk)
  }
  return digester.finish().digest
}
