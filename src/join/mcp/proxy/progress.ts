import type { RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler } from '../rpc/relay.ts'

/** That a server is at work, without its words and numbers. */
export interface Progress {
  /** A handler during whose work progress is told. */
  during(handler: Handler): Handler
  /** What is told of progress; null for that of no request under way. */
  next(params: unknown): RpcMessage | null
}

/** Begins with no request under way. */
export function createProgress(): Progress {
  const counts = new Map<unknown, number>()
  return {
    during: (handler) => async (request, help) => {
      const { progressToken } = Object(request.params?._meta)
      if (progressToken !== undefined) counts.set(progressToken, 0)
      try {
        return await handler(request, help)
      } finally {
        counts.delete(progressToken)
      }
    },
    next(params) {
      const { progressToken } = Object(params)
      const before = counts.get(progressToken)
      if (before === undefined) return null
      const progress = before + 1
      counts.set(progressToken, progress)
      return {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress },
      }
    },
  }
}
