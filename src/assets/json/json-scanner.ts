/** That a text is no JSON, although it is called so. */
export class NotJsonError extends Error {}

/** An entry of the outermost container: its key's text and the places of its first byte, of its value, and behind it. */
export interface ScannedEntry {
  /** Null in a list. */
  key: string | null
  start: number
  valueStart: number
  end: number
}

/** Reads JSON (RFC 8259, in UTF-8) chunk by chunk. */
export interface JsonScanner {
  /** @throws NotJsonError */
  write(chunk: Uint8Array): void
  /** The text has ended. @throws NotJsonError */
  end(): void
  /** The kind of the outermost value as far as it is known: of a container, what it is. */
  readonly root: 'list' | 'object' | 'scalar' | null
  /** Levels of containers below the outermost, at most so far. */
  readonly depth: number
}

// What may come next between the words of JSON.
const VALUE = 0
const VALUE_OR_END = 1
const KEY = 2
const KEY_OR_END = 3
const COLON = 4
const COMMA = 5
const NOTHING = 6

// The word that is being read: a text, an escape in one, four digits of it, a literal, or a place in a number.
const NONE = 0
const TEXT = 1
const ESCAPE = 2
const HEX = 3
const LITERAL = 4
const MINUS = 5
const ZERO = 6
const INTEGER = 7
const DOT = 8
const FRACTION = 9
const E = 10
const E_SIGN = 11
const EXPONENT = 12

/** What may follow a backslash, beside `u`. */
const ESCAPED = Buffer.from('"\\/bfnrt')

const LITERALS: Record<number, Uint8Array> = {
  116: Buffer.from('true'),
  102: Buffer.from('false'),
  110: Buffer.from('null'),
}

/**
 * Takes exactly what `JSON.parse` takes, and tells where the entries of the outermost container are. Holds one key of it at
 * a time, and one byte for each level of nesting.
 *
 * @param onEntry Stops the scan by throwing.
 */
export function createJsonScanner(onEntry: (entry: ScannedEntry) => void): JsonScanner {
  /** Per level: whether it is a list. */
  let lists = new Uint8Array(64)
  let level = 0
  let deepest = 0
  let root: JsonScanner['root'] = null
  let expected = VALUE
  let word = NONE
  let literal = LITERALS[0x74] as Uint8Array
  /** Digits of an escape, or letters of a literal, that are still to come. */
  let left = 0
  let inKey = false
  /** Bytes of the chunks before. */
  let passed = 0
  let keyParts: Uint8Array[] = []
  let key: string | null = null
  let start = 0
  let valueStart = 0

  function begin(isList: boolean): void {
    if (level === lists.length) {
      const more = new Uint8Array(level * 2)
      more.set(lists)
      lists = more
    }
    lists[level++] = isList ? 1 : 0
    if (level - 1 > deepest) deepest = level - 1
    expected = isList ? VALUE_OR_END : KEY_OR_END
    if (level === 1) root = isList ? 'list' : 'object'
  }

  function valueBegins(at: number): void {
    if (expected !== VALUE && expected !== VALUE_OR_END) throw new NotJsonError()
    if (level === 0) root = 'scalar'
    if (level !== 1) return
    valueStart = at
    if (lists[0] === 1) start = at
  }

  function valueEnded(end: number): void {
    expected = level === 0 ? NOTHING : COMMA
    if (level !== 1) return
    onEntry({ key, start, valueStart, end })
    key = null
  }

  function containerEnds(isList: boolean, end: number): void {
    const isEnd = expected === COMMA || expected === (isList ? VALUE_OR_END : KEY_OR_END)
    if (!isEnd || level === 0 || lists[level - 1] !== (isList ? 1 : 0)) throw new NotJsonError()
    level--
    valueEnded(end)
  }

  function textEnds(chunk: Uint8Array, from: number, at: number): void {
    word = NONE
    if (!inKey) {
      valueEnded(passed + at + 1)
      return
    }
    inKey = false
    expected = COLON
    if (level !== 1) return
    keyParts.push(chunk.slice(from, at + 1))
    key = JSON.parse(new TextDecoder().decode(Buffer.concat(keyParts))) as string
    keyParts = []
  }

  /** Whether a byte goes on with a number; what may not follow throws. */
  function numberGoesOn(byte: number): boolean {
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (isDigit) {
      if (word === ZERO) throw new NotJsonError()
      if (word === MINUS) word = byte === 0x30 ? ZERO : INTEGER
      else if (word === DOT) word = FRACTION
      else if (word === E || word === E_SIGN) word = EXPONENT
      return true
    }
    if (byte === 0x2e && (word === ZERO || word === INTEGER)) {
      word = DOT
      return true
    }
    if ((byte | 0x20) === 0x65 && (word === ZERO || word === INTEGER || word === FRACTION)) {
      word = E
      return true
    }
    if ((byte === 0x2b || byte === 0x2d) && word === E) {
      word = E_SIGN
      return true
    }
    if (word === MINUS || word === DOT || word === E || word === E_SIGN) throw new NotJsonError()
    return false
  }

  /** Reads on in a text from `at`; where it goes on behind it, or the chunk's end. */
  function readText(chunk: Uint8Array, at: number): number {
    for (let i = at; i < chunk.length; i++) {
      const byte = chunk[i] as number
      if (word === TEXT) {
        if (byte === 0x22) {
          textEnds(chunk, at, i)
          return i + 1
        }
        if (byte === 0x5c) word = ESCAPE
        else if (byte < 0x20) throw new NotJsonError()
      } else if (word === ESCAPE) {
        word = TEXT
        if (byte === 0x75) {
          word = HEX
          left = 4
        } else if (!ESCAPED.includes(byte)) throw new NotJsonError()
      } else {
        if (!isHex(byte)) throw new NotJsonError()
        if (--left === 0) word = TEXT
      }
    }
    if (inKey && level === 1) keyParts.push(chunk.slice(at))
    return chunk.length
  }

  function readLiteral(chunk: Uint8Array, at: number): number {
    let i = at
    for (; i < chunk.length && left > 0; i++, left--) {
      if (chunk[i] !== literal[literal.length - left]) throw new NotJsonError()
    }
    if (left === 0) {
      word = NONE
      valueEnded(passed + i)
    }
    return i
  }

  function readNumber(chunk: Uint8Array, at: number): number {
    for (let i = at; i < chunk.length; i++) {
      if (numberGoesOn(chunk[i] as number)) continue
      word = NONE
      valueEnded(passed + i)
      return i
    }
    return chunk.length
  }

  function beginText(at: number): void {
    word = TEXT
    inKey = expected === KEY || expected === KEY_OR_END
    if (!inKey) {
      valueBegins(at)
    } else if (level === 1) {
      start = at
      keyParts = [Buffer.from('"')]
    }
  }

  function comma(): void {
    if (expected !== COMMA || level === 0) throw new NotJsonError()
    expected = lists[level - 1] === 1 ? VALUE : KEY
  }

  function colon(): void {
    if (expected !== COLON) throw new NotJsonError()
    expected = VALUE
  }

  function beginWord(byte: number, at: number): void {
    valueBegins(at)
    const found = LITERALS[byte]
    if (found) {
      literal = found
      word = LITERAL
      left = found.length - 1
    } else if (byte === 0x2d) word = MINUS
    else if (byte === 0x30) word = ZERO
    else if (byte > 0x30 && byte <= 0x39) word = INTEGER
    else throw new NotJsonError()
  }

  /** Begins with what stands at a byte that is part of no word. */
  function beginAt(byte: number, at: number): void {
    if (byte === 0x22) beginText(at)
    else if (byte === 0x2c) comma()
    else if (byte === 0x3a) colon()
    else if (byte === 0x5b || byte === 0x7b) {
      valueBegins(at)
      begin(byte === 0x5b)
    } else if (byte === 0x5d || byte === 0x7d) containerEnds(byte === 0x5d, at + 1)
    else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) beginWord(byte, at)
  }

  return {
    write(chunk) {
      for (let i = 0; i < chunk.length; ) {
        if (word === NONE) beginAt(chunk[i] as number, passed + i++)
        else if (word <= HEX) i = readText(chunk, i)
        else if (word === LITERAL) i = readLiteral(chunk, i)
        else i = readNumber(chunk, i)
      }
      passed += chunk.length
    },
    end() {
      // What a number would need to end.
      if (word > LITERAL) this.write(Buffer.from(' '))
      if (word !== NONE || expected !== NOTHING) throw new NotJsonError()
    },
    get root() {
      return root
    },
    get depth() {
      return deepest
    },
  }
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}
