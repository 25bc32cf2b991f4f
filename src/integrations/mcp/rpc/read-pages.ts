import { type Fields, isUnknownMethod, type RpcMessage } from './json-rpc.ts'
import type { Ask } from './relay.ts'

/** Maximum pages of a list that are read. */
const MAX_PAGES = 1_000

/**
 * Reads all items of a list of the server, and the other fields of its first page. A server without such a list has an
 * empty one.
 */
export async function readPages(
  { method, params }: RpcMessage,
  ask: Ask,
  key: string,
): Promise<{ items: unknown[]; rest: Fields }> {
  // A progress token belongs to the client's own request.
  const { progressToken: _, ...meta } = Object(params?._meta)
  const items: unknown[] = []
  let rest: Fields | null = null
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES && (page === 0 || cursor); page++) {
    const asking = { ...(cursor ? { cursor } : {}), ...(params?._meta ? { _meta: meta } : {}) }
    const id = `byref-${crypto.randomUUID()}`
    const answer = await ask({ jsonrpc: '2.0', id, method, params: asking })
    if (answer.error && !isUnknownMethod(answer)) throw answer.error
    const { [key]: found, nextCursor, ...others } = answer.result ?? {}
    if (Array.isArray(found)) items.push(...found)
    rest ??= others
    cursor = nextCursor
  }
  return { items, rest: rest ?? {} }
}
