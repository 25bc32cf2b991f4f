import { ByrefError } from '../../../errors.ts'
import { bodiesOf } from '../../asset-record.ts'
import type { StoreVerified } from '../../asset-store.ts'
import { createDigester } from '../../bodies/digest.ts'
import { graceOf } from '../grace.ts'
import { parseRecord, type StoredRecord } from '../stored-record.ts'
import { objectsUnder } from './bodies.ts'
import type { StreamBody } from './body-reader.ts'
import type { S3Space } from './layout.ts'
import { readText, type S3Root, spaceOf } from './records.ts'
import { serverTime } from './server-time.ts'
import { readRefs, sortRefs } from './unused.ts'

/** Reads everything of a namespace again, and names what is damaged, missing or needed by nobody. */
export async function* verifySpace(
  at: S3Root,
  streamBody: StreamBody,
  where: { namespace: string | null; signal?: AbortSignal },
): AsyncGenerator<StoreVerified> {
  const { namespace, signal } = where
  const space = spaceOf(at, where)
  const before = (await serverTime(at)) - graceOf()
  const refs = await readRefs(at, space, before)
  const holders = new Set<string>()
  let whole = true
  for await (const { key: path } of objectsUnder(at, space.records)) {
    signal?.throwIfAborted()
    const text = await readText(at, path)
    if (text === null) continue
    const record = parseRecord(text)
    if (record) {
      holders.add(record.holder)
      yield* verifyBodies(at, record, streamBody)
    } else {
      whole = false
      yield { namespace, assetId: null, digest: null, size: 0, problem: 'record_damaged', path }
    }
  }
  if (!whole) return
  const { held } = sortRefs(refs, space, holders)
  yield* unusedBodies(at, { space, namespace, held, before })
}

async function* unusedBodies(
  at: S3Root,
  known: { space: S3Space; namespace: string | null; held: Set<string>; before: number },
): AsyncGenerator<StoreVerified> {
  const { space, namespace, held, before } = known
  for await (const { key, size, modifiedAt } of objectsUnder(at, space.bodies)) {
    const digest = key.slice(space.bodies.length)
    if (modifiedAt > before || held.has(digest)) continue
    yield { namespace, assetId: null, digest, size, problem: 'body_unused', path: key }
  }
}

async function* verifyBodies(
  at: S3Root,
  record: StoredRecord,
  streamBody: StreamBody,
): AsyncGenerator<StoreVerified> {
  const { namespace, assetId } = record
  for (const body of bodiesOf(record)) {
    const { digest, size } = body
    const stream = streamBody(record, { digest, start: 0, end: size })
    const key = spaceOf(at, record).body(digest)
    const problem = await problemOf(at, { ...body, key, stream })
    if (problem !== 'gone') yield { namespace, assetId, digest, size, problem }
  }
}

/**
 * What is wrong with a body; `gone` where the asset was removed meanwhile.
 *
 * @throws ByrefError what the server failed with, where the body may be whole
 */
async function problemOf(
  { connector, bucket }: S3Root,
  body: { digest: string; size: number; key: string; stream: ReadableStream<Uint8Array> },
): Promise<StoreVerified['problem'] | 'gone'> {
  const digester = createDigester()
  try {
    for await (const chunk of body.stream) digester.update(chunk)
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'asset_not_found') return 'gone'
    const found = await connector.head({ bucket, key: body.key })
    if (!found) return 'body_missing'
    if (found.size !== body.size) return 'body_damaged'
    throw error
  }
  return digester.finish().digest === body.digest ? null : 'body_damaged'
}
