import type { AssetInfo } from '../asset-info.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { Assets, ImportedFile, ImportOptions } from '../assets-contract.ts'
import type { TableFile } from './import-table.ts'
import { TableError } from './table-error.ts'
import { derivedIds } from './table-facts.ts'
import { tableFormat, typeByName } from './table-format.ts'

/** What an importer works with; `open` reads a file that was saved, as often as it is asked. */
export interface ImporterParts extends Pick<AssetWriter, 'save' | 'saveAsset' | 'saveEncoded'> {
  open(asset: AssetInfo, options: NamespaceOption): Promise<ReadableStream<Uint8Array>>
  /** Removes a file of which no table is wanted any more. */
  remove(asset: AssetInfo, options: NamespaceOption): Promise<unknown>
  /** An asset by its id; null where there is none. */
  find(assetId: string, options: NamespaceOption): Promise<AssetInfo | null>
  /** Whether DuckDB is used where it is installed. */
  duckdb: boolean
}

/** Makes tables of files. */
export interface Importer {
  importFile: Assets['importFile']
  /** The tables of a file that was saved before, which are made once. */
  importSaved(
    asset: AssetInfo,
    options: NamespaceOption & { signal?: AbortSignal },
  ): Promise<ImportedFile>
}

/** What makes tables is loaded with the first of them. */
export function createImporter({
  save,
  saveAsset,
  saveEncoded,
  open,
  remove,
  find,
  duckdb,
}: ImporterParts): Importer {
  async function importBody(
    { asset, isSaved }: Pick<TableFile, 'asset' | 'isSaved'>,
    options: ImportOptions,
  ): Promise<ImportedFile> {
    try {
      const format = tableFormat(asset.mime)
      if (format === null) return { asset, table: null, workbook: null }
      const { importTable } = await import('./import-table.ts')
      const file = { asset, isSaved, format, open: () => open(asset, options) }
      return {
        asset,
        ...(await importTable({ saveAsset, saveEncoded, find, duckdb }, file, options)),
      }
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
  }

  return {
    async importFile(body, options) {
      const asset = await save(body, options.mime ?? typeByName(options.name), options)
      try {
        return await importBody({ asset, isSaved: false }, options)
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
      return importBody({ asset, isSaved: true }, { ...options, name })
    },
  }
}
