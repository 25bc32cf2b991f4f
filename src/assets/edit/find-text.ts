import type { Draft } from './draft.ts'

/** Where to search. */
export interface FindOptions {
  /** Matches begin at a multiple of this, in bytes. */
  unit: 1 | 2
  /** The first byte to search. Default: 0. */
  from?: number
  /** Whether a match may begin inside of the one before. Default: false. */
  overlaps?: boolean
  /** Called with each chunk before it is searched. `start` is where it begins in the draft. */
  onChunk?(chunk: Uint8Array, start: number): void
}

/**
 * Yields where bytes occur in a draft, in order, chunk by chunk. It holds one chunk at a time, and copies only what a
 * match could continue from.
 */
export async function* findBytes(
  draft: Draft,
  wanted: Uint8Array,
  { unit, from = 0, overlaps = false, onChunk }: FindOptions,
): AsyncGenerator<number[]> {
  const length = wanted.byteLength
  // Node finds a number faster than a buffer of one byte.
  const value = length === 1 ? (wanted[0] as number) : wanted
  let next = from

  function search(bytes: Buffer, start: number, found: number[]): void {
    const indexOf = () => bytes.indexOf(value, Math.max(0, next - start))
    for (let at = indexOf(); at >= 0; at = indexOf()) {
      const place = start + at
      const isAligned = place % unit === 0
      if (isAligned) found.push(place)
      next = place + (isAligned && !overlaps ? length : 1)
    }
  }

  /** The last bytes before the chunk, fewer than a match has. */
  let tail: Buffer = Buffer.alloc(0)
  let start = from
  for await (const chunk of draft.chunks(from)) {
    onChunk?.(chunk, start)
    const bytes = bufferOf(chunk)
    const found: number[] = []
    if (tail.byteLength > 0) {
      const across = Buffer.concat([tail, bytes.subarray(0, length - 1)])
      search(across, start - tail.byteLength, found)
    }
    search(bytes, start, found)
    if (found.length > 0) yield found
    start += bytes.byteLength
    const last = bytes.byteLength < length ? Buffer.concat([tail, bytes]) : bytes
    tail = Buffer.from(last.subarray(Math.max(0, last.byteLength - length + 1)))
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
