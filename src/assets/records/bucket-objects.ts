import { ByrefError } from '../../errors.ts'
import { readBytes } from '../bodies/body.ts'
import type { S3Bucket, S3Listed } from '../bodies/s3/connector.ts'
import { asStorageError } from '../bodies/s3/errors.ts'
import { inParallel } from '../in-parallel.ts'
import type { BucketSpace } from './bucket-layout.ts'
import { putOnce } from './claim.ts'
import type { RecordEntry } from './record-index.ts'

/** An entry as it lies in a bucket: `holder` names its uses, and no other save's. */
export type HeldEntry = RecordEntry & { holder: string }

const READS_AT_ONCE = 16
const ATTEMPTS = 5

/** The objects whose keys start with a prefix. */
export async function* objectsUnder(
  { connector, bucket }: S3Bucket,
  prefix: string,
): AsyncGenerator<S3Listed> {
  let after: string | undefined
  for (;;) {
    const { objects, more } = await connector.list({ bucket, prefix, after })
    yield* objects
    after = objects.at(-1)?.key
    if (!more || after === undefined) return
  }
}

/** An object as text, or null. */
export async function readText(at: S3Bucket, key: string): Promise<string | null> {
  const stream = await at.connector.get({ bucket: at.bucket, key })
  if (!stream) return null
  try {
    return Buffer.from(await readBytes(stream)).toString('utf8')
  } catch (error) {
    throw asStorageError(error)
  }
}

/** Writes a small object. */
export async function putText(at: S3Bucket, key: string, text: string): Promise<void> {
  const body = Buffer.from(text)
  await at.connector.put({ bucket: at.bucket, key, body, contentType: 'application/json' })
}

/** Writes an entry; false when its id is taken. Ids that byref made are nobody else's. */
export async function putEntry(
  at: S3Bucket,
  space: BucketSpace,
  { isChosen, ...entry }: HeldEntry & { isChosen: boolean },
): Promise<boolean> {
  const { assetId } = entry.record
  const key = space.asset(assetId)
  const text = JSON.stringify(entry)
  if (!isChosen) {
    await putText(at, key, text)
    return true
  }
  const claims = space.claimsOf(assetId)
  const put = { key, body: Buffer.from(text), contentType: 'application/json', claims }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await putOnce(at, put)) return true
    const there = await readEntry(at, key)
    // A request that was sent again can meet its own first try; who was writing at the same time may have failed.
    if (there) return there.holder === entry.holder
  }
  throw new ByrefError(
    'storage_failed',
    `The record of asset ${JSON.stringify(assetId)} cannot be written, or is damaged; run "byref assets verify".`,
  )
}

/** The entry of a key, or null where it is missing or damaged. */
export async function readEntry(at: S3Bucket, key: string): Promise<HeldEntry | null> {
  const text = await readText(at, key)
  return text === null ? null : parseEntry(text)
}

/** Reads entries, many at once; `use` is told of each that is there: what it says, or null for a damaged one. */
export async function readEntries(
  at: S3Bucket,
  keys: readonly string[],
  use: (entry: HeldEntry | null, key: string) => unknown,
): Promise<void> {
  await inParallel(keys, { limit: READS_AT_ONCE }, async (key) => {
    const text = await readText(at, key)
    if (text !== null) await use(parseEntry(text), key)
  })
}

/** The entry in a text; null for one that cannot be read. */
export function parseEntry(text: string): HeldEntry | null {
  try {
    const value = JSON.parse(text) as Partial<HeldEntry> | null
    const isEntry = value?.record?.version === 1 && Array.isArray(value.bodies) && value.holder
    return isEntry ? (value as HeldEntry) : null
  } catch {
    return null
  }
}
