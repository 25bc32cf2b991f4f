/** The text is not JSON, although its type says so. */
export class NotJsonError extends Error {}

/** A scalar value, or the text of a key. `start` and `end` count from the beginning of the JSON. */
export interface JsonToken {
  /** The raw text. For a string, the text between its quotes, with escapes. */
  raw: string
  isText: boolean
  start: number
  /** Exclusive. */
  end: number
}

/** Receives the structure of JSON in document order. */
export interface JsonVisitor {
  key?(key: JsonToken): void
  scalar?(value: JsonToken): void
  /** Called before the level rises. */
  begin?(isList: boolean, start: number): void
  /** Called after the level fell; `end` is exclusive. */
  end?(end: number): void
}

type Awaited = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'comma' | 'nothing'

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings exclude exactly these
const TEXT = /[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*/y
const CUT_ESCAPE = /\\(?:u[\da-fA-F]{0,3})?$/y
const WORD = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/
const WORD_START = /[-\dtfn]/
const WORD_END = /[,\]}\s]/g

/** Characters of a number. Longer numbers are rejected, so that small chunks cannot make reading quadratic. */
const MAX_WORD = 64 * 1024

/**
 * Reads JSON (RFC 8259) chunk by chunk and reports its structure. Accepts the same texts as `JSON.parse`. It holds one
 * string at a time and one flag for each open container, and never recurses.
 * Chunks are strings. For offsets in bytes, write bytes decoded as Latin-1: one character is then one byte.
 */
export class JsonWalker {
  readonly #visitor: JsonVisitor
  readonly #keepsValues: boolean
  /** For each open container whether it is a list. */
  readonly #lists: boolean[] = []
  #awaited: Awaited = 'value'
  /** The end of the last chunk, where a number, a literal or an escape may continue in the next one. */
  #rest = ''
  /** Characters before the rest. */
  #passed = 0
  /** Where the open string begins, or -1, and what was read of it. */
  #textStart = -1
  #read = ''

  /** With `keepsValues` false, `raw` of string values is empty and long strings take no memory. */
  constructor(visitor: JsonVisitor, { keepsValues = true } = {}) {
    this.#visitor = visitor
    this.#keepsValues = keepsValues
  }

  /** Number of open containers. */
  get level(): number {
    return this.#lists.length
  }

  /** Number of characters read. After an error, where the text that is not JSON begins. */
  get position(): number {
    return this.#passed
  }

  /** @throws NotJsonError */
  write(chunk: string): void {
    const text = this.#rest + chunk
    let at = 0
    try {
      while (at < text.length) {
        const next = this.#textStart >= 0 ? this.#readText(text, at) : this.#readToken(text, at)
        if (next === null) break
        at = next
      }
    } finally {
      this.#rest = text.slice(at)
      this.#passed += at
    }
  }

  /** The text has ended. @throws NotJsonError */
  end(): void {
    // A number at the end of the text needs a delimiter.
    if (this.#textStart < 0) this.write(' ')
    if (this.#awaited !== 'nothing') throw new NotJsonError()
  }

  /** Reads what begins at `at`; returns where the next token begins, or null if more text is needed. */
  #readToken(text: string, at: number): number | null {
    const position = this.#passed + at
    switch (text[at]) {
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        return at + 1
      case '"':
        if (!/^(value|key)/.test(this.#awaited)) throw new NotJsonError()
        this.#textStart = position
        return at + 1
      case ':':
        this.#expect('colon')
        this.#awaited = 'value'
        return at + 1
      case ',':
        this.#expect('comma')
        this.#awaited = this.#lists.at(-1) ? 'value' : 'key'
        return at + 1
      case '[':
      case '{':
        this.#begin(text[at] === '[', position)
        return at + 1
      case ']':
      case '}':
        this.#end(text[at] === ']', position + 1)
        return at + 1
      default:
        return this.#readWord(text, at)
    }
  }

  #readText(text: string, at: number): number | null {
    TEXT.lastIndex = at
    TEXT.test(text)
    const end = TEXT.lastIndex
    const isKey = this.#awaited === 'key' || this.#awaited === 'keyOrEnd'
    if (isKey || this.#keepsValues) this.#read += text.slice(at, end)
    if (text[end] === '"') {
      const token = {
        raw: this.#read,
        isText: true,
        start: this.#textStart,
        end: this.#passed + end + 1,
      }
      this.#textStart = -1
      this.#read = ''
      if (!isKey) this.#scalar(token)
      else {
        this.#awaited = 'colon'
        this.#visitor.key?.(token)
      }
      return end + 1
    }
    CUT_ESCAPE.lastIndex = end
    if (end < text.length && !CUT_ESCAPE.test(text)) throw new NotJsonError()
    return end === at ? null : end
  }

  #readWord(text: string, at: number): number | null {
    if (!WORD_START.test(text[at] as string)) throw new NotJsonError()
    WORD_END.lastIndex = at
    const end = WORD_END.test(text) ? WORD_END.lastIndex - 1 : null
    if (end === null) {
      if (text.length - at > MAX_WORD) throw new NotJsonError()
      return null
    }
    const raw = text.slice(at, end)
    if (!WORD.test(raw)) throw new NotJsonError()
    const start = this.#passed + at
    this.#scalar({ raw, isText: false, start, end: this.#passed + end })
    return end
  }

  #begin(isList: boolean, start: number): void {
    this.#expectValue()
    this.#visitor.begin?.(isList, start)
    this.#lists.push(isList)
    this.#awaited = isList ? 'valueOrEnd' : 'keyOrEnd'
  }

  #end(isList: boolean, end: number): void {
    const isEmpty = this.#awaited === (isList ? 'valueOrEnd' : 'keyOrEnd')
    if (!isEmpty && this.#awaited !== 'comma') throw new NotJsonError()
    if (this.#lists.pop() !== isList) throw new NotJsonError()
    this.#awaited = this.level > 0 ? 'comma' : 'nothing'
    this.#visitor.end?.(end)
  }

  #scalar(value: JsonToken): void {
    this.#expectValue()
    this.#awaited = this.level > 0 ? 'comma' : 'nothing'
    this.#visitor.scalar?.(value)
  }

  #expectValue(): void {
    if (this.#awaited !== 'value' && this.#awaited !== 'valueOrEnd') throw new NotJsonError()
  }

  #expect(awaited: Awaited): void {
    if (this.#awaited !== awaited) throw new NotJsonError()
  }
}

/** Returns the string that the {@link JsonToken.raw} of a text represents. */
export function unescaped(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
}
