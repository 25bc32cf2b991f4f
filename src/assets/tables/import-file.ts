import type { AssetInfo } from '../asset-info.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { Assets, ImportOptions } from '../assets-contract.ts'
import { type BodyInput, takeBody } from '../bodies/body-input.ts'
import { layAside } from './lay-aside.ts'
import type { Spool } from './spool.ts'
import { TableError } from './table-error.ts'
import { tableFormat, typeByName } from './table-format.ts'

/** What an importer works with; `open` reads a file that was saved, as often as it is asked. */
export interface ImporterParts extends Pick<AssetWriter, 'save' | 'saveEncoded'> {
  open(asset: AssetInfo, options: NamespaceOption): Promise<ReadableStream<Uint8Array>>
  /** Removes a file of which no table is wanted any more. */
  remove(asset: AssetInfo, options: NamespaceOption): Promise<unknown>
  /** Whether DuckDB is used where it is installed. */
  duckdb: boolean
}

/** `importFile`: what makes tables is loaded with the first of them. */
export function createImporter({
  save,
  saveEncoded,
  open,
  remove,
  duckdb,
}: ImporterParts): Assets['importFile'] {
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

  return async function importFile(body, options) {
    const { asset, aside } = await saveFile(body, options)
    try {
      const format = tableFormat(asset.mime)
      if (format === null) return { asset, table: null }
      const { importTable } = await import('./import-table.ts')
      const file = { asset, aside, format, open: () => open(asset, options) }
      return { asset, table: await importTable({ saveEncoded, duckdb }, file, options) }
    } catch (error) {
      if (options.signal?.aborted) await remove(asset, options)
      if (options.signal?.aborted || !(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    } finally {
      await aside?.dispose()
    }
  }
}

const SEPARATED = /\.(csv|tsv)$/i

function isSeparated(format: unknown): boolean {
  return format === 'csv' || format === 'tsv'
}
