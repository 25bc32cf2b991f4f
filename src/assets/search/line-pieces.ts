import type { FieldStep, Piece, PieceReader } from './piece.ts'

/** Characters of a piece that matches may start in; shorter lines are one piece. */
const WINDOW = 16_000
/** Characters before it and behind it, for `\b`, what looks behind, and matches over the seam. */
const BEFORE = 64
const BEHIND = 1_000

/**
 * The lines of a text, as long as they are no longer than 17,000 characters, which are held at most; longer ones in parts
 * that see 64 characters back and 1,000 ahead.
 */
export function linePieces(field: FieldStep | null = null): PieceReader {
  let line = 1
  /** What is left of the line: where it starts, and where matches in it may. */
  let rest = ''
  let column = 1
  let from = 0

  function cutInto(pieces: Piece[]): void {
    while (rest.length > from + WINDOW + BEHIND) {
      const until = from + WINDOW
      const text = rest.slice(0, until + BEHIND)
      pieces.push({ text, from, until, line, column, field, isKey: false })
      const kept = until - BEFORE
      rest = rest.slice(kept)
      column += kept
      from = BEFORE
    }
  }

  function endLine(pieces: Piece[]): void {
    const text = rest.endsWith('\r') ? rest.slice(0, -1) : rest
    pieces.push({ text, from, until: Infinity, line, column, field, isKey: false })
    line++
    rest = ''
    column = 1
    from = 0
  }

  return {
    read(chunk) {
      const pieces: Piece[] = []
      let at = 0
      for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', at)) {
        rest += chunk.slice(at, end)
        cutInto(pieces)
        endLine(pieces)
        at = end + 1
      }
      rest += chunk.slice(at)
      cutInto(pieces)
      return pieces
    },

    end() {
      const pieces: Piece[] = []
      if (rest !== '') endLine(pieces)
      return pieces
    },
  }
}
