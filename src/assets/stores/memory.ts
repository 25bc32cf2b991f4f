import { assetExists, assetNotFound, bodiesOf, isExpired, newRecord } from '../asset-record.ts'
import type {
  AssetRecord,
  FullAssetStore,
  StoreOptions,
  StoreSaveOptions,
  StoreVerified,
} from '../asset-store.ts'
import { copyBytes, readBytes, streamOf } from '../bodies/body.ts'
import { byteRange } from '../bodies/byte-range.ts'
import { dataUrlOf } from '../bodies/data-url.ts'
import { sha256 } from '../bodies/digest.ts'
import { pageOf } from './record-page.ts'

interface Space {
  namespace: string | null
  records: Map<string, { record: AssetRecord; objects: readonly unknown[] }>
  bodies: Map<string, { bytes: Uint8Array; users: number }>
}

/** Keeps assets in this process, live objects too. Everything is gone when the process ends. */
export function createMemoryAssetStore(): FullAssetStore {
  const spaces = new Map<string | null, Space>()

  function space(options: StoreOptions = {}): Space {
    const namespace = options.namespace ?? null
    let found = spaces.get(namespace)
    if (!found) {
      found = { namespace, records: new Map(), bodies: new Map() }
      spaces.set(namespace, found)
    }
    return found
  }

  function find(assetId: string, options: StoreOptions = {}): AssetRecord | null {
    const record = spaces.get(options.namespace ?? null)?.records.get(assetId)?.record
    return record && !isExpired(record) ? record : null
  }

  function known(assetId: string, options?: StoreOptions): AssetRecord {
    const record = find(assetId, options)
    if (!record) throw assetNotFound(assetId)
    return record
  }

  function bytesOf(record: AssetRecord, digest = record.digest): Uint8Array {
    const body = space(record).bodies.get(digest)
    if (!body) throw new Error(`The memory store lost the body ${digest}.`)
    return body.bytes
  }

  return {
    full: true,
    backend: 'memory',
    readsOnce: false,
    keepsObjects: true,
    async ready() {},

    async save(body, mime, options = {}) {
      const bytes = await ownBytes(body, options)
      options.signal?.throwIfAborted()
      const { records, bodies } = space(options)
      const record = newRecord({ digest: sha256(bytes), size: bytes.byteLength }, mime, options)
      if (records.has(record.assetId)) throw assetExists(record.assetId)
      const contents = new Map([[record.digest, () => bytes]])
      for (const part of options.parts ?? []) contents.set(part.digest, () => copyBytes(part.bytes))
      for (const { digest } of bodiesOf(record)) {
        const held = bodies.get(digest)
        if (held) held.users++
        else bodies.set(digest, { bytes: contents.get(digest)?.() ?? bytes, users: 1 })
      }
      records.set(record.assetId, {
        record: structuredClone(record),
        objects: options.objects ?? [],
      })
      return { assetId: record.assetId, info: record }
    },

    async get(assetId, options) {
      const record = known(assetId, options)
      return { bytes: copyBytes(bytesOf(record)), mime: record.mime }
    },

    async urlFor(assetId, options) {
      const record = known(assetId, options)
      return dataUrlOf(bytesOf(record), record.mime)
    },

    async info(assetId, options) {
      return structuredClone(find(assetId, options))
    },

    async open(assetId, options = {}) {
      const record = find(assetId, options)
      if (!record) return null
      const wanted = options.part ?? record.digest
      if (!bodiesOf(record).some((body) => body.digest === wanted)) return null
      const bytes = bytesOf(record, wanted)
      const range = byteRange(bytes.byteLength, options.start, options.end)
      return {
        record: structuredClone(record),
        ...range,
        stream: streamOf(bytes.subarray(range.start, range.end)),
      }
    },

    async object(assetId, index, options = {}) {
      if (!find(assetId, options)) return null
      const objects = space(options).records.get(assetId)?.objects ?? []
      return index in objects ? { value: objects[index] } : null
    },

    async list(options = {}) {
      const live = [...(spaces.get(options.namespace ?? null)?.records.values() ?? [])]
        .map((entry) => entry.record)
        .filter((record) => !isExpired(record))
      const { page, next } = pageOf(live, options)
      return { records: structuredClone(page), next }
    },

    async delete(assetId, options = {}) {
      if (!find(assetId, options)) return false
      remove(space(options), assetId)
      return true
    },

    async usage(options = {}) {
      const { records, bodies } = space(options)
      let bytes = 0
      for (const body of bodies.values()) bytes += body.bytes.byteLength
      return { assets: records.size, bytes }
    },

    async namespaces() {
      return [...spaces.values()].filter((one) => one.records.size > 0).map((one) => one.namespace)
    },

    async sweep(options = {}) {
      const swept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
      for (const one of spaces.values()) {
        for (const { record } of [...one.records.values()]) {
          if (!isExpired(record, options.now)) continue
          const freed = remove(one, record.assetId)
          swept.assets++
          swept.bodies += freed.bodies
          swept.bytes += freed.bytes
        }
      }
      return swept
    },

    async *verify(options = {}) {
      const { namespace, records, bodies } = space(options)
      for (const { record } of [...records.values()]) {
        yield* verifyRecord(record, (digest) => bodies.get(digest)?.bytes, namespace)
      }
    },
  }
}

function remove(space: Space, assetId: string): { bodies: number; bytes: number } {
  const freed = { bodies: 0, bytes: 0 }
  const entry = space.records.get(assetId)
  if (!entry) return freed
  space.records.delete(assetId)
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
  namespace: string | null,
): Generator<StoreVerified> {
  for (const { digest, size } of bodiesOf(record)) {
    const bytes = bytesOf(digest)
    const problem = !bytes ? 'body_missing' : sha256(bytes) === digest ? null : 'body_damaged'
    yield { namespace, assetId: record.assetId, digest, size, problem }
  }
}

async function ownBytes(
  body: Uint8Array | ReadableStream<Uint8Array>,
  options: StoreSaveOptions,
): Promise<Uint8Array> {
  const bytes = await readBytes(body)
  const ours = options.owned || !(body instanceof Uint8Array)
  return ours && bytes.byteLength === bytes.buffer.byteLength ? bytes : copyBytes(bytes)
}
