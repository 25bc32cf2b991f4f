import { ByrefError } from '../../errors.ts'
import { assetNotFound } from '../asset-record.ts'
import type { AssetRecord, StoreOptions } from '../asset-store.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { ByteRange } from '../bodies/byte-range.ts'
import { createDigester } from '../bodies/digest.ts'
import type { RecordEntry } from '../records/record-index.ts'

/** A record with where its bodies lie. */
export type FoundRecord = AssetRecord & { at: RecordEntry }

/** A part of one of a record's bodies, read when the stream is. */
export type StreamBody = (
  record: FoundRecord,
  body: ByteRange & { digest: string },
) => ReadableStream<Uint8Array>

/**
 * Reads the bodies of records; `find` tells whether an asset is still there, and no other under its id. Who reads a whole
 * body gets the one that was saved, or an error at its end. The stream fails with `asset_not_found` when the asset went
 * meanwhile, with `storage_failed` when only the body is missing or damaged.
 */
export function createBodyReader(
  bodies: BodyStore,
  find: (assetId: string, where: StoreOptions) => Promise<FoundRecord | null>,
): StreamBody {
  /** The error, unless the reason for it is that the asset went. */
  async function unlessGone(error: unknown, record: FoundRecord, key: string): Promise<unknown> {
    const { assetId, namespace } = record
    const current = await find(assetId, { namespace })
    const isSame = current?.at.bodies.some((body) => body.key === key)
    return isSame ? error : assetNotFound(assetId)
  }

  return (record, { digest, start, end }) => {
    const place = record.at.bodies.find((body) => body.digest === digest)
    const { key = '', size = 0 } = place ?? {}
    const digester = start === 0 && end === size ? createDigester() : null
    const ended = new AbortController()
    let left = end - start
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined

    async function next(): Promise<Uint8Array | null> {
      if (!reader) {
        if (left === 0) return null
        const stream = await bodies.open(key, { start, end, size, signal: ended.signal })
        if (!stream) throw damagedBody(record.assetId, 'missing', digest)
        reader = stream.getReader()
      }
      const { value, done } = await reader.read()
      if (!done) {
        left -= value.byteLength
        digester?.update(value)
        return value
      }
      if (left !== 0 || (digester && digester.finish().digest !== digest)) {
        throw damagedBody(record.assetId, 'damaged', digest)
      }
      return null
    }

    return new ReadableStream(
      {
        async pull(controller) {
          const chunk = await next().catch(async (error: unknown) => {
            throw await unlessGone(error, record, key)
          })
          if (chunk) controller.enqueue(chunk)
          else controller.close()
        },
        async cancel(reason) {
          ended.abort(reason)
          await reader?.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }
}

function damagedBody(assetId: string, how: 'missing' | 'damaged', digest: string): ByrefError {
  const what =
    how === 'missing' ? 'is missing' : `is not the one that was saved (SHA-256 ${digest})`
  return new ByrefError(
    'storage_failed',
    `The body of asset ${JSON.stringify(assetId)} ${what}; run "byref assets verify".`,
  )
}
