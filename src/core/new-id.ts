const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 9
const COUNTER_DIGITS = 2
/** Each is two digits, of 10 bits. */
const RANDOM_PAIRS = 8
const PAIRS = Array.from({ length: 32 ** 2 }, (_, pair) => digits(pair, 2))

/** Random numbers of 64 ids: asking for them costs more than having them. */
const pool = new Uint16Array(64 * RANDOM_PAIRS)

let lastTime = 0
let timeDigits = ''
let counter = 0
let used = pool.length

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
  return timeDigits + digits(counter, COUNTER_DIGITS) + randomDigits()
}

function setTime(time: number): void {
  lastTime = time
  timeDigits = digits(time, TIME_DIGITS)
  counter = 0
}

/** Random digits, each given once. */
function randomDigits(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  let text = ''
  for (const end = used + RANDOM_PAIRS; used < end; used++) {
    text += PAIRS[(pool[used] as number) % PAIRS.length]
  }
  return text
}

function digits(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) {
    text = ALPHABET[rest % 32] + text
  }
  return text
}
