import type { FieldKey } from '../../core/refs/field-key.ts'

/** A step of the path to a leaf, linked to the one above it: a path costs nothing before somebody asks for it. */
export interface FieldStep {
  above: FieldStep | null
  key: FieldKey
}

/** A piece of an asset that is searched by itself: a line, or a part of one that is very long. */
export interface Piece {
  /** Without the line's end. */
  text: string
  /** Where matches may start in `text`; what stands around is there for them to look at. */
  from: number
  /** Where they may start no more. */
  until: number
  /** The line, from 1; null where `text` is all of the leaf. */
  line: number | null
  /** The column of the text's first character, from 1. */
  column: number
  /** The leaf that the text is of; null where it is no leaf's. */
  field: FieldStep | null
  /** Whether the text is the name of the field instead of its value. */
  isKey: boolean
  /** The page of a document that it is on, from 1. */
  page?: number
}

/** Turns chunks of a text into pieces. */
export interface PieceReader {
  read(chunk: string): Piece[]
  /** What is left at the end of the text. */
  end(): Piece[]
}

/** The path of a leaf, from the root of its value. */
export function pathOf(field: FieldStep | null): FieldKey[] {
  const path: FieldKey[] = []
  for (let step = field; step; step = step.above) path.push(step.key)
  return path.reverse()
}
