import { ByrefError } from '../../../errors.ts'
import type { StoreOptions } from '../../asset-store.ts'
import { readBytes } from '../../bodies/body.ts'
import { inParallel } from '../../in-parallel.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import { pagesUnder, type S3Bucket } from './bodies.ts'
import { putOnce } from './claim.ts'
import { asStorageError } from './errors.ts'
import { type S3Space, s3Space } from './layout.ts'

/** A bucket, and what the keys of one store start with. */
export interface S3Root extends S3Bucket {
  keyPrefix: string
}

const READS_AT_ONCE = 16
const ATTEMPTS = 5

/** The keys of the namespace of a call or of a record. */
export function spaceOf({ keyPrefix }: S3Root, where: StoreOptions = {}): S3Space {
  return s3Space(keyPrefix, where.namespace ?? null)
}

/** The record of a key, or null where there is none that can be read. */
export async function readRecord(at: S3Bucket, key: string): Promise<StoredRecord | null> {
  const text = await readText(at, key)
  return text === null ? null : parseRecord(text)
}

/** An object as text, or null. */
export async function readText(
  { connector, bucket }: S3Bucket,
  key: string,
): Promise<string | null> {
  const stream = await connector.get({ bucket, key })
  if (!stream) return null
  try {
    return Buffer.from(await readBytes(stream)).toString('utf8')
  } catch (error) {
    throw asStorageError(error)
  }
}

/** Writes JSON. */
export async function putJson(at: S3Bucket, key: string, value: unknown): Promise<void> {
  const { connector, bucket } = at
  const body = Buffer.from(JSON.stringify(value))
  await connector.put({ bucket, key, body, contentType: 'application/json' })
}

/**
 * Writes a record; false when its id is taken. Ids that byref made are nobody else's; those that were `chosen` can be
 * wanted twice.
 */
export async function putRecord(
  at: S3Bucket,
  space: S3Space,
  record: StoredRecord,
  chosen: boolean,
): Promise<boolean> {
  const key = space.record(record.assetId)
  if (!chosen) {
    await putJson(at, key, record)
    return true
  }
  const body = Buffer.from(JSON.stringify(record))
  const claims = space.claimsOf(record.assetId)
  const put = { key, body, contentType: 'application/json', claims }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await putOnce(at, put)) return true
    const there = await readRecord(at, key)
    // A request that was sent again can meet its own first try; who was writing at the same time may have failed.
    if (there) return there.holder === record.holder
  }
  throw new ByrefError(
    'storage_failed',
    `The record of asset ${JSON.stringify(record.assetId)} cannot be written, or is damaged; run "byref assets verify".`,
  )
}

/** Reads every object below a prefix, many at once; `use` is told of each: its record, or null for a damaged one. */
export async function readRecords(
  at: S3Bucket,
  space: S3Space,
  use: (record: StoredRecord | null, key: string) => unknown,
): Promise<void> {
  for await (const page of pagesUnder(at, space.records)) {
    await readAll(
      at,
      page.map((object) => object.key),
      use,
    )
  }
}

/** Reads records, many at once; `use` is told of each that is there. */
export async function readAll(
  at: S3Bucket,
  keys: readonly string[],
  use: (record: StoredRecord | null, key: string) => unknown,
): Promise<void> {
  await inParallel(keys, { limit: READS_AT_ONCE }, async (key) => {
    const text = await readText(at, key)
    if (text !== null) await use(parseRecord(text), key)
  })
}
