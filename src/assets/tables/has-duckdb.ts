import { nodeBuiltin } from '../../node-builtin.ts'
import { packageFile } from '../../package-file.ts'

const { createRequire } = nodeBuiltin('node:module')

/** Bytes of a file below which what is saved by DuckDB is less than what it takes to start. */
export const WORTH_BYTES = 4 * 1024 * 1024

let found: boolean | undefined

/** The program of table processes; null in a bundle beside which the package is not installed. */
export function tableProgram(): string | null {
  const isSource = import.meta.url?.endsWith('.ts')
  return packageFile(
    isSource ? 'src/assets/tables/table-child.ts' : 'dist/assets/tables/table-child.js',
  )
}

/** Whether DuckDB, an optional package, is installed for table processes: only they load it. */
export function hasDuckdb(): boolean {
  found ??= isInstalled('@duckdb/node-api')
  return found
}

function isInstalled(name: string): boolean {
  const program = tableProgram()
  if (program === null) return false
  try {
    createRequire(program).resolve(name)
    return true
  } catch {
    return false
  }
}
