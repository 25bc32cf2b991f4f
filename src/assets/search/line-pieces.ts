import type { FieldKey } from '../../core/refs/field-key.ts'

/** A step of the path to a leaf, linked to the step above it, so that paths are built only when needed. */
export interface FieldStep {
  above: FieldStep | null
  key: FieldKey
}

/** A piece of an asset that is searched by itself: a line, or a part of a very long line. */
export interface Piece {
  /** Without the line's end. */
  text: string
  /** Where matches may start in `text`. The text around is context for `\b` and lookbehind. */
  from: number
  /** Where matches may not start any more. */
  until: number
  /** The line, from 1; null if `text` is the whole leaf. */
  line: number | null
  /** The column of the text's first character, from 1. */
  column: number
  /** The leaf that contains the text; null in a text file. */
  field: FieldStep | null
  /** Whether the text is the name of the field instead of its value. */
  isKey: boolean
  /** The page of a document that it is on, from 1. */
  page?: number
}

/** Turns chunks of a text into pieces. */
export interface PieceReader {
  read(chunk: string): Piece[]
  /** Returns what is left at the end of the text. */
  end(): Piece[]
}

/** Returns the path of a leaf, from the root of its value. */
export function pathOf(field: FieldStep | null): FieldKey[] {
  const path: FieldKey[] = []
  for (let step = field; step; step = step.above) path.push(step.key)
  return path.reverse()
}

/** Characters of a piece that matches may start in; shorter lines are one piece. */
const WINDOW = 16_000

/** Characters of context before and after a piece, for `\b`, lookbehind, and matches across the boundary. */
const BEFORE = 64
const BEHIND = 1_000

/**
 * Creates a reader of the lines of a text. Lines of more than 17,000 characters come in parts that overlap 64 characters back and
 * 1,000 ahead.
 */
export function linePieces(field: FieldStep | null = null): PieceReader {
  let line = 1
  /** The rest of the line: where it starts, and where matches in it may start. */
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
