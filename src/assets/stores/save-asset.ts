import { ByrefError } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import { newId } from '../../core/new-id.ts'
import { checkAbout, checkDigest, newRecord } from '../asset-record.ts'
import type { AssetBody, AssetRecord, StoreSaveOptions } from '../asset-store.ts'
import { chunksOf, copyBytes, peek } from '../bodies/body.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { bufferOf } from '../bodies/buffer-of.ts'
import { type BodyDigest, Digester, digestOf, sha256 } from '../bodies/digest.ts'
import { extensionOf } from '../bodies/mime-type.ts'
import { inParallel } from '../in-parallel.ts'
import type { PlacedBody } from '../records/record-index.ts'
import type { StoreParts } from './store-parts.ts'
import { graceOf } from './sweep-store.ts'

/** Streams up to this size are hashed first, and not written if the store has the body already. */
const SMALL = 64 * 1024
const PARTS_AT_ONCE = 16
const ATTEMPTS = 10

/** With these errors it is certain that no record was added. */
const CERTAIN = new Set<unknown>(['asset_exists', 'quota_exceeded', 'storage_full'])

/** A body of an asset that is being saved. A body that came as a stream is already written, and has no bytes here. */
interface StagedBody extends BodyDigest {
  mime: string
  bytes: Uint8Array | null
  /** The key of this save; null if the store already has the body. */
  key: string | null
}

/** The type of records among the bodies, and the extension of their keys. */
const RECORD_TYPE = 'application/vnd.byref.record+json'
export const RECORD_EXTENSION = 'record'

/**
 * Saves an asset: writes the bodies that are missing, and then adds the record. `ready` is awaited after the options
 * were checked. With `recordFiles`, the record itself is one more body of the asset.
 */
export async function saveAsset(
  store: StoreParts & { ready(): Promise<unknown> },
  source: AssetBody,
  mime: string,
  options: StoreSaveOptions,
): Promise<{ assetId: string; info: AssetRecord }> {
  checkAbout(mime, options)
  const parts = distinctParts(options)
  await store.ready()
  const saving = new Saving(store, options)
  let isCertain = true
  try {
    const main = await saving.stage(source, mime)
    const others = parts.filter(({ digest }) => digest !== main.digest)
    options.signal?.throwIfAborted()
    isCertain = false
    const info = await saving.commit(main, others)
    return { assetId: info.assetId, info }
  } catch (error) {
    if (isCertain) await saving.discard()
    // The caller has stopped waiting.
    else if (options.signal?.aborted && error === options.signal.reason)
      inBackground('Removing the bodies of an aborted save', saving.discardUnheld())
    else if (error instanceof ByrefError && CERTAIN.has(error.code)) await saving.discardUnheld()
    throw error
  }
}

/** One save, and the keys of the bodies that it wrote. */
class Saving {
  readonly #store: StoreParts
  readonly #options: StoreSaveOptions
  readonly #keys: string[] = []
  /** Time of the first written body that still waits for its record. */
  #since = Infinity

  constructor(store: StoreParts, options: StoreSaveOptions) {
    this.#store = store
    this.#options = options
  }

  /** Hashes a body. A long stream is written at the same time. */
  async stage(source: AssetBody, mime: string): Promise<StagedBody> {
    const { signal, owned } = this.#options
    const { head, complete, body } = await peek(source, SMALL, signal)
    if (source instanceof Uint8Array || complete) {
      const isOwned = owned || !(source instanceof Uint8Array)
      const whole = source instanceof Uint8Array ? source : head
      return inMemory(isOwned ? whole : copyBytes(whole), mime)
    }
    const digester = new Digester()
    async function* hashed() {
      for await (const chunk of chunksOf(body)) {
        digester.update(chunk)
        yield chunk
      }
    }
    const key = await this.#put(ReadableStream.from(hashed()), mime)
    return { ...digester.finish(), mime, bytes: null, key }
  }

  /** Writes missing bodies, and adds the record. */
  async commit(main: StagedBody, others: StagedBody[]): Promise<AssetRecord> {
    const { signal, quota, objects, namespace = null } = this.#options
    const { records, recordFiles } = this.#store
    const record = newRecord(main, main.mime, this.#options)
    const all = [main, ...others, ...(recordFiles ? [fileOf(record)] : [])]
    const unwritten = all.filter(({ key }) => key === null)
    const digests = unwritten.map(({ digest }) => digest)
    const known = await records.bodies(namespace, digests)
    const stored = new Set(known.map(({ digest }) => digest))
    await inParallel(known, { limit: PARTS_AT_ONCE }, (placed) => this.#mend(placed, unwritten))
    let unsaved = unwritten.filter(({ digest }) => !stored.has(digest))
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await inParallel(unsaved, { limit: PARTS_AT_ONCE }, async (body) => {
        if (body.bytes === null) throw interrupted()
        body.key = await this.#put(body.bytes, body.mime)
      })
      signal?.throwIfAborted()
      // By now a sweep may have removed what was written.
      if (Date.now() - this.#since > graceOf() / 2) throw interrupted()
      const { missing, unused } = await records.add({ record, bodies: all, objects }, quota)
      if (missing.length === 0) {
        if (unused.length > 0) await this.discard(unused)
        return record
      }
      // Their last asset was removed meanwhile.
      unsaved = all.filter(({ digest }) => missing.includes(digest))
    }
    throw interrupted()
  }

  /** Removes bodies that no record needs. A sweep finds what cannot be removed now. */
  async discard(keys: readonly string[] = this.#keys): Promise<void> {
    await Promise.allSettled(keys.map((key) => this.#store.bodies.delete(key)))
  }

  /** Removes bodies unless the record exists after all. A failed `add` does not tell. */
  async discardUnheld(): Promise<void> {
    const held = await this.#store.records.held(this.#keys).catch(() => new Set(this.#keys))
    await this.discard(this.#keys.filter((key) => !held.has(key)))
  }

  /** Writes a body under a new key. */
  async #put(body: AssetBody, mime: string): Promise<string> {
    const { namespace = null, signal } = this.#options
    const id = newId()
    // Ids begin with their time, so bodies that are saved together share a folder. A folder covers nine hours.
    const extension = mime === RECORD_TYPE ? RECORD_EXTENSION : await extensionOf(mime)
    const key = `${spaceName(namespace)}/${id.slice(0, 4)}/${id}.${extension}`
    this.#keys.push(key)
    await this.#store.bodies.put(key, body, { mime, signal })
    this.#since = Math.min(this.#since, Date.now())
    return key
  }

  /** Writes a body again if the store has other bytes than the saved ones. */
  async #mend(placed: PlacedBody, saved: readonly StagedBody[]): Promise<void> {
    const { bodies } = this.#store
    const { bytes, mime = '' } = saved.find(({ digest }) => digest === placed.digest) ?? {}
    if (!bytes || (await isStored(bodies, placed.key, bytes))) return
    await bodies.delete(placed.key)
    try {
      await bodies.put(placed.key, copyBytes(bytes), { mime })
    } catch (error) {
      // Another process may have repaired it meanwhile.
      if (!(await isStored(bodies, placed.key, bytes))) throw error
    }
  }
}

/** Returns the record as a body. Its size is 0, because it counts for no quota. */
function fileOf(record: AssetRecord): StagedBody {
  return { ...inMemory(Buffer.from(JSON.stringify(record)), RECORD_TYPE), size: 0 }
}

function inMemory(bytes: Uint8Array, mime: string): StagedBody {
  return { digest: digestOf(bytes), size: bytes.byteLength, mime, bytes, key: null }
}

/** @throws ByrefError `asset_invalid` for a part of another digest than its own */
function distinctParts({ parts = [] }: StoreSaveOptions): StagedBody[] {
  const bodies = parts.map(({ digest, bytes }) => {
    const body = inMemory(copyBytes(bytes), 'application/octet-stream')
    checkDigest(digest, body.digest)
    return body
  })
  return [...new Map(bodies.map((body) => [body.digest, body])).values()]
}

/** Returns whether the store has exactly these bytes. True if it cannot tell, because the stored body may be intact. */
async function isStored(bodies: BodyStore, key: string, bytes: Uint8Array): Promise<boolean> {
  const size = bytes.byteLength
  if (size === 0) return true
  let at = 0
  try {
    const stream = await bodies.open(key, { start: 0, end: size, size })
    if (!stream) return false
    for await (const chunk of chunksOf(stream)) {
      const part = bytes.subarray(at, at + chunk.byteLength)
      if (bufferOf(part).compare(chunk) !== 0) return false
      at += chunk.byteLength
    }
  } catch {
    return true
  }
  return at === size
}

function interrupted(): ByrefError {
  return new ByrefError(
    'storage_failed',
    'The save took so long that its bodies may be gone; save the asset again.',
  )
}

/** Returns the folder of a namespace: a readable name with a hash that makes it unique. `_` for none. */
export function spaceName(namespace: string | null): string {
  if (namespace === null) return '_'
  const readable = namespace
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${readable.slice(0, 24)}-${sha256(namespace).slice(0, 24)}`
}
