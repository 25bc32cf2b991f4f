import {
  assetExists,
  assetNotFound,
  bodiesOf,
  checkSave,
  isExpired,
  newRecord,
} from '../asset-record.ts'
import type {
  AssetBody,
  AssetRecord,
  FullAssetStore,
  StoreOptions,
  StorePart,
  StoreSaveOptions,
  StoreVerified,
} from '../asset-store.ts'
import { consume } from '../bodies/abortable.ts'
import { copyBytes, readBytes, streamOf } from '../bodies/body.ts'
import { sha256 } from '../bodies/digest.ts'
import { recordPage } from './record-page.ts'
import { recordReader } from './record-reader.ts'
import { usageOf } from './usage-of.ts'

interface Entry {
  record: AssetRecord
  objects: readonly unknown[]
}

interface Space {
  namespace: string | null
  entries: Map<string, Entry>
  bodies: Map<string, { bytes: Uint8Array; users: number }>
}

/** Keeps assets in this process, live objects too. Everything is gone when the process ends. */
export function createMemoryAssetStore(): FullAssetStore {
  const spaces = new Map<string | null, Space>()

  function spaceOf(where: StoreOptions = {}): Space {
    const namespace = where.namespace ?? null
    const known = spaces.get(namespace)
    if (known) return known
    const space: Space = { namespace, entries: new Map(), bodies: new Map() }
    spaces.set(namespace, space)
    return space
  }

  function entryOf(assetId: string, where?: StoreOptions): Entry | null {
    const entry = spaces.get(where?.namespace ?? null)?.entries.get(assetId)
    return entry && !isExpired(entry.record) ? entry : null
  }

  function liveIn(where: StoreOptions = {}): AssetRecord[] {
    const entries = spaces.get(where.namespace ?? null)?.entries.values() ?? []
    return [...entries].map((entry) => entry.record).filter((record) => !isExpired(record))
  }

  function bytesOf(record: AssetRecord, digest: string): Uint8Array {
    const body = spaceOf(record).bodies.get(digest)
    // A reader may still hold the record of an asset that was removed.
    if (!body) throw assetNotFound(record.assetId)
    return body.bytes
  }

  function keep(
    record: AssetRecord,
    contents: StorePart[],
    objects: readonly unknown[] = [],
  ): void {
    const { entries, bodies } = spaceOf(record)
    if (entries.has(record.assetId)) throw assetExists(record.assetId)
    for (const { digest, bytes } of new Map(contents.map((one) => [one.digest, one])).values()) {
      const held = bodies.get(digest)
      if (held) held.users++
      else bodies.set(digest, { bytes, users: 1 })
    }
    entries.set(record.assetId, { record: structuredClone(record), objects })
  }

  return {
    full: true,
    backend: 'memory',
    readsOnce: false,
    keepsObjects: true,
    async ready() {},

    save: (body, mime, options = {}) =>
      consume(body, options.signal, async (source) => {
        const parts = copyParts(options)
        checkSave(mime, { ...options, parts })
        const bytes = await ownBytes(source, options)
        options.signal?.throwIfAborted()
        const about = { digest: sha256(bytes), size: bytes.byteLength }
        const record = newRecord(about, mime, options)
        keep(record, [{ digest: record.digest, bytes }, ...parts], options.objects)
        return { assetId: record.assetId, info: record }
      }),

    ...recordReader({
      find: (assetId, where) => entryOf(assetId, where)?.record ?? null,
      show: (record) => structuredClone(record),
      bytes: (record) => copyBytes(bytesOf(record, record.digest)),
      stream: (record, { digest, start, end }) =>
        streamOf(bytesOf(record, digest).subarray(start, end)),
    }),

    async object(assetId, index, where) {
      const objects = entryOf(assetId, where)?.objects ?? []
      return index in objects ? { value: objects[index] } : null
    },

    async list(options) {
      return recordPage(liveIn(options), options)
    },

    async usage(where) {
      return usageOf((use) => liveIn(where).forEach(use))
    },

    async delete(assetId, where) {
      if (!entryOf(assetId, where)) return false
      remove(spaceOf(where), assetId)
      return true
    },

    async namespaces() {
      return [...spaces.keys()].filter((namespace) => liveIn({ namespace }).length > 0)
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const space of spaces.values()) {
        for (const { record } of [...space.entries.values()]) {
          if (!isExpired(record, options.now)) continue
          const freed = remove(space, record.assetId)
          swept.assets++
          swept.bodies += freed.bodies
          swept.bytes += freed.bytes
        }
      }
      return swept
    },

    async *verify(where) {
      const { entries, bodies } = spaceOf(where)
      for (const { record } of [...entries.values()]) {
        yield* verifyRecord(record, (digest) => bodies.get(digest)?.bytes)
      }
    },
  }
}

function remove(space: Space, assetId: string): { bodies: number; bytes: number } {
  const freed = { bodies: 0, bytes: 0 }
  const entry = space.entries.get(assetId)
  if (!entry) return freed
  space.entries.delete(assetId)
  for (const { digest, size } of bodiesOf(entry.record)) {
    const body = space.bodies.get(digest)
    if (!body || --body.users > 0) continue
    space.bodies.delete(digest)
    freed.bodies++
    freed.bytes += size
  }
  return freed
}

function* verifyRecord(
  record: AssetRecord,
  bytesOf: (digest: string) => Uint8Array | undefined,
): Generator<StoreVerified> {
  const { namespace, assetId } = record
  for (const { digest, size } of bodiesOf(record)) {
    const bytes = bytesOf(digest)
    const problem = !bytes ? 'body_missing' : sha256(bytes) === digest ? null : 'body_damaged'
    yield { namespace, assetId, digest, size, problem }
  }
}

function copyParts({ parts = [] }: StoreSaveOptions): StorePart[] {
  return parts.map(({ digest, bytes }) => ({ digest, bytes: copyBytes(bytes) }))
}

async function ownBytes(body: AssetBody, options: StoreSaveOptions): Promise<Uint8Array> {
  const bytes = await readBytes(body)
  const ours = options.owned || !(body instanceof Uint8Array)
  return ours && bytes.byteLength === bytes.buffer.byteLength ? bytes : copyBytes(bytes)
}
