const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 9
const COUNTER_DIGITS = 2
const RANDOM_DIGITS = 16

/** Ids whose random letters are made at once: asking for random bytes costs more than having them. */
const POOL = 64

let lastTime = 0
let timeDigits = ''
let counter = 0
let pool = ''
let used = 0

/**
 * A new id of 27 lower-case letters and digits, which models read as few tokens: 45 bits of time in milliseconds, 10 bits
 * that count within one millisecond, 80 random bits. Ids of one process sort in the order they were made, ids of several by their clocks.
 * Safe in URLs and file names, also case-blind ones; unguessable.
 */
export function newId(): string {
  const now = Date.now()
  if (now > lastTime) {
    setTime(now)
  } else if (++counter === 32 ** COUNTER_DIGITS) {
    setTime(lastTime + 1)
  }
  return timeDigits + digits(counter, COUNTER_DIGITS) + randomLetters()
}

function setTime(time: number): void {
  lastTime = time
  timeDigits = digits(time, TIME_DIGITS)
  counter = 0
}

/** Random letters, each given once. */
function randomLetters(): string {
  if (used === pool.length) {
    const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_DIGITS * POOL))
    pool = Array.from(bytes, (byte) => ALPHABET[byte % 32]).join('')
    used = 0
  }
  used += RANDOM_DIGITS
  return pool.slice(used - RANDOM_DIGITS, used)
}

function digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = ALPHABET[rest % 32] + text
  }
  return text
}
