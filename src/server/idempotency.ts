import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import { setRecent } from '../core/recent.ts'
import type { Caller } from './caller.ts'

/** Maximum number of keys whose request bodies are remembered. */
const MAX_KEYS = 10_000

/**
 * Requests that clients repeat with the same `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). Ids are derived
 * from the key, so they need no memory. Bodies are compared only until the process ends.
 */
export class IdempotencyKeys {
  readonly #bodies = new Map<string, string>()

  /**
   * Returns the id of what a request creates, where the request names none: the same for each attempt. Undefined
   * without a key.
   *
   * @throws ByrefError `bad_request` for a key that came with another body before
   */
  idOf(c: Context, { namespace, subject }: Caller, body: unknown): string | undefined {
    const key = c.req.header('idempotency-key')
    if (key === undefined) return undefined
    const id = `try_${digest([namespace, subject, c.req.path, key])}`
    const now = digest(body ?? null)
    if ((this.#bodies.get(id) ?? now) !== now) {
      throw new ByrefError(
        'bad_request',
        'This Idempotency-Key was used with a different body: use a new key for a new request',
      )
    }
    setRecent(this.#bodies, id, now, MAX_KEYS)
    return id
  }
}

/**
 * Returns null for an error with one of these codes, because an earlier attempt created `attemptId`. Rethrows any other
 * error, and every error where there was no idempotency key.
 */
export function unlessRepeated(
  attemptId: string | undefined,
  codes: readonly ByrefErrorCode[],
): (error: unknown) => null {
  return (error) => {
    const isRepeated = error instanceof ByrefError && codes.includes(error.code)
    if (attemptId !== undefined && isRepeated) return null
    throw error
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 27)
}
