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

// States: what may come next between the words of JSON, and places in a word.
const VALUE = 0
const VALUE_OR_END = 1
const KEY = 2
const KEY_OR_END = 3
const COLON = 4
const COMMA = 5
const NOTHING = 6
/** Two of an escape and four of its digits follow, also behind `KEY_TEXT`. */
const TEXT = 7
const KEY_TEXT = 13
const MINUS = 19
const ZERO = 20
const INTEGER = 21
const DOT = 22
const FRACTION = 23
const E = 24
const E_SIGN = 25
const EXPONENT = 26
/** Behind the first letter of each literal; the states behind its others follow. */
const LITERALS: readonly [word: string, state: number][] = [
  ['true', 27],
  ['false', 30],
  ['null', 34],
]
const STATES = 37

// What is done at a byte instead of going to a state. Within inner containers that is only their begin and end.
const BEGIN_CONTAINER = 128
const END_CONTAINER = 129
const BEGIN_TEXT = 130
const BEGIN_KEY = 131
const BEGIN_WORD = 132
const END_KEY = 133
/** At the last byte of a text or a literal. */
const END_VALUE = 134
/** At the byte behind a number. */
const END_NUMBER = 135
const NEXT_ENTRY = 136
const FAIL = 255

const [LIST, LIST_END] = [0x5b, 0x5d]
const SPACE = ' \n\r\t'
const DIGITS = '0123456789'

/** By state and byte: the next state, or what is done. For the outermost two levels, inner lists and inner objects. */
const OUTER = stepsIn('outer')
const IN_LIST = stepsIn('list')
const IN_OBJECT = stepsIn('object')

function stepsIn(place: 'outer' | 'list' | 'object'): Uint8Array {
  const steps = new Uint8Array(STATES * 256).fill(FAIL)
  const isOuter = place === 'outer'
  const next = place === 'list' ? VALUE : KEY
  const on = (state: number, bytes: string, step: number): void => {
    for (const byte of Buffer.from(bytes)) steps[state * 256 + byte] = step
  }
  for (const state of [VALUE, VALUE_OR_END, KEY, KEY_OR_END, COLON, COMMA, NOTHING]) {
    on(state, SPACE, state)
  }
  for (const state of [VALUE, VALUE_OR_END]) {
    on(state, '"', isOuter ? BEGIN_TEXT : TEXT)
    on(state, '[{', BEGIN_CONTAINER)
    for (const byte of `-${DIGITS}tfn`) on(state, byte, isOuter ? BEGIN_WORD : behindFirst(byte))
  }
  for (const state of [KEY, KEY_OR_END]) on(state, '"', isOuter ? BEGIN_KEY : KEY_TEXT)
  on(VALUE_OR_END, ']', END_CONTAINER)
  on(KEY_OR_END, '}', END_CONTAINER)
  on(COLON, ':', VALUE)
  on(COMMA, ',', isOuter ? NEXT_ENTRY : next)
  on(COMMA, ']}', END_CONTAINER)
  for (const text of [TEXT, KEY_TEXT]) steps.fill(text, text * 256 + 0x20, text * 256 + 256)
  addText(on, TEXT, isOuter ? END_VALUE : COMMA)
  addText(on, KEY_TEXT, isOuter ? END_KEY : COLON)
  addNumbers(on)
  for (const state of [ZERO, INTEGER, FRACTION, EXPONENT]) {
    on(state, SPACE, isOuter ? END_NUMBER : COMMA)
    on(state, ',', isOuter ? END_NUMBER : next)
    on(state, ']}', isOuter ? END_NUMBER : END_CONTAINER)
  }
  for (const [word, state] of LITERALS) {
    const last = word.length - 2
    for (let i = 0; i < last; i++) on(state + i, word[i + 1] as string, state + i + 1)
    on(state + last, word[last + 1] as string, isOuter ? END_VALUE : COMMA)
  }
  return steps
}

/** The state behind the first byte of a number or a literal. */
function behindFirst(byte: string): number {
  if (byte === '-') return MINUS
  if (byte === '0') return ZERO
  return LITERALS.find(([word]) => word[0] === byte)?.[1] ?? INTEGER
}

type On = (state: number, bytes: string, step: number) => void

function addText(on: On, text: number, end: number): void {
  const [escaped, hex] = [text + 1, text + 2]
  on(text, '"', end)
  on(text, '\\', escaped)
  on(escaped, '"\\/bfnrt', text)
  on(escaped, 'u', hex)
  for (let digit = 0; digit < 4; digit++) {
    on(hex + digit, `${DIGITS}abcdefABCDEF`, digit < 3 ? hex + digit + 1 : text)
  }
}

function addNumbers(on: On): void {
  on(MINUS, DIGITS, INTEGER)
  on(MINUS, '0', ZERO)
  on(INTEGER, DIGITS, INTEGER)
  for (const state of [ZERO, INTEGER]) on(state, '.', DOT)
  for (const state of [DOT, FRACTION]) on(state, DIGITS, FRACTION)
  for (const state of [ZERO, INTEGER, FRACTION]) on(state, 'eE', E)
  on(E, '+-', E_SIGN)
  for (const state of [E, E_SIGN, EXPONENT]) on(state, DIGITS, EXPONENT)
}

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
