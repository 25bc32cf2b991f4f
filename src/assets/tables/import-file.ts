import type { AssetInfo } from '../asset-info.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { Assets, ImportedFile, ImportOptions } from '../assets-contract.ts'
import { type BodyInput, takeBody } from '../bodies/body-input.ts'
import type { TableFile } from './import-table.ts'
import { layAside } from './lay-aside.ts'
import type { Spool } from './spool.ts'
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
  /** Saves the file; of what may be a large CSV, its bytes are laid aside for DuckDB. */
  async function saveFile(
    body: BodyInput,
    options: ImportOptions,
  ): Promise<{ asset: AssetInfo; aside: Spool | null }> {
    const mime = options.mime ?? typeByName(options.name)
    const mayBe = SEPARATED.test(options.name) || isSeparated(mime && tableFormat(mime))
    const taken = duckdb && mayBe ? takeBody(body, true) : null
    if (!(taken?.body instanceof ReadableStream)) {
      return { asset: await save(body, mime, options), aside: null }
    }
    const aside = layAside(taken.body, options.signal)
    try {
      const asset = await save(aside.stream, mime ?? taken.mime, options)
      return { asset, aside: await aside.take() }
    } catch (error) {
      await (await aside.take())?.dispose()
      throw error
    }
  }

  async function importBody(
    { asset, aside, isSaved }: Pick<TableFile, 'asset' | 'aside' | 'isSaved'>,
    options: ImportOptions,
  ): Promise<ImportedFile> {
    try {
      const format = tableFormat(asset.mime)
      if (format === null) return { asset, table: null, workbook: null }
      const { importTable } = await import('./import-table.ts')
      const file = { asset, aside, isSaved, format, open: () => open(asset, options) }
      return {
        asset,
        ...(await importTable({ saveAsset, saveEncoded, find, duckdb }, file, options)),
      }
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    } finally {
      await aside?.dispose()
    }
  }

  return {
    async importFile(body, options) {
      const saved = await saveFile(body, options)
      try {
        return await importBody({ ...saved, isSaved: false }, options)
      } catch (error) {
        if (options.signal?.aborted) await remove(saved.asset, options)
        throw error
      }
    },

    async importSaved(asset, options) {
      const ids = derivedIds(asset.assetId)
      const table = await find(ids.table, options)
      const workbook = await find(ids.workbook, options)
      if (table?.table?.source === asset.ref || workbook) return { asset, table, workbook }
      const name = asset.name ?? 'table'
      return importBody({ asset, aside: null, isSaved: true }, { ...options, name })
    },
  }
}

const SEPARATED = /\.(csv|tsv)$/i

function isSeparated(format: unknown): boolean {
  return format === 'csv' || format === 'tsv'
}
