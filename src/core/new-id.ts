const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const TIME_DIGITS = 9
const COUNTER_DIGITS = 2

/** Each pair has two digits, which are 10 bits. */
const RANDOM_PAIRS = 8
const PAIRS = Array.from({ length: 32 ** 2 }, (_, pair) => digits(pair, 2))

/** Random numbers for 64 ids, because each call of getRandomValues is slow. */
const pool = new Uint16Array(64 * RANDOM_PAIRS)

let lastTime = 0
let timeDigits = ''
let counter = 0
let used = pool.length

/**
 * Returns a new id of 27 lower-case letters and digits, which takes few tokens. It has 45 bits of time in
 * milliseconds, 10 bits that count within a millisecond, and 80 random bits. The ids of one process sort in
 * order of creation; those of several processes sort by their clocks. Ids are unguessable, and safe in URLs
 * and in file names, even case-insensitive ones.
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

/** Whether a text has the form of an id that {@link newId} makes. Such an id contains no words of a user or a model. */
export function isNewId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{27}$/.test(text)
}

/** Returns random digits from the pool. None are used twice. */
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
