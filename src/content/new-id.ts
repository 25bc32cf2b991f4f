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
  let id = digits(lastTime, TIME_DIGITS) + digits(counter, COUNTER_DIGITS)
  const start = takeRandom()
  for (let i = start; i < start + RANDOM_DIGITS; i++) id += ALPHABET[(pool[i] as number) % 32]
  return id
}

/** Random bytes for some ids at once: asking for them costs more than having them. Each is used once. */
const pool = new Uint8Array(RANDOM_DIGITS * 64)
let used = pool.length

/** The place of the next id's bytes in the pool. */
function takeRandom(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  used += RANDOM_DIGITS
  return used - RANDOM_DIGITS
}

function digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = ALPHABET[rest % 32] + text
  }
  return text
}
