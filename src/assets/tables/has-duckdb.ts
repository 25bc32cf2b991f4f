import { createRequire } from 'node:module'

/** Bytes of a file below which what is saved by DuckDB is less than what it takes to start. */
export const WORTH_BYTES = 4 * 1024 * 1024

let found: boolean | undefined

/** Whether DuckDB, an optional package, is installed. Only table processes load it. */
export function hasDuckdb(): boolean {
  found ??= isInstalled('@duckdb/node-api')
  return found
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
