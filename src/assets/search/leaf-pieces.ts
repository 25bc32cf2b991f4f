import { type JsonToken, JsonWalker, unescaped } from '../json/json-walker.ts'
import { type FieldStep, linePieces, type Piece, type PieceReader } from './line-pieces.ts'

/** Number of distinct keys that are remembered, so that each is searched once. */
const MAX_KEYS = 10_000

/** A container that is being read. */
interface Level {
  step: FieldStep | null
  /** The key of an object's next value, or the index of a list's next item. */
  key: string | number
}

/**
 * Yields the leaves of a JSON text in order, and each key before its value, where it first occurs. Text becomes its
 * lines; numbers and booleans are unchanged; null has no text. Holds one leaf at a time and up to 10,000 keys.
 *
 * @throws NotJsonError while reading
 */
export function leafPieces(): PieceReader {
  const levels: Level[] = []
  const keys = new Set<string>()
  let pieces: Piece[] = []

  function step(): FieldStep | null {
    const level = levels.at(-1)
    return level ? { above: level.step, key: level.key } : null
  }

  /** The value has ended: the next item of a list has the next index. */
  function advance(): void {
    const level = levels.at(-1)
    if (typeof level?.key === 'number') level.key++
  }

  function pushWhole(text: string, isKey: boolean): void {
    pieces.push({ text, from: 0, until: Infinity, line: null, column: 1, field: step(), isKey })
  }

  function pushLeaf(text: string): void {
    if (text.length <= 16_000 && !text.includes('\n')) pushWhole(text, false)
    else {
      const lines = linePieces(step())
      for (const piece of [...lines.read(text), ...lines.end()]) pieces.push(piece)
    }
  }

  const walker = new JsonWalker({
    key({ raw }: JsonToken) {
      const key = unescaped(raw)
      const level = levels.at(-1) as Level
      level.key = key
      if (keys.has(key)) return
      if (keys.size < MAX_KEYS) keys.add(key)
      pushWhole(key.replaceAll('\n', ' '), true)
    },
    scalar({ raw, isText }) {
      if (isText) pushLeaf(unescaped(raw))
      else if (raw !== 'null') pushLeaf(raw)
      advance()
    },
    begin(isList) {
      levels.push({ step: step(), key: isList ? 0 : '' })
    },
    end() {
      levels.pop()
      advance()
    },
  })

  function taken(): Piece[] {
    const found = pieces
    pieces = []
    return found
  }

  return {
    read(chunk) {
      walker.write(chunk)
      return taken()
    },
    end() {
      walker.end()
      return taken()
    },
  }
}
