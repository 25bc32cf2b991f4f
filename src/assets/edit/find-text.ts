import { bufferOf } from '../bodies/buffer-of.ts'
import type { Draft } from './draft.ts'

/** How bytes are searched in a draft. */
interface FindOptions {
  /** Matches begin at a multiple of this, in bytes. */
  unit: 1 | 2
  /** Where the first match may begin. Default: 0. */
  from?: number
  /** Whether a match may begin inside of the one before. Default: false. */
  overlaps?: boolean
  /** Called with each chunk before it is searched. `start` is where it begins in the draft. */
  onChunk?(chunk: Uint8Array, start: number): void
}

/** Searches bytes in chunks that follow each other. It copies only what a match could continue from. */
class ByteSearch {
  readonly #wanted: Uint8Array
  /** Node finds a number faster than a buffer of one byte. */
  readonly #value: Uint8Array | number
  readonly #unit: number
  readonly #overlaps: boolean
  /** Where the next match may begin. */
  #next: number
  /** Where the next chunk begins. */
  #start: number
  /** The last bytes before it, fewer than a match has. */
  #tail: Buffer = Buffer.alloc(0)

  constructor(wanted: Uint8Array, { unit, from = 0, overlaps = false }: FindOptions) {
    this.#wanted = wanted
    this.#value = wanted.byteLength === 1 ? (wanted[0] as number) : wanted
    this.#unit = unit
    this.#overlaps = overlaps
    this.#next = from
    this.#start = from
  }

  /** Returns where the matches begin that end in a chunk. */
  add(chunk: Uint8Array): number[] {
    const { byteLength: length } = this.#wanted
    const bytes = bufferOf(chunk)
    const found: number[] = []
    if (this.#tail.byteLength > 0) {
      const across = Buffer.concat([this.#tail, bytes.subarray(0, length - 1)])
      this.#search(across, this.#start - this.#tail.byteLength, found)
    }
    this.#search(bytes, this.#start, found)
    this.#start += bytes.byteLength
    const last = bytes.byteLength < length ? Buffer.concat([this.#tail, bytes]) : bytes
    this.#tail = Buffer.from(last.subarray(Math.max(0, last.byteLength - length + 1)))
    return found
  }

  #search(bytes: Buffer, start: number, found: number[]): void {
    const indexOf = () => bytes.indexOf(this.#value, Math.max(0, this.#next - start))
    for (let at = indexOf(); at >= 0; at = indexOf()) {
      const place = start + at
      const isAligned = place % this.#unit === 0
      if (isAligned) found.push(place)
      this.#next = place + (isAligned && !this.#overlaps ? this.#wanted.byteLength : 1)
    }
  }
}

/** Yields where bytes occur in a draft, in order, chunk by chunk. */
export async function* findBytes(
  draft: Draft,
  wanted: Uint8Array,
  options: FindOptions,
): AsyncGenerator<number[]> {
  const search = new ByteSearch(wanted, options)
  let start = options.from ?? 0
  for await (const chunk of draft.chunks(start)) {
    options.onChunk?.(chunk, start)
    const found = search.add(chunk)
    if (found.length > 0) yield found
    start += chunk.byteLength
  }
}
