// States of a reader of JSON: what may come next between the words of JSON, and places in a word.
export const VALUE = 0
export const VALUE_OR_END = 1
export const KEY = 2
export const KEY_OR_END = 3
export const COLON = 4
export const COMMA = 5
export const NOTHING = 6
/** Two of an escape and four of its digits follow, also behind `KEY_TEXT`. */
export const TEXT = 7
export const KEY_TEXT = 13
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
export const STATES = 37

// What is done at a byte instead of going to a state. Within inner containers that is only their begin and end.
export const BEGIN_CONTAINER = 128
export const END_CONTAINER = 129
export const BEGIN_TEXT = 130
export const BEGIN_KEY = 131
export const BEGIN_WORD = 132
export const END_KEY = 133
/** At the last byte of a text or a literal. */
export const END_VALUE = 134
/** At the byte behind a number. */
export const END_NUMBER = 135
export const NEXT_ENTRY = 136
const FAIL = 255

const SPACE = ' \n\r\t'
const DIGITS = '0123456789'

/** By state and byte: the next state, or what is done. For the outermost two levels, inner lists and inner objects. */
export const OUTER = stepsIn('outer')
export const IN_LIST = stepsIn('list')
export const IN_OBJECT = stepsIn('object')

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
export function behindFirst(byte: string): number {
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
