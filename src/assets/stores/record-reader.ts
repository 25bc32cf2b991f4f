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
export interface RecordSource<R extends AssetRecord> {
  /** Finds the record of an asset that exists and has not expired. */
  find(assetId: string, where?: StoreOptions): R | null | Promise<R | null>
  /** Returns a copy of the record for callers. */
  show(record: R): AssetRecord
  /** Returns the whole body, which the caller keeps. */
  bytes(record: R): Uint8Array | Promise<Uint8Array>
  /** Streams a part of one of the record's bodies. It should touch the medium only when it is read. */
  stream(
    record: R,
    body: ByteRange & { digest: string },
    where: StoreOpenOptions,
  ): ReadableStream<Uint8Array>
  /** Returns the URL of the body. Default: always a data URL. */
  urlOf?(record: R, where: StoreUrlOptions): Promise<string>
}

/** The reading methods of a store. */
export type RecordReader = Pick<FullAssetStore, 'get' | 'urlFor' | 'info' | 'open' | 'object'>

/** Creates the reading half of a store. It keeps no live objects. */
export function recordReader<R extends AssetRecord>(source: RecordSource<R>): RecordReader {
  async function known(assetId: string, where?: StoreOptions): Promise<R> {
    const record = await source.find(assetId, where)
    if (!record) throw assetNotFound(assetId)
    return record
  }

  return {
    async get(assetId, where) {
      const record = await known(assetId, where)
      return { bytes: await source.bytes(record), mime: record.mime }
    },

    async urlFor(assetId, where = {}) {
      const record = await known(assetId, where)
      if (source.urlOf && !where.inline) return source.urlOf(record, where)
      return dataUrlOf(await source.bytes(record), record.mime)
    },

    async info(assetId, where) {
      const record = await source.find(assetId, where)
      return record && source.show(record)
    },

    async open(assetId, where = {}) {
      const record = await source.find(assetId, where)
      const digest = where.part ?? record?.digest
      const body = record && bodiesOf(record).find((one) => one.digest === digest)
      if (!body) return null
      const range = byteRange(body.size, where.start, where.end)
      const stream = source.stream(record, { digest: body.digest, ...range }, where)
      return { record: source.show(record), ...range, stream: abortable(stream, where.signal) }
    },

    async object() {
      return null
    },
  }
}
