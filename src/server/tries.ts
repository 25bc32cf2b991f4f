import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { Caller } from './caller.ts'

/** Requests that are tried again, told by their `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header). */
export interface Tries {
  /**
   * The id of what a request makes, if it says none: the same for each try; undefined without a key.
   *
   * @throws ByrefError `bad_request` for a key that came with another body before
   */
  idOf(c: Context, caller: Caller, body: unknown): string | undefined
}

/** Keys whose bodies are remembered. */
const MOST_KEYS = 10_000

/** Makes what knows tries. The ids need no memory; that a key came with another body is known until the server ends. */
export function createTries(): Tries {
  const bodies = new Map<string, string>()
  return {
    idOf(c, { namespace, subject }, body) {
      const key = c.req.header('idempotency-key')
      if (key === undefined) return undefined
      const id = `try_${digest([namespace, subject, c.req.path, key])}`
      const now = digest(body ?? null)
      const before = bodies.get(id) ?? now
      if (before !== now) {
        throw new ByrefError('bad_request', 'The Idempotency-Key came with another body before')
      }
      bodies.set(id, now)
      for (const oldest of bodies.keys()) {
        if (bodies.size <= MOST_KEYS) break
        bodies.delete(oldest)
      }
      return id
    },
  }
}

/** Makes null of an error that says that a try before has made it; `tried` is its id. Throws every other one. */
export function unlessTried(
  tried: string | undefined,
  codes: readonly ByrefErrorCode[],
): (error: unknown) => null {
  return (error) => {
    if (tried !== undefined && error instanceof ByrefError && codes.includes(error.code))
      return null
    throw error
  }
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 27)
}
