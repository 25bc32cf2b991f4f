import { bufferOf } from '../bodies/buffer-of.ts'
import type { Draft } from './draft.ts'

/** Options of {@link findBytes}. */
interface FindOptions {
  /** Matches begin at a multiple of this, in bytes. */
  unit: 1 | 2
  /** The smallest offset of a match. Default: 0. */
  from?: number
  /** Whether matches may overlap. Default: false. */
  overlaps?: boolean
  /** Called with each chunk before it is searched. `start` is where it begins in the draft. */
  onChunk?(chunk: Uint8Array, start: number): void
}

/**
 * Yields the offsets at which bytes occur in a draft, in order, chunk by chunk. It copies only bytes that may be the
 * beginning of a match.
 */
export async function* findBytes(
  draft: Draft,
  wanted: Uint8Array,
  { unit, from = 0, overlaps = false, onChunk }: FindOptions,
): AsyncGenerator<number[]> {
  const { byteLength: length } = wanted
  // Node finds a number faster than a buffer of one byte.
  const value = length === 1 ? (wanted[0] as number) : wanted
  /** Where the next match may begin. */
  let next = from
  /** Returns where matches begin in bytes that begin at `start`. */
  function search(bytes: Buffer, start: number): number[] {
    const found: number[] = []
    const indexOf = () => bytes.indexOf(value, Math.max(0, next - start))
    for (let at = indexOf(); at >= 0; at = indexOf()) {
      const place = start + at
      const isAligned = place % unit === 0
      if (isAligned) found.push(place)
      next = place + (isAligned && !overlaps ? length : 1)
    }
    return found
  }

  let start = from
  /** The last bytes before the chunk, fewer than a match has. */
  let tail = Buffer.alloc(0)
  for await (const chunk of draft.chunks(from)) {
    onChunk?.(chunk, start)
    const bytes = bufferOf(chunk)
    const across = Buffer.concat([tail, bytes.subarray(0, length - 1)])
    const found = [...search(across, start - tail.byteLength), ...search(bytes, start)]
    if (found.length > 0) yield found
    start += bytes.byteLength
    const last = bytes.byteLength < length ? Buffer.concat([tail, bytes]) : bytes
    tail = Buffer.from(last.subarray(Math.max(0, last.byteLength - length + 1)))
  }
}
