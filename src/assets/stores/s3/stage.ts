import { newId } from '../../../content/new-id.ts'
import type { AssetBody } from '../../asset-store.ts'
import { chunksOf, peek, streamFrom } from '../../bodies/body.ts'
import { createDigester, sha256 } from '../../bodies/digest.ts'
import type { S3Bucket } from './bodies.ts'

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
  at: S3Bucket & { keyPrefix: string },
  input: AssetBody,
  options: { mime: string; signal?: AbortSignal },
): Promise<StagedBody> {
  const { connector, bucket, keyPrefix } = at
  const { mime, signal } = options
  const { head, complete, body: whole } = await peek(input, BUFFERED, signal)
  if (complete || whole instanceof Uint8Array) {
    const bytes = whole instanceof Uint8Array ? whole : head
    if (!(whole instanceof Uint8Array)) await whole.cancel()
    const write = async (key: string) => {
      await connector.put({ bucket, key, body: bytes, contentType: mime })
    }
    return { digest: sha256(bytes), size: bytes.byteLength, write, discard: async () => {} }
  }
  const staging = `${keyPrefix}staging/${newId()}`
  const discard = () => connector.delete({ bucket, key: staging })
  const digester = createDigester()
  let failure: { error: unknown } | undefined
  const hashed = streamFrom(async function* () {
    try {
      for await (const chunk of chunksOf(whole)) {
        signal?.throwIfAborted()
        digester.update(chunk)
        yield new Uint8Array(chunk)
      }
    } catch (error) {
      failure = { error }
      throw error
    }
  })
  try {
    await connector.putStream({ bucket, key: staging, body: hashed, contentType: mime, signal })
  } catch (error) {
    await discard().catch(() => {})
    // The caller's stream failed, not the server.
    throw failure ? failure.error : error
  }
  const write = async (key: string) => {
    await connector.copy({ bucket, key: staging, to: key, contentType: mime })
  }
  return { ...digester.finish(), write, discard }
}
