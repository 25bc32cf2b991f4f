import { newId } from '../../../content/new-id.ts'
import { ByrefError } from '../../../errors.ts'
import type { AssetBody } from '../../asset-store.ts'
import { chunksOf, peek, streamFrom } from '../../bodies/body.ts'
import { createDigester, sha256 } from '../../bodies/digest.ts'
import type { S3Root } from './records.ts'

/** A body whose digest is known, and that can be put under its name. */
export interface StagedBody {
  digest: string
  size: number
  /** Puts the body under its final key. */
  write(key: string): Promise<void>
  /** Removes what was needed on the way. */
  discard(): Promise<void>
}

/** Bodies up to this size are hashed before they are sent; longer ones are sent first, and then named by their digest. */
const BUFFERED = 8 * 1024 * 1024

/** Brings a body to the server, or into memory if it is small, and tells what it is. */
export async function stageBody(
  at: S3Root,
  input: AssetBody,
  options: { mime: string; signal?: AbortSignal },
): Promise<StagedBody> {
  const { mime, signal } = options
  const { head, complete, body: whole } = await peek(input, BUFFERED, signal)
  if (whole instanceof Uint8Array) return inMemory(at, whole, mime)
  if (!complete) return uploaded(at, whole, options)
  await whole.cancel()
  return inMemory(at, head, mime)
}

function inMemory({ connector, bucket }: S3Root, bytes: Uint8Array, mime: string): StagedBody {
  return {
    digest: sha256(bytes),
    size: bytes.byteLength,
    async write(key) {
      await connector.put({ bucket, key, body: bytes, contentType: mime })
    },
    async discard() {},
  }
}

async function uploaded(
  { connector, bucket, keyPrefix }: S3Root,
  stream: ReadableStream<Uint8Array>,
  { mime, signal }: { mime: string; signal?: AbortSignal },
): Promise<StagedBody> {
  const key = `${keyPrefix}staging/${newId()}`
  const discard = () => connector.delete({ bucket, key })
  const digester = createDigester()
  const hashed = streamFrom(async function* () {
    for await (const chunk of chunksOf(stream)) {
      digester.update(chunk)
      yield new Uint8Array(chunk)
    }
  })
  try {
    await connector.putStream({ bucket, key, body: hashed, contentType: mime, signal })
  } catch (error) {
    // What it leaves, a sweep finds; the first error is the one to tell.
    await discard().catch(() => {})
    throw error
  }
  return {
    ...digester.finish(),
    discard,
    async write(to) {
      if (await connector.copy({ bucket, key, to, contentType: mime })) return
      throw new ByrefError('storage_failed', 'The upload went from the bucket before it was named.')
    },
  }
}
