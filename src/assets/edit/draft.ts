import { ByrefError } from '../../core/errors.ts'
import { chunksOf, copyBytes, pullStream } from '../bodies/body.ts'
import { bufferOf } from '../bodies/buffer-of.ts'
import type { BodyRanges as Ranges } from '../content-access.ts'
import { createPauses } from '../pauses.ts'

/** The original body, of which any part can be read repeatedly. */
export type BodyRanges = Pick<Ranges, 'size' | 'open' | 'bytes'>

/** Maximum size of a draft whose bytes are put together in memory. */
export const IN_MEMORY = 64 * 1024 * 1024

/** Bytes of a chunk of a draft in memory. */
const CHUNK = 256 * 1024

/** A part of a draft: a range of the original body, or new bytes. */
type Piece = { start: number; end: number; bytes?: undefined } | { bytes: Uint8Array }

/** A range of a draft or of the original, end exclusive, and the bytes that replace it. */
export interface Splice {
  start: number
  end: number
  bytes: Uint8Array
}

/** Options of {@link Draft}. */
export interface DraftOptions {
  signal?: AbortSignal
  /** Maximum number of bytes that may be read in all. Default: no limit. */
  budget?: number
}

/**
 * A body that is being edited. It keeps ranges of the original and the new bytes between them, so that memory depends on
 * the edits and not on the size of the body. All offsets are in bytes. Reading it yields to the event loop every few
 * milliseconds.
 */
export class Draft {
  readonly #original: BodyRanges
  readonly #pause = createPauses()
  readonly #signal: AbortSignal | undefined
  /** How many more bytes may be read. */
  #budget: number
  #pieces: Piece[]
  /** All bytes, if they are in memory and were read since the last change. */
  #whole: Buffer | null
  /** Memory for them, which each change uses again. */
  #memory = Buffer.alloc(0)

  constructor(original: BodyRanges, { signal, budget = Infinity }: DraftOptions = {}) {
    this.#original = original
    this.#signal = signal
    this.#budget = budget
    this.#pieces = [{ start: 0, end: original.size }]
    this.#whole = original.bytes ? bufferOf(original.bytes) : null
  }

  get size(): number {
    return this.#pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)
  }

  /** Replaces ranges, which are in order and do not overlap. */
  splice(splices: readonly Splice[]): void {
    const pieces: Piece[] = []
    const rest = this.#pieces.values()
    let piece = rest.next().value
    /** Where the first unread byte of `piece` is in the draft. */
    let at = 0
    const copy = (to: number, isKept: boolean): void => {
      while (piece && at < to) {
        const taken = Math.min(lengthOf(piece), to - at)
        if (isKept) pieces.push(cut(piece, 0, taken))
        at += taken
        piece = taken < lengthOf(piece) ? cut(piece, taken, lengthOf(piece)) : rest.next().value
      }
    }
    for (const { start, end, bytes } of splices) {
      copy(start, true)
      copy(end, false)
      if (bytes.byteLength > 0) pieces.push({ bytes })
    }
    copy(Infinity, true)
    this.#pieces = pieces
    this.#whole = null
  }

  /**
   * Yields the bytes of a range. The reader must not change them, nor keep them longer than until the next change.
   *
   * @throws the signal's reason; ByrefError `asset_too_large` if more was read than the budget allows
   */
  async *chunks(start = 0, end = Infinity): AsyncGenerator<Uint8Array> {
    this.#whole ??= this.#joined()
    const chunks = this.#whole
      ? slicesOf(this.#whole.subarray(start, end))
      : this.#parts(start, end)
    for await (const chunk of chunks) {
      this.#signal?.throwIfAborted()
      this.#budget -= chunk.byteLength
      if (this.#budget < 0) throw tooMuch()
      yield chunk
      await this.#pause()
    }
  }

  /** Returns all bytes; null if the original is not in memory. */
  #joined(): Buffer | null {
    const { size } = this
    const { bytes: original } = this.#original
    if (!original || size > IN_MEMORY) return null
    if (this.#memory.byteLength < size) this.#memory = Buffer.allocUnsafe(size + CHUNK)
    let at = 0
    for (const piece of this.#pieces) {
      this.#memory.set(piece.bytes ?? original.subarray(piece.start, piece.end), at)
      at += lengthOf(piece)
    }
    return this.#memory.subarray(0, size)
  }

  /** Yields the bytes of a range, piece by piece. */
  async *#parts(start: number, end: number): AsyncGenerator<Uint8Array> {
    let at = 0
    for (const piece of this.#pieces) {
      const length = lengthOf(piece)
      const from = Math.max(0, start - at)
      const to = Math.min(length, end - at)
      at += length
      if (from >= to) continue
      const part = cut(piece, from, to)
      if (part.bytes) yield part.bytes
      else yield* readAhead(chunksOf(await this.#original.open(part)))
    }
  }

  /** Returns the bytes of a small range. */
  async read(start: number, end: number): Promise<Uint8Array> {
    return Buffer.concat(await Array.fromAsync(this.chunks(start, end)))
  }

  /** Returns a small range of a text in UTF-8. */
  async text(start = 0, end = Infinity): Promise<string> {
    return bufferOf(await this.read(start, end)).toString()
  }

  /** Returns the edited body as a stream. Chunks are copies, because a reader may change or transfer them. */
  stream(): ReadableStream<Uint8Array> {
    const chunks = this.chunks()
    return pullStream(
      async () => {
        const { value } = await chunks.next()
        return value ? copyBytes(value) : null
      },
      () => chunks.return(undefined),
    )
  }

  /** Returns what differs from the original, in order. */
  changes(): Splice[] {
    const changes: Splice[] = []
    let at = 0
    let added: Uint8Array[] = []
    const close = (end: number): void => {
      if (end > at || added.length > 0) {
        changes.push({ start: at, end, bytes: Buffer.concat(added) })
      }
      added = []
    }
    for (const piece of this.#pieces) {
      if (piece.bytes) added.push(piece.bytes)
      else {
        close(piece.start)
        at = piece.end
      }
    }
    close(this.#original.size)
    return changes
  }
}

function tooMuch(): ByrefError {
  return new ByrefError(
    'asset_too_large',
    'These edits would take too long. Nothing was changed. Send fewer edits in one call.',
  )
}

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK) yield bytes.subarray(at, at + CHUNK)
}

/** Yields chunks, and reads the next one while the reader works on one. */
async function* readAhead(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let next = chunks.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = chunks.next()
      // Its error is thrown when it is awaited, unless the reader leaves before.
      next.catch(() => {})
      yield value
    }
  } finally {
    await chunks.return(undefined)
  }
}

function lengthOf(piece: Piece): number {
  return piece.bytes ? piece.bytes.byteLength : piece.end - piece.start
}

function cut(piece: Piece, from: number, to: number): Piece {
  if (piece.bytes) return { bytes: piece.bytes.subarray(from, to) }
  return { start: piece.start + from, end: piece.start + to }
}
