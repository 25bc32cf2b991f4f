import { oncePer } from '../../core/once-resolved.ts'
import { nodeBuiltin } from '../../node-builtin.ts'

const { createHash, hash } = nodeBuiltin('node:crypto')

/** What identifies bytes: their SHA-256 in lower-case hex, and their number. */
export interface BodyDigest {
  digest: string
  size: number
}

/** Returns the SHA-256 of bytes or of UTF-8 text, in lower-case hex. */
export function sha256(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex')
}

/** Returns the SHA-256 of bytes that nobody changes any more. It is computed once for each array. */
export const digestOf = oncePer((bytes: Uint8Array) => sha256(bytes))

/** Computes SHA-256 and length chunk by chunk. */
export class Digester {
  readonly #hash = createHash('sha256')
  /** In bytes. */
  size = 0

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
    this.size += chunk.byteLength
  }

  finish(): BodyDigest {
    return { digest: this.#hash.digest('hex'), size: this.size }
  }
}

/** Returns the SHA-256 and the length of a stream. */
export async function digestOfStream(chunks: AsyncIterable<Uint8Array>): Promise<BodyDigest> {
  const digester = new Digester()
  for await (const chunk of chunks) digester.update(chunk)
  return digester.finish()
}
