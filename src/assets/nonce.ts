import { randomBytes } from 'node:crypto'

/** Random letters for names that must never meet. */
export function nonce(): string {
  return randomBytes(10).toString('hex')
}
