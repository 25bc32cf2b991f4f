import { ByrefError } from '../../errors.ts'
import type { S3Bucket } from '../bodies/s3/connector.ts'
import { nonce } from '../nonce.ts'

/** Claims of writers that died are in nobody's way after this time. */
const STALE_MS = 60_000
const ATTEMPTS = 12

/**
 * Writes an object that only one may write; false when another has. Where the server has no conditional writes, writers
 * agree by claims: who finds no other claim beside its own writes, the rest steps back and looks again.
 */
export async function putOnce(
  at: S3Bucket,
  object: { key: string; body: Uint8Array; contentType: string; claims: string },
): Promise<boolean> {
  const { connector, bucket } = at
  const { claims, ...written } = object
  try {
    return await connector.put({ bucket, ...written, ifAbsent: true })
  } catch (error) {
    if (!(error instanceof ByrefError && error.code === 'asset_unsupported')) throw error
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const claim = `${claims}${nonce()}`
    await connector.put({ bucket, key: claim, body: new Uint8Array(), contentType: 'text/plain' })
    try {
      const alone = await isAlone(at, claims, claim)
      // Looked for last: who was alone before has written it by then.
      const there = await connector.get({ bucket, key: object.key })
      await there?.cancel()
      if (there) return false
      if (alone) {
        await connector.put({ bucket, ...written })
        return true
      }
    } finally {
      await connector.delete({ bucket, key: claim })
    }
    await new Promise((go) => setTimeout(go, Math.random() * 20 * 2 ** Math.min(attempt, 6)))
  }
  throw new ByrefError('storage_failed', 'Too many writers want the same id at once; try again.')
}

async function isAlone(
  { connector, bucket }: S3Bucket,
  claims: string,
  own: string,
): Promise<boolean> {
  const { objects } = await connector.list({ bucket, prefix: claims })
  const newest = objects.reduce((latest, claim) => Math.max(latest, claim.modifiedAt), 0)
  return objects.every((claim) => claim.key === own || newest - claim.modifiedAt > STALE_MS)
}
