import { createRequire } from 'node:module'
import { TableError } from './table-error.ts'

const require = createRequire(import.meta.url)

/** Where a library is that reads some form of tables, and that is installed by those who need it. */
export function tableLibrary(specifier: string, table: { name: string; form: string }): string {
  try {
    return require.resolve(specifier)
  } catch {
    const [library] = specifier.split('/')
    const reason = `${table.form} becomes a table where ${library} is installed: npm install ${library}`
    throw new TableError({ name: table.name, line: null, reason })
  }
}
