import { bodiesOf } from '../../asset-record.ts'
import { nonce } from '../../nonce.ts'
import type { StoredRecord } from '../stored-record.ts'
import type { S3Connector, S3Listed } from './connector.ts'
import type { S3Space } from './layout.ts'

/** A connector and its bucket. */
export interface S3Bucket {
  connector: S3Connector
  bucket: string
}

/** The objects whose keys start with a prefix, page by page. */
export async function* pagesUnder(
  { connector, bucket }: S3Bucket,
  prefix: string,
): AsyncGenerator<S3Listed[]> {
  let after: string | undefined
  for (;;) {
    const { objects, more } = await connector.list({ bucket, prefix, after })
    yield objects
    after = objects.at(-1)?.key
    if (!more || after === undefined) return
  }
}

/** The objects whose keys start with a prefix. */
export async function* objectsUnder(at: S3Bucket, prefix: string): AsyncGenerator<S3Listed> {
  for await (const page of pagesUnder(at, prefix)) yield* page
}

/**
 * The rules of `fs/bodies.ts`, over requests: whoever needs a body first creates its ref, then makes sure that the body
 * is there; whoever removes one first copies it aside and removes it, then looks for refs again and puts it back if there
 * are some. They hold on servers whose reads and listings are consistent, as AWS, R2 and MinIO are. A body that is
 * damaged, as its size tells, is written again.
 */
export async function holdBody(
  { connector, bucket }: S3Bucket,
  space: S3Space,
  body: { digest: string; size: number; holder: string; write(key: string): Promise<void> },
): Promise<void> {
  const ref = `${space.refsOf(body.digest)}${body.holder}`
  await connector.put({ bucket, key: ref, body: new Uint8Array(), contentType: 'text/plain' })
  const key = space.body(body.digest)
  const found = await connector.head({ bucket, key })
  if (found?.size !== body.size) await body.write(key)
}

/** Gives up everything that the record holds, and removes the bodies that nobody holds now. */
export async function releaseBodies(
  at: S3Bucket,
  space: S3Space,
  record: StoredRecord,
): Promise<{ bodies: number; bytes: number }> {
  const freed = { bodies: 0, bytes: 0 }
  for (const { digest, size } of bodiesOf(record)) {
    await at.connector.delete({
      bucket: at.bucket,
      key: `${space.refsOf(digest)}${record.holder}`,
    })
    if (!(await removeUnheld(at, space, digest))) continue
    freed.bodies++
    freed.bytes += size
  }
  return freed
}

/**
 * Removes the body if no ref holds it; true if it did. Moving aside takes two requests here, so that each remover keeps a
 * copy of its own until it has looked again: nobody else removes that, and without it nothing is removed.
 */
export async function removeUnheld(at: S3Bucket, space: S3Space, digest: string): Promise<boolean> {
  const { connector, bucket } = at
  const body = space.body(digest)
  while (!(await isHeld(at, space, digest))) {
    const aside = `${space.asideOf(digest)}${nonce()}`
    if (!(await connector.copy({ bucket, key: body, to: aside }))) return false
    await connector.delete({ bucket, key: body })
    const held = await isHeld(at, space, digest)
    if (held) await connector.copy({ bucket, key: aside, to: body })
    await connector.delete({ bucket, key: aside })
    if (!held) return true
    // Whoever held it may have let go meanwhile, and found nothing to remove.
  }
  return false
}

/** Puts a body back that is aside, for whoever needs it now; false if there is none. What is aside stays there. */
export async function restoreBody(at: S3Bucket, space: S3Space, digest: string): Promise<boolean> {
  const { connector, bucket } = at
  for await (const aside of objectsUnder(at, space.asideOf(digest))) {
    if (await connector.copy({ bucket, key: aside.key, to: space.body(digest) })) return true
  }
  return false
}

/** Whether some asset needs the body. */
export async function isHeld(at: S3Bucket, space: S3Space, digest: string): Promise<boolean> {
  const { connector, bucket } = at
  const { objects } = await connector.list({ bucket, prefix: space.refsOf(digest), limit: 1 })
  return objects.length > 0
}
