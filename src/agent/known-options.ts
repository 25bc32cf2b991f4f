import { ByrefError } from '../errors.ts'

/**
 * Refuses options that would do nothing, also from plain JavaScript.
 *
 * @throws ByrefError `config_invalid`, with the names that there are, or for a value that `fits` refuses
 */
export function knownOptions(
  what: string,
  options: object,
  known: readonly string[],
  fits: (value: unknown) => boolean = () => true,
): void {
  for (const [key, value] of Object.entries(options)) {
    if (!known.includes(key)) {
      throw new ByrefError(
        'config_invalid',
        `There is no "${key}" in ${what}; there are ${known.join(', ')}`,
      )
    }
    if (value !== undefined && !fits(value)) {
      throw new ByrefError(
        'config_invalid',
        `${what}.${key} cannot be ${String(value)}: give a positive number`,
      )
    }
  }
}

/**
 * Refuses a value that is none of these.
 *
 * @throws ByrefError `config_invalid`
 */
export function oneOf(what: string, value: unknown, known: readonly string[]): void {
  if (known.includes(String(value))) return
  throw new ByrefError(
    'config_invalid',
    `${what} is one of ${known.join(', ')}, not ${JSON.stringify(value)}`,
  )
}
