import { nodeBuiltin } from '../../node-builtin.ts'

const { createHash, hash } = nodeBuiltin('node:crypto')

/** SHA-256 of bytes or of UTF-8 text, in lower-case hex. */
export function sha256(data: Uint8Array | string): string {
  return hash('sha256', data, 'hex')
}

/** SHA-256 and length of what passes by. */
export interface Digester {
  update(chunk: Uint8Array): void
  finish(): { digest: string; size: number }
}

/** Starts a {@link Digester}. */
export function createDigester(): Digester {
  const state = createHash('sha256')
  let size = 0
  return {
    update(chunk) {
      state.update(chunk)
      size += chunk.byteLength
    },
    finish: () => ({ digest: state.digest('hex'), size }),
  }
}
