import type { AssetWriter } from '../asset-writer.ts'
import type { Assets } from '../assets-contract.ts'
import type { TableSources } from './query-tables.ts'

const ROWS = 100_000
const TIMEOUT_MS = 30_000

/** `query`: what answers is loaded with the first question. */
export function createQuery(
  assets: TableSources & Pick<AssetWriter, 'saveEncoded'>,
): Assets['query'] {
  return async (query, options = {}) => {
    const { rows = ROWS, timeoutMs = TIMEOUT_MS, name = null, ...saving } = options
    const { namespace, signal } = options
    const { queryTables } = await import('./query-tables.ts')
    const { saveTable } = await import('./save-table.ts')
    const scope = { limits: { rows, timeoutMs }, namespace, signal }
    const { table, sources } = await queryTables(assets, query, scope)
    const about = { ...saving, name, description: query.sql.slice(0, 500) }
    return saveTable(assets.saveEncoded, table, { ...about, source: null, references: sources })
  }
}
