import { ByrefError } from '../../core/errors.ts'
import { newId } from '../../core/new-id.ts'
import { checkAbout, checkDigest, newRecord } from '../asset-record.ts'
import type { AssetBody, AssetRecord, StoreSaveOptions } from '../asset-store.ts'
import { chunksOf, copyBytes, peek, streamFrom } from '../bodies/body.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { createDigester, sha256 } from '../bodies/digest.ts'
import { extensionOf } from '../bodies/mime-type.ts'
import { inParallel } from '../in-parallel.ts'
import type { PlacedBody, RecordIndex } from '../records/record-index.ts'
import { graceOf } from './sweep-store.ts'

/** Streams up to this size are hashed before they are written, so that a body that is there already is not. */
const SMALL = 64 * 1024
const PARTS_AT_ONCE = 16
const ATTEMPTS = 10

/** After these it is certain that no record was added. */
const CERTAIN = new Set<unknown>(['asset_exists', 'quota_exceeded', 'storage_full'])

/** A body of an asset that is being saved; without bytes it came as a stream and is written already. */
interface StagedBody {
  digest: string
  size: number
  mime: string
  bytes: Uint8Array | null
  /** Where this save put it; null where it counts on one that is there. */
  key: string | null
}

interface SaveParts {
  records: RecordIndex
  bodies: BodyStore
  recordFiles?: boolean
}

/** How a record lies among the bodies, and what its key ends with. */
const RECORD_TYPE = 'application/vnd.byref.record+json'
export const RECORD_EXTENSION = 'record'

/**
 * The `save` of a store; `ready` is awaited when it is certain that something would be saved. With `recordFiles` the record
 * itself is one more body of the asset.
 */
export function createSave({ records, bodies, recordFiles = false }: SaveParts) {
  async function place(saving: Saving, wanted: StagedBody[]): Promise<void> {
    await inParallel(wanted, { limit: PARTS_AT_ONCE }, async (body) => {
      if (body.bytes === null) throw interrupted()
      const key = await saving.newKey(body.mime)
      await bodies.put(key, body.bytes, { mime: body.mime, signal: saving.options.signal })
      saving.written()
      body.key = key
    })
  }

  async function stage(saving: Saving, source: AssetBody, mime: string): Promise<StagedBody> {
    const { signal, owned } = saving.options
    const { head, complete, body } = await peek(source, SMALL, signal)
    if (source instanceof Uint8Array || complete) {
      const isOurs = owned || !(source instanceof Uint8Array)
      const whole = source instanceof Uint8Array ? source : head
      return inMemory(isOurs ? whole : copyBytes(whole), mime)
    }
    const key = await saving.newKey(mime)
    const digester = createDigester()
    const hashed = streamFrom(async function* () {
      for await (const chunk of chunksOf(body)) {
        digester.update(chunk)
        yield chunk as Uint8Array<ArrayBuffer>
      }
    })
    await bodies.put(key, hashed, { mime, signal })
    saving.written()
    return { ...digester.finish(), mime, bytes: null, key }
  }

  /** Writes a body that is there already anew, where what is stored is not what was saved. */
  async function mend(placed: PlacedBody, saved: readonly StagedBody[]): Promise<void> {
    const { bytes, mime = '' } = saved.find(({ digest }) => digest === placed.digest) ?? {}
    if (!bytes || (await isStored(bodies, placed.key, bytes))) return
    await bodies.delete(placed.key)
    try {
      await bodies.put(placed.key, copyBytes(bytes), { mime })
    } catch (error) {
      // Somebody else may have mended it meanwhile.
      if (!(await isStored(bodies, placed.key, bytes))) throw error
    }
  }

  /** Writes what is not there yet, and adds the record. */
  async function commit(saving: Saving, all: StagedBody[]): Promise<AssetRecord> {
    const { options } = saving
    const namespace = options.namespace ?? null
    const [own] = all
    const record = newRecord(own as StagedBody, own?.mime ?? '', options)
    if (recordFiles) all.push(fileOf(record))
    const inMemory = all.filter(({ key }) => key === null)
    const known = await records.bodies(
      namespace,
      inMemory.map(({ digest }) => digest),
    )
    const isThere = new Set(known.map(({ digest }) => digest))
    await inParallel(known, { limit: PARTS_AT_ONCE }, (placed) => mend(placed, inMemory))
    let wanted = inMemory.filter(({ digest }) => !isThere.has(digest))
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await place(saving, wanted)
      options.signal?.throwIfAborted()
      saving.checkAge()
      const entry = { record, bodies: all, objects: options.objects }
      const { missing, unused } = await records.add(entry, options.quota)
      if (missing.length === 0) {
        if (unused.length > 0) await saving.discard(unused)
        return record
      }
      // Whoever had them let them go meanwhile.
      wanted = all.filter(({ digest }) => missing.includes(digest))
    }
    throw interrupted()
  }

  /** After a failed add, the record may still be there: its bodies must stay. */
  async function unheld({ keys }: Saving): Promise<string[]> {
    const held = await records.held(keys).catch(() => new Set(keys))
    return keys.filter((key) => !held.has(key))
  }

  return async function save(
    source: AssetBody,
    mime: string,
    { ready, ...options }: StoreSaveOptions & { ready(): Promise<unknown> },
  ): Promise<{ assetId: string; info: AssetRecord }> {
    checkAbout(mime, options)
    const parts = distinctParts(options)
    await ready()
    const saving = newSaving(bodies, options)
    let isCertain = true
    try {
      const own = await stage(saving, source, mime)
      const others = parts.filter(({ digest }) => digest !== own.digest)
      options.signal?.throwIfAborted()
      isCertain = false
      const info = await commit(saving, [own, ...others])
      return { assetId: info.assetId, info }
    } catch (error) {
      if (isCertain) await saving.discard()
      else if (isRefusal(error, options.signal)) await saving.discard(await unheld(saving))
      throw error
    }
  }
}

/** The keys of one save. */
interface Saving {
  options: StoreSaveOptions
  /** All that it made. */
  keys: readonly string[]
  newKey(mime: string): Promise<string>
  /** A body is there, and waits for its record. */
  written(): void
  /** @throws ByrefError `storage_failed` where a sweep may take what was written for left */
  checkAge(): void
  /** Removes bodies that no record needs; what cannot be removed, a sweep finds. */
  discard(keys?: readonly string[]): Promise<void>
}

function newSaving(bodies: BodyStore, options: StoreSaveOptions): Saving {
  const space = spaceName(options.namespace ?? null)
  const keys: string[] = []
  let since = Infinity
  return {
    options,
    keys,
    async newKey(mime) {
      const id = newId()
      // Ids begin with their time: what is saved together lies together, nine hours to a folder.
      const extension = mime === RECORD_TYPE ? RECORD_EXTENSION : await extensionOf(mime)
      const key = `${space}/${id.slice(0, 4)}/${id}.${extension}`
      keys.push(key)
      return key
    },
    written() {
      since = Math.min(since, Date.now())
    },
    checkAge() {
      if (Date.now() - since > graceOf() / 2) throw interrupted()
    },
    async discard(unused = keys) {
      await Promise.allSettled(unused.map((key) => bodies.delete(key)))
    },
  }
}

/** Needed as long as its record is; what belongs to the store itself counts for nobody's quota. */
function fileOf(record: AssetRecord): StagedBody {
  return { ...inMemory(Buffer.from(JSON.stringify(record)), RECORD_TYPE), size: 0 }
}

function inMemory(bytes: Uint8Array, mime: string): StagedBody {
  return { digest: sha256(bytes), size: bytes.byteLength, mime, bytes, key: null }
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

/** Whether the store has exactly these bytes. One that fails to tell is believed: what it has may be sound. */
async function isStored(bodies: BodyStore, key: string, bytes: Uint8Array): Promise<boolean> {
  const size = bytes.byteLength
  if (size === 0) return true
  let at = 0
  try {
    const stream = await bodies.open(key, { start: 0, end: size, size })
    if (!stream) return false
    for await (const chunk of chunksOf(stream)) {
      const part = Buffer.from(
        bytes.buffer,
        bytes.byteOffset + at,
        Math.min(chunk.byteLength, size - at),
      )
      if (part.compare(chunk) !== 0) return false
      at += chunk.byteLength
    }
  } catch {
    return true
  }
  return at === size
}

function isRefusal(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted && error === signal.reason) return true
  return error instanceof ByrefError && CERTAIN.has(error.code)
}

function interrupted(): ByrefError {
  return new ByrefError(
    'storage_failed',
    'The save was held up for so long that its bodies may be gone; save the asset again.',
  )
}

/** The folder of a namespace: readable, and its own by a hash; `_` for none. */
export function spaceName(namespace: string | null): string {
  if (namespace === null) return '_'
  const readable = namespace
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${readable.slice(0, 24)}-${sha256(namespace).slice(0, 24)}`
}
