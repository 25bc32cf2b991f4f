import {
  BEGIN_CONTAINER,
  BEGIN_KEY,
  BEGIN_TEXT,
  BEGIN_WORD,
  behindFirst,
  COLON,
  COMMA,
  END_CONTAINER,
  END_KEY,
  END_NUMBER,
  END_VALUE,
  IN_LIST,
  IN_OBJECT,
  KEY,
  KEY_OR_END,
  KEY_TEXT,
  NEXT_ENTRY,
  NOTHING,
  OUTER,
  STATES,
  TEXT,
  VALUE,
  VALUE_OR_END,
} from './json-steps.ts'

import { NotJsonError } from './not-json-error.ts'

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

const LIST = 0x5b
const LIST_END = 0x5d

/**
 * Takes exactly what `JSON.parse` takes, and tells where the entries of the outermost container are. Holds one key of it at
 * a time, and one byte for each level of nesting.
 */
export function createJsonScanner(onEntry: (entry: ScannedEntry) => void): JsonScanner {
  /** Per level: whether it is a list. */
  let lists = new Uint8Array(64)
  let level = 0
  let deepest = 0
  let root: JsonScanner['root'] = null
  let state = VALUE
  let steps = OUTER
  /** Bytes of the chunks before. */
  let passed = 0
  let keyParts: Uint8Array[] | null = null
  let key: string | null = null
  let start = 0
  let valueStart = 0

  function beginValue(at: number): void {
    root ??= 'scalar'
    if (level !== 1) return
    valueStart = at
    if (lists[0] === 1) start = at
  }

  function beginContainer(isList: boolean, at: number): void {
    beginValue(at)
    if (level === 0) root = isList ? 'list' : 'object'
    if (level > deepest) deepest = level
    if (level === lists.length) {
      const more = new Uint8Array(level * 2)
      more.set(lists)
      lists = more
    }
    lists[level++] = isList ? 1 : 0
    state = isList ? VALUE_OR_END : KEY_OR_END
    if (level > 1) steps = isList ? IN_LIST : IN_OBJECT
  }

  function endContainer(isList: boolean, end: number): void {
    if (level === 0 || lists[level - 1] !== (isList ? 1 : 0)) throw new NotJsonError()
    level--
    if (level > 1) steps = lists[level - 1] === 1 ? IN_LIST : IN_OBJECT
    else steps = OUTER
    endValue(end)
  }

  function endValue(end: number): void {
    state = level === 0 ? NOTHING : COMMA
    if (level !== 1) return
    onEntry({ key, start, valueStart, end })
    key = null
  }

  function endKey(chunk: Uint8Array, at: number): void {
    const last = chunk.subarray(Math.max(0, start - passed), at + 1)
    const bytes = Buffer.concat([...(keyParts ?? []), last])
    key = JSON.parse(new TextDecoder().decode(bytes)) as string
    keyParts = null
    state = COLON
  }

  /** Does what a byte asks for; where it goes on. */
  function act(step: number, chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number
    if (step === BEGIN_CONTAINER) beginContainer(byte === LIST, passed + at)
    else if (step === END_CONTAINER) endContainer(byte === LIST_END, passed + at + 1)
    else if (step === NEXT_ENTRY) state = lists[0] === 1 ? VALUE : KEY
    else if (step === END_VALUE) endValue(passed + at + 1)
    else if (step === END_KEY) endKey(chunk, at)
    else if (step === BEGIN_KEY) {
      state = KEY_TEXT
      start = passed + at
      keyParts = []
    } else if (step === BEGIN_TEXT || step === BEGIN_WORD) {
      beginValue(passed + at)
      state = step === BEGIN_TEXT ? TEXT : behindFirst(String.fromCharCode(byte))
    } else if (step === END_NUMBER) {
      endValue(passed + at)
      return at
    } else throw new NotJsonError()
    return at + 1
  }

  return {
    write(chunk) {
      let now = state
      for (let i = 0; i < chunk.length; ) {
        const step = steps[now * 256 + (chunk[i] as number)] as number
        if (step < STATES) {
          now = step
          i++
        } else {
          state = now
          i = act(step, chunk, i)
          now = state
        }
      }
      state = now
      keyParts?.push(chunk.slice(Math.max(0, start - passed)))
      passed += chunk.length
    },
    end() {
      // What a number would need to end.
      this.write(Buffer.from(' '))
      if (state !== NOTHING) throw new NotJsonError()
    },
    get root() {
      return root
    },
    get depth() {
      return deepest
    },
  }
}
