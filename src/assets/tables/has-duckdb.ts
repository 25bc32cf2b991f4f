import { nodeBuiltin } from '../../node-builtin.ts'
import { packageFile } from '../../package-file.ts'

const { createRequire } = nodeBuiltin('node:module')

/** Below this size in bytes, starting DuckDB takes longer than it saves. */
export const WORTH_BYTES = 4 * 1024 * 1024

let found: boolean | undefined

/** Returns the path of the program of table processes. Null in a bundle that has no installed byref next to it. */
export function tableProgram(): string | null {
  const isSource = import.meta.url?.endsWith('.ts')
  return packageFile(
    isSource ? 'src/assets/tables/table-child.ts' : 'dist/assets/tables/table-child.js',
  )
}

/** Returns whether DuckDB, an optional package, is installed. Only table processes load it. */
export function hasDuckdb(): boolean {
  found ??= isInstalled('@duckdb/node-api')
  return found
}

function isInstalled(name: string): boolean {
  try {
    const program = tableProgram()
    if (program === null) return false
    createRequire(program).resolve(name)
    return true
  } catch {
    // Also where there is no Node.
    return false
  }
}
