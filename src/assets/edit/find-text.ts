import type { Draft } from './draft.ts'

/** Where to search. */
export interface FindOptions {
  /** Matches begin at a multiple of this, in bytes. */
  unit: 1 | 2
  /** The first byte to search. Default: 0. */
  from?: number
  /** Whether a match may begin inside of the one before. Default: false. */
  overlaps?: boolean
}

/** Yields where bytes occur in a draft, in order, chunk by chunk. It holds one chunk at a time. */
export async function* findBytes(
  draft: Draft,
  wanted: Uint8Array,
  { unit, from = 0, overlaps = false }: FindOptions,
): AsyncGenerator<number[]> {
  const length = wanted.byteLength
  /** The end of what was read, where a match may begin. */
  let tail: Buffer = Buffer.alloc(0)
  /** Where the tail begins in the draft. */
  let start = from
  for await (const chunk of draft.chunks(from)) {
    const bytes = tail.byteLength > 0 ? Buffer.concat([tail, chunk]) : bufferOf(chunk)
    const found: number[] = []
    let next = 0
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, next)) {
      const isAligned = (start + at) % unit === 0
      if (isAligned) found.push(start + at)
      next = at + (isAligned && !overlaps ? length : 1)
    }
    if (found.length > 0) yield found
    const kept = Math.max(next, bytes.byteLength - length + 1, 0)
    start += kept
    tail = bytes.subarray(kept)
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
