import { assetNotFound, bodiesOf } from '../asset-record.ts'
import type {
  AssetRecord,
  FullAssetStore,
  StoreOpenOptions,
  StoreOptions,
  StoreUrlOptions,
} from '../asset-store.ts'
import { abortable } from '../bodies/abortable.ts'
import { type ByteRange, byteRange } from '../bodies/body.ts'
import { dataUrlOf } from '../bodies/data-url.ts'

/** The reading operations of one store, from which {@link recordReader} makes the methods. */
export interface RecordSource<Entry extends { record: AssetRecord }> {
  /** Finds the entry of an asset that exists and has not expired. */
  find(assetId: string, where?: StoreOptions): Entry | null | Promise<Entry | null>
  /** Returns the whole body, which the caller keeps. */
  bytes(entry: Entry): Uint8Array | Promise<Uint8Array>
  /** Streams a part of one of the bodies. It should touch the medium only when it is read. */
  stream(
    entry: Entry,
    body: ByteRange & { digest: string },
    where: StoreOpenOptions,
  ): ReadableStream<Uint8Array>
  /** Returns the URL of the body. Default: always a data URL. */
  urlOf?(entry: Entry, where: StoreUrlOptions): Promise<string>
  /** Whether callers may keep and change the record of an entry. Default: false, so that they get a copy. */
  ownsRecords?: boolean
}

/** The reading methods of a store. */
export type RecordReader = Pick<FullAssetStore, 'get' | 'urlFor' | 'info' | 'open' | 'object'>

/** Creates the reading half of a store. It keeps no live objects. */
export function recordReader<Entry extends { record: AssetRecord }>(
  source: RecordSource<Entry>,
): RecordReader {
  async function known(assetId: string, where?: StoreOptions): Promise<Entry> {
    const entry = await source.find(assetId, where)
    if (!entry) throw assetNotFound(assetId)
    return entry
  }

  function shown({ record }: Entry): AssetRecord {
    return source.ownsRecords ? record : structuredClone(record)
  }

  return {
    async get(assetId, where) {
      const entry = await known(assetId, where)
      return { bytes: await source.bytes(entry), mime: entry.record.mime }
    },

    async urlFor(assetId, where = {}) {
      const entry = await known(assetId, where)
      if (source.urlOf && !where.inline) return source.urlOf(entry, where)
      return dataUrlOf(await source.bytes(entry), entry.record.mime)
    },

    async info(assetId, where) {
      const entry = await source.find(assetId, where)
      return entry && shown(entry)
    },

    async open(assetId, where = {}) {
      const entry = await source.find(assetId, where)
      const digest = where.part ?? entry?.record.digest
      const body = entry && bodiesOf(entry.record).find((one) => one.digest === digest)
      if (!body) return null
      const range = byteRange(body.size, where.start, where.end)
      const stream = source.stream(entry, { digest: body.digest, ...range }, where)
      return { record: shown(entry), ...range, stream: abortable(stream, where.signal) }
    },

    object: async () => null,
  }
}
