import { open, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ByrefError } from '../../../errors.ts'
import {
  assetNotFound,
  bodiesOf,
  isExpired,
  newRecord,
  objectsUnsupported,
} from '../../asset-record.ts'
import type {
  AssetBody,
  AssetRecord,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
  StoreVerified,
} from '../../asset-store.ts'
import { copyBytes, peek, streamFrom } from '../../bodies/body.ts'
import { byteRange } from '../../bodies/byte-range.ts'
import { dataUrlOf } from '../../bodies/data-url.ts'
import { createDigester, sha256 } from '../../bodies/digest.ts'
import { inParallel } from '../../in-parallel.ts'
import { nonce } from '../../nonce.ts'
import { pageOf } from '../record-page.ts'
import { releaseBodies, removeUnheld, restoreBody } from './bodies.ts'
import {
  isFile,
  linkFile,
  moveFile,
  osCode,
  removeFile,
  storageError,
  writeBody,
} from './durable.ts'
import { fsFolder } from './folder.ts'
import { createPublisher, type Staged } from './publish.ts'
import { type FsRecord, parseRecord, readRecord, recordFiles, withoutHolder } from './records.ts'

/** Options of {@link createFsAssetStore}. */
export interface FsAssetStoreOptions {
  /** The folder that holds everything; made if it is missing. */
  rootDir: string
  /** Where the folder is published, such as `https://cdn.example.com/assets`: `urlFor` then gives URLs below it. */
  baseUrl?: string
}

const DAY = 24 * 60 * 60 * 1000
const READ_SIZE = 256 * 1024
const READS_AT_ONCE = 64
/** Bodies up to this size wait in memory, so that many that come at once are written together. */
const SMALL = 64 * 1024

/**
 * Keeps assets as files. What `save` gives out is on the disk: body and record are synced before they get their names,
 * and their folders after. Any number of processes may share a folder. After a crash, the next store that opens the
 * folder removes what was not finished.
 */
export function createFsAssetStore(options: FsAssetStoreOptions): FullAssetStore {
  const root = resolve(options.rootDir)
  const baseUrl = options.baseUrl?.replace(/\/+$/, '') ?? null
  const folder = fsFolder(root)
  const { layout, ready, recover, syncFolder } = folder
  const publish = createPublisher(folder, { publicNames: baseUrl !== null })
  const places = new Map<string, { createdAt: string; assetId: string }>()

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

  /** Brings a body to the disk, or into memory if it is small, and tells what it is. */
  async function stage(
    body: AssetBody,
    bodies: Staged['bodies'],
    signal?: AbortSignal,
  ): Promise<{ digest: string; size: number }> {
    const { head, complete, body: whole } = await peek(body, SMALL, signal)
    if (complete) {
      // A copy: nobody may change it while it waits to be written.
      const bytes = body instanceof Uint8Array ? copyBytes(head) : head
      const about = { digest: sha256(bytes), size: bytes.byteLength }
      bodies.set(about.digest, bytes)
      return about
    }
    const path = (await ready()).path('body')
    bodies.set(path, path)
    const about = await writeBody(path, whole, signal)
    bodies.delete(path)
    if (bodies.has(about.digest)) await removeFile(path)
    else bodies.set(about.digest, path)
    return about
  }

  async function save(body: AssetBody, mime: string, options: StoreSaveOptions = {}) {
    if (options.objects?.length) throw objectsUnsupported('fs')
    const bodies: Staged['bodies'] = new Map()
    try {
      await ready()
      const about = await stage(body, bodies, options.signal)
      for (const part of options.parts ?? []) await stage(part.bytes, bodies)
      options.signal?.throwIfAborted()
      const record = { ...newRecord(about, mime, options), holder: nonce() }
      await publish({ record, bodies })
      return { assetId: record.assetId, info: withoutHolder(record) }
    } catch (error) {
      if (!(body instanceof Uint8Array) && !body.locked) await body.cancel(error).catch(() => {})
      throw storageError(error, 'Saving an asset')
    } finally {
      const files = [...bodies.values()].filter((one) => typeof one === 'string')
      await Promise.all(files.map((file) => removeFile(file)))
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
      if (await restoreBody(space, digest)) await removeUnheld(space, digest)
      else {
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
    await syncFolder(dirname(path))
    const record = await readRecord(intent)
    const freed = record
      ? await releaseBodies(layout.space(record.namespace), record)
      : { bodies: 0, bytes: 0 }
    await removeFile(intent)
    return freed
  }

  /** Where every record stands. What was read once is remembered: records never change. */
  async function placesOf(namespace: string | null) {
    await ready()
    const paths = await recordFiles(layout.space(namespace).records)
    const found: { createdAt: string; assetId: string; path: string }[] = []
    const unknown = paths.filter((path) => !places.has(path))
    await readAll(unknown, (record, path) => {
      const { createdAt, assetId, expiresAt } = record
      if (expiresAt === null) places.set(path, { createdAt, assetId })
      else if (!isExpired(record)) found.push({ createdAt, assetId, path })
    })
    for (const path of paths) {
      const place = places.get(path)
      if (place) found.push({ ...place, path })
    }
    return found
  }

  async function readAll(
    paths: string[],
    use: (record: FsRecord, path: string) => void,
  ): Promise<void> {
    await inParallel(paths, { limit: READS_AT_ONCE }, async (path) => {
      const record = await readRecord(path)
      if (record) use(record, path)
    })
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
      // Opening the body puts it back, should a process that was killed have left it aside.
      if (!(await isFile(name))) {
        await (await openBody(record, record.digest)).close()
        await linkFile(space.body(record.digest), name)
      }
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
      await ready()
      const bodies = new Map<string, number>()
      let assets = 0
      const { records } = layout.space(where.namespace ?? null)
      await readAll(await recordFiles(records), (record) => {
        assets++
        for (const body of bodiesOf(record)) bodies.set(body.digest, body.size)
      })
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
