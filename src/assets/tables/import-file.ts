import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetInfo } from '../asset-store.ts'
import type { Assets, ImportedFile, ImportOptions } from '../assets-contract.ts'
import type { ImporterParts } from './import-table.ts'
import { TableError } from './table-error.ts'
import { derivedIds } from './table-facts.ts'
import { tableFormat, typeByName } from './table-format.ts'

/** Converts files to tables. */
export interface Importer {
  importFile: Assets['importFile']
  /** Imports the tables of a file that was saved before. They are made only once. */
  importSaved(
    asset: AssetInfo,
    options: NamespaceOption & { signal?: AbortSignal },
  ): Promise<ImportedFile>
}

/** Creates an importer. The code for tables is loaded with the first table. */
export function createImporter(parts: ImporterParts): Importer {
  const { writer, open, remove, find } = parts

  async function importBody(
    asset: AssetInfo,
    isSaved: boolean,
    options: ImportOptions,
  ): Promise<ImportedFile> {
    try {
      const format = tableFormat(asset.mime)
      if (format === null) return { asset, table: null, workbook: null }
      const { importTable } = await import('./import-table.ts')
      const file = { asset, isSaved, format, open: () => open(asset, options) }
      return { asset, ...(await importTable(parts, file, options)) }
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
  }

  return {
    async importFile(body, options) {
      const asset = await writer.save(body, options.mime ?? typeByName(options.name), options)
      try {
        return await importBody(asset, false, options)
      } catch (error) {
        if (options.signal?.aborted) await remove(asset, options)
        throw error
      }
    },

    async importSaved(asset, options) {
      const ids = derivedIds(asset.assetId)
      const table = await find(ids.table, options)
      const workbook = await find(ids.workbook, options)
      if (table?.table?.source === asset.ref || workbook) return { asset, table, workbook }
      const name = asset.name ?? 'table'
      return importBody(asset, true, { ...options, name })
    },
  }
}
