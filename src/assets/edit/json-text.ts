import { unescaped } from '../json/json-walker.ts'

const PIECE = /\\u[\da-fA-F]{4}(?:\\u[\da-fA-F]{4})*|\\.|[^\\]+/g

/**
 * Converts offsets in a text to offsets inside the JSON string that encodes it. Both are in bytes of UTF-8, and in
 * order.
 */
export function rawOffsets(raw: string, offsets: readonly number[]): number[] {
  const found: number[] = []
  let at = 0
  let rawAt = 0
  for (const [piece] of raw.matchAll(PIECE)) {
    for (const [part, text] of partsOf(piece)) {
      const size = Buffer.byteLength(text)
      const isPlain = part === text
      while (found.length < offsets.length) {
        const offset = offsets[found.length] as number
        if (offset >= at + size) break
        // Inside of a plain part, bytes correspond.
        found.push(isPlain ? rawAt + offset - at : rawAt)
      }
      at += size
      rawAt += Buffer.byteLength(part)
    }
  }
  while (found.length < offsets.length) found.push(rawAt)
  return found
}

/** Splits a run of `\u` escapes into characters, because a surrogate pair is one. */
function* partsOf(piece: string): Generator<[raw: string, text: string]> {
  if (!piece.startsWith('\\u')) {
    yield [piece, unescaped(piece)]
    return
  }
  for (const character of unescaped(piece)) {
    const length = 6 * character.length
    yield [piece.slice(0, length), character]
    piece = piece.slice(length)
  }
}
