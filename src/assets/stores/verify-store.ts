import { ByrefError } from '../../core/errors.ts'
import type { StoreVerified } from '../asset-store.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { digestOfStream } from '../bodies/digest.ts'
import { osCode } from '../bodies/durable.ts'
import type { PlacedBody, RecordEntry, RecordIndex, RecordPlace } from '../records/record-index.ts'
import { spaceName } from './save-asset.ts'
import type { StoreParts } from './store-parts.ts'
import { clockOf, graceOf, unneededBodies } from './sweep-store.ts'

const PAGE = 200

/** Reads everything in a namespace again, and reports what is damaged, missing or unused. */
export async function* verifyStore(
  store: StoreParts,
  { namespace, signal }: { namespace: string | null; signal?: AbortSignal },
): AsyncGenerator<StoreVerified> {
  const { records, bodies } = store
  let after: RecordPlace | null = null
  do {
    const page: Awaited<ReturnType<RecordIndex['list']>> = await records.list(namespace, {
      after,
      limit: PAGE,
      now: Date.now(),
    })
    for (const at of page.entries) {
      signal?.throwIfAborted()
      yield* verifyBodies(store, at)
    }
    after = page.next
  } while (after)
  const before = (await clockOf(bodies)) - graceOf()
  const prefix = `${spaceName(namespace)}/`
  for await (const { key: path, size } of unneededBodies(store, { prefix, before })) {
    signal?.throwIfAborted()
    yield { namespace, assetId: null, digest: null, size, problem: 'body_unused', path }
  }
}

async function* verifyBodies(
  store: StoreParts,
  { record, bodies }: RecordEntry,
): AsyncGenerator<StoreVerified> {
  const { namespace, assetId } = record
  for (const body of bodies) {
    const { digest, size } = body
    const problem = await problemOf(store, body)
    if (problem) {
      const current = await store.records.get(namespace, assetId)
      if (!current?.bodies.some(({ key }) => key === body.key)) continue
    }
    yield { namespace, assetId, digest, size, problem }
  }
}

/** @throws ByrefError the error of the store, if the body may be intact */
async function problemOf(
  { bodies }: StoreParts,
  { digest, size, key }: PlacedBody,
): Promise<StoreVerified['problem']> {
  if (size === 0) return null
  try {
    const stream = await bodies.open(key, { start: 0, end: size, size })
    if (!stream) return 'body_missing'
    const found = await digestOfStream(stream)
    return found.digest === digest ? null : 'body_damaged'
  } catch (error) {
    // EIO means that the disk has lost those bytes. Any other error may be temporary.
    if (error instanceof ByrefError && osCode(error.cause) === 'EIO') return 'body_damaged'
    const found = await sizeOf(bodies, key)
    if (found === size) throw error
    return found === null ? 'body_missing' : 'body_damaged'
  }
}

async function sizeOf(bodies: BodyStore, key: string): Promise<number | null> {
  const folder = key.slice(0, key.lastIndexOf('/') + 1)
  for await (const body of bodies.list(folder)) if (body.key === key) return body.size
  return null
}
