import { NotJsonError } from '../json/not-json-error.ts'
import { linePieces } from './line-pieces.ts'
import type { FieldStep, Piece, PieceReader } from './piece.ts'

/** Distinct keys that are remembered, so that each is searched once. */
const MAX_KEYS = 10_000
/** Characters of a number; longer ones are no JSON that anybody wrote. */
const MAX_WORD = 10_000
const WORD = /^(?:-?\d[\d.eE+-]*|true|false|null)$/
const SPACE = /[ \t\r\n]*/y
const WORD_END = /[,\]}\s]/g

/** A container that is read through. */
interface Level {
  isList: boolean
  step: FieldStep | null
  /** The key or the index of the value that is next. */
  key: string | number
}

type Awaited = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'comma' | 'nothing'

/**
 * The leaves of a JSON text, in order, with the first occurrence of each key before its value: text as its lines, numbers
 * and booleans as they are written; null is no text. Holds one leaf at a time, and up to 10,000 keys.
 *
 * @throws NotJsonError on the way
 */
export function leafPieces(): PieceReader {
  const levels: Level[] = []
  const keys = new Set<string>()
  let pieces: Piece[] = []
  let awaited: Awaited = 'value'
  /** A text or a word that the last chunk ended in. */
  let open: { parts: string[]; oddBackslashes: boolean } | null = null
  let word = ''

  function step(): FieldStep | null {
    const level = levels.at(-1)
    return level ? { above: level.step, key: level.key } : null
  }

  function afterValue(): void {
    awaited = levels.length > 0 ? 'comma' : 'nothing'
  }

  function pushWhole(text: string, field: FieldStep | null, isKey: boolean): void {
    pieces.push({ text, from: 0, until: Infinity, line: null, column: 1, field, isKey })
  }

  function pushLeaf(text: string): void {
    const field = step()
    afterValue()
    if (text.length <= 16_000 && !text.includes('\n')) {
      pushWhole(text, field, false)
      return
    }
    const lines = linePieces(field)
    for (const piece of lines.read(text)) pieces.push(piece)
    for (const piece of lines.end()) pieces.push(piece)
  }

  function endText(raw: string): void {
    const text = raw.includes('\\') ? parsed(`"${raw}"`) : raw
    if (awaited === 'value' || awaited === 'valueOrEnd') pushLeaf(text)
    else if (awaited === 'key' || awaited === 'keyOrEnd') pushKey(text)
    else throw new NotJsonError()
  }

  function pushKey(text: string): void {
    const level = levels.at(-1) as Level
    level.key = text
    awaited = 'colon'
    if (keys.has(text)) return
    if (keys.size < MAX_KEYS) keys.add(text)
    pushWhole(text.replaceAll('\n', ' '), step(), true)
  }

  function endWord(): void {
    if (!WORD.test(word)) throw new NotJsonError()
    if (word === 'null') afterValue()
    else pushLeaf(word)
    word = ''
  }

  /** Reads on in a text from `at`; where it goes on behind the quote, or the chunk's end. */
  function readText(chunk: string, at: number): number {
    const { parts, oddBackslashes } = open ?? { parts: [], oddBackslashes: false }
    for (let quote = chunk.indexOf('"', at); quote >= 0; quote = chunk.indexOf('"', quote + 1)) {
      if (isEscaped(chunk, quote, at, oddBackslashes)) continue
      open = null
      const last = chunk.slice(at, quote)
      endText(parts.length > 0 ? parts.join('') + last : last)
      return quote + 1
    }
    parts.push(chunk.slice(at))
    open = { parts, oddBackslashes: isEscaped(chunk, chunk.length, at, oddBackslashes) }
    return chunk.length
  }

  function readWord(chunk: string, at: number): number {
    WORD_END.lastIndex = at
    const end = WORD_END.exec(chunk)?.index ?? chunk.length
    word += chunk.slice(at, end)
    if (word.length > MAX_WORD) throw new NotJsonError()
    if (end < chunk.length) endWord()
    return end
  }

  function begin(isList: boolean): void {
    if (awaited !== 'value' && awaited !== 'valueOrEnd') throw new NotJsonError()
    levels.push({ isList, step: step(), key: isList ? 0 : '' })
    awaited = isList ? 'valueOrEnd' : 'keyOrEnd'
  }

  function finish(isList: boolean): void {
    const isEnd = awaited === 'comma' || awaited === (isList ? 'valueOrEnd' : 'keyOrEnd')
    if (!isEnd || levels.pop()?.isList !== isList) throw new NotJsonError()
    afterValue()
  }

  function comma(): void {
    const level = levels.at(-1)
    if (!level || awaited !== 'comma') throw new NotJsonError()
    if (level.isList) (level.key as number)++
    awaited = level.isList ? 'value' : 'key'
  }

  function colon(): void {
    if (awaited !== 'colon') throw new NotJsonError()
    awaited = 'value'
  }

  /** Reads what begins at `at`; where the next thing does. */
  function readAt(chunk: string, at: number): number {
    switch (chunk[at]) {
      case '"':
        return readText(chunk, at + 1)
      case ',':
        comma()
        return at + 1
      case ':':
        colon()
        return at + 1
      case '{':
      case '[':
        begin(chunk[at] === '[')
        return at + 1
      case '}':
      case ']':
        finish(chunk[at] === ']')
        return at + 1
      default:
        if (awaited !== 'value' && awaited !== 'valueOrEnd') throw new NotJsonError()
        return readWord(chunk, at)
    }
  }

  function taken(): Piece[] {
    const found = pieces
    pieces = []
    return found
  }

  return {
    read(chunk) {
      let at = 0
      if (open) at = readText(chunk, 0)
      else if (word !== '') at = readWord(chunk, 0)
      for (at = behindSpace(chunk, at); at < chunk.length; at = behindSpace(chunk, at)) {
        at = readAt(chunk, at)
      }
      return taken()
    },

    end() {
      if (word !== '') endWord()
      if (open || awaited !== 'nothing') throw new NotJsonError()
      return taken()
    },
  }
}

function behindSpace(chunk: string, at: number): number {
  const code = chunk.charCodeAt(at)
  if (code > 32 || at >= chunk.length) return at
  SPACE.lastIndex = at
  SPACE.test(chunk)
  if (SPACE.lastIndex === at) throw new NotJsonError()
  return SPACE.lastIndex
}

/** Whether an odd number of backslashes stands right before `at`, those before `start` included. */
function isEscaped(chunk: string, at: number, start: number, oddBefore: boolean): boolean {
  let first = at
  while (first > start && chunk[first - 1] === '\\') first--
  const isOdd = (at - first) % 2 === 1
  return first === start && oddBefore ? !isOdd : isOdd
}

function parsed(json: string): string {
  try {
    return JSON.parse(json)
  } catch {
    throw new NotJsonError()
  }
}
