const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 10
const COUNTER_DIGITS = 3
const RANDOM_DIGITS = 19

let lastTime = 0
let counter = 0

/**
 * A new id of 32 lower-case letters and digits: 50 bits of time in milliseconds, 15 bits that count within one
 * millisecond, 95 random bits. Ids of one process sort in the order they were made, ids of several by their clocks.
 * Safe in URLs and file names, also case-blind ones; unguessable.
 */
export function newId(): string {
  const now = Date.now()
  if (now > lastTime) {
    lastTime = now
    counter = 0
  } else if (++counter === 32 ** COUNTER_DIGITS) {
    lastTime++
    counter = 0
  }
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS))
  let id = digits(lastTime, TIME_DIGITS) + digits(counter, COUNTER_DIGITS)
  for (const byte of random) id += ALPHABET[byte % 32]
  return id
}

function digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = ALPHABET[rest % 32] + text
  }
  return text
}
