import { ByrefError, errorMessage } from '../../core/errors.ts'
import { missingPeer } from '../../optional-peer.ts'
import { FOR_SQL } from './duckdb.ts'

/** The error of a query that is wrong, by a reason or by what DuckDB says; a ByrefError stays what it is. */
export function queryFailed(reason: unknown): ByrefError {
  if (reason instanceof ByrefError) return reason
  const hint = 'Tables are named by their references in double quotes: from "asset://id".'
  const why = typeof reason === 'string' ? reason : errorMessage(reason)
  return new ByrefError('invalid_arguments', `The query failed. ${why} ${hint}`, { cause: reason })
}

/** The error of a query that takes more memory than one may. */
export function queryTooLarge(): ByrefError {
  return new ByrefError(
    'result_too_large',
    'The query needs more memory than one may take: filter or aggregate more, or select fewer columns.',
  )
}

/** The error of a query that takes too long. */
export function queryTooSlow(ms: number): ByrefError {
  return new ByrefError(
    'tool_timeout',
    `The query took longer than ${ms / 1000} s and was stopped: filter or aggregate more.`,
  )
}

/** The error where SQL is asked for and there is none. */
export function sqlMissing(): ByrefError {
  return new ByrefError('dependency_missing', missingPeer('@duckdb/node-api', FOR_SQL))
}
