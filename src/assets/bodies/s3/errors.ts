import { ByrefError, errorMessage } from '../../../errors.ts'
import type { S3Connector } from './connector.ts'

/** Whatever a connector threw, as an error of byref. */
export function asStorageError(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('storage_failed', `The S3 request failed: ${errorMessage(error)}`, {
    cause: error,
  })
}

/** The connector, with errors of byref. */
export function checkedConnector(connector: S3Connector): S3Connector {
  function safe<A, R>(run: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
    return async (argument) => {
      try {
        return await run(argument)
      } catch (error) {
        throw asStorageError(error)
      }
    }
  }
  return {
    check: safe(connector.check),
    put: safe(connector.put),
    putStream: safe(connector.putStream),
    get: safe(connector.get),
    delete: safe(connector.delete),
    list: safe(connector.list),
    signedUrl: safe(connector.signedUrl),
  }
}
