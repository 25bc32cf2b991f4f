import { formatAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { findAsset } from '../asset-facade.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import { assetNotFound } from '../asset-record.ts'
import type { AssetInfo } from '../asset-store.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { AssetReader, ImportedFile, ImportOptions } from '../assets-contract.ts'
import type { AssetsCore } from '../assets-core.ts'
import type { BodyInput } from '../bodies/body-input.ts'
import { isPlainText, tableFormat, typeByName } from '../bodies/mime-type.ts'
import { TableError } from './table-error.ts'
import { derivedIds, isWorkbook } from './table-facts.ts'

/** One scope of assets, in which files are imported. */
interface ImportScope {
  reader: AssetReader
  writer: AssetWriter
}

/** Converts files to tables. The code for tables is loaded with the first table. */
export class Importer {
  readonly #core: AssetsCore
  readonly #scope: ImportScope

  constructor(core: AssetsCore, scope: ImportScope) {
    this.#core = core
    this.#scope = scope
  }

  /** See `Assets.importFile`. */
  async importFile(body: BodyInput, options: ImportOptions): Promise<ImportedFile> {
    const { reader, writer } = this.#scope
    const asset = await writer.save(body, options.mime ?? typeByName(options.name), options)
    try {
      return await this.#importBody(asset, false, options)
    } catch (error) {
      const isKept = error instanceof TableError && !options.signal?.aborted
      if (!isKept) await reader.delete(asset.ref, options).catch(() => {})
      throw error
    }
  }

  /** Imports the tables of a file that was saved before. They are made only once. */
  async importSaved(
    asset: AssetInfo,
    options: NamespaceOption & { signal?: AbortSignal },
  ): Promise<ImportedFile> {
    const { reader } = this.#scope
    const ids = derivedIds(asset.assetId)
    const table = await findAsset(ids.table, reader, options)
    const workbook = await findAsset(ids.workbook, reader, options)
    if (table?.table?.source === asset.ref || workbook) return { asset, table, workbook }
    const { name, expiresAt } = asset
    return this.#importBody(asset, true, { ...options, name: name ?? 'table', expiresAt })
  }

  /**
   * Returns the reference of the table that a reference names, or what the reference names instead. A file is imported
   * at its first use. The sheets of a workbook have references of their own.
   */
  async tableOf(
    ref: string,
    { namespace, signal }: NamespaceOption & { signal?: AbortSignal },
  ): Promise<{ table: string } | { table: null; isWorkbook: boolean; problem: string }> {
    const { reader } = this.#scope
    const info = await reader.info(ref, { namespace })
    if (info.table) return { table: ref }
    const made = info.structured ? null : await this.importSaved(info, { namespace, signal })
    const saved = isWorkbook(info.assetId) ? ref : null
    const book = made ? (made.workbook?.ref ?? null) : saved
    const content = book === null ? null : await reader.resolve(book, { namespace })
    const sheets = sheetsIn(info, Object(content).sheets)
    if (sheets.length > 0) {
      const problem = `a workbook; name one of its sheets: ${sheets.join(', ')}`
      return { table: null, isWorkbook: true, problem }
    }
    if (made?.table) return { table: made.table.ref }
    return { table: null, isWorkbook: false, problem: `${info.mime} and not a table` }
  }

  async #importBody(
    asset: AssetInfo,
    isSaved: boolean,
    options: ImportOptions,
  ): Promise<ImportedFile> {
    const format =
      tableFormat(asset.mime) ?? (isSaved ? await this.#textFormat(asset, options) : null)
    if (format === null) return { asset, table: null, workbook: null }
    const { duckdb } = this.#core.config
    const { namespace } = asset
    const open = () => this.#open(asset, options)
    try {
      const { importTable } = await import('./import-table.ts')
      const file = { asset, isSaved, format, duckdb, open }
      return { asset, ...(await importTable(this.#scope, file, { ...options, namespace })) }
    } catch (error) {
      if (options.signal?.aborted || !(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
  }

  /** Returns the format of a text without a type, such as the result of a tool, that is used as a table. */
  async #textFormat(asset: AssetInfo, options: ImportOptions): Promise<'csv' | null> {
    if (!isPlainText(asset.mime)) return null
    const { isCsv } = await import('./csv-table.ts')
    const open = () => this.#open(asset, options)
    const source = { name: options.name, size: asset.size, encoding: 'utf-8', open } as const
    return (await isCsv(source)) ? 'csv' : null
  }

  async #open({ assetId, namespace }: AssetInfo, { signal }: ImportOptions) {
    const opened = await this.#core.store.open(assetId, { namespace, keep: true, signal })
    if (!opened) throw assetNotFound(assetId)
    return opened.stream
  }
}

/** Returns the names of the sheets of a workbook, with the references of their tables. */
function sheetsIn({ ref, structured, assetId }: AssetInfo, sheets: unknown): string[] {
  const numbers = Object.entries(Object(sheets)).filter(([, number]) => Number.isInteger(number))
  const ids = derivedIds(structured ? assetId.replace(/-workbook$/, '') : assetId)
  return numbers.map(([name, number]) => {
    const id = ids.sheet(Number(number))
    const sheet = formatAssetRef({ ...parseAssetRef(ref), id, fieldPath: [] })
    return `${JSON.stringify(name)} is ${sheet}`
  })
}
