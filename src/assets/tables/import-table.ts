import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { findAsset } from '../asset-facade.ts'
import type { AssetInfo } from '../asset-store.ts'
import { type AssetWriter, type EncodedAsset, encodeAsset } from '../asset-writer.ts'
import type { AssetReader, ImportedFile, ImportOptions } from '../assets-contract.ts'
import { meterStream } from '../bodies/body.ts'
import type { TableFormat, TextTableFormat } from '../bodies/mime-type.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { readCsvTable } from './csv-table.ts'
import { hasDuckdb, WORTH_BYTES } from './duckdb.ts'
import { readJsonTable, readNdjsonTable } from './json-table.ts'
import { saveTable } from './save-table.ts'
import { writeBody } from './spool.ts'
import { broken } from './table-error.ts'
import { derivedIds } from './table-facts.ts'
import { OutOfMemoryError, runTableTask, type TableTaskOptions } from './table-process.ts'
import { RESULT, type SheetName, type TableTask } from './table-task.ts'
import type { TableInput, TableSource } from './table-text.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

const { join } = nodeBuiltin('node:path')

/** A saved file to convert to a table. */
export interface TableFile {
  asset: AssetInfo
  format: TableFormat
  /** Opens the file. May be called repeatedly. */
  open(): Promise<ReadableStream<Uint8Array>>
  /** Whether an earlier call saved it. */
  isSaved: boolean
  /** Whether DuckDB is used if it is installed. */
  duckdb: boolean
}

/**
 * Saves the table that a file contains; for a workbook, one table for each sheet. The tables of a workbook, and of a
 * file that was saved before, have ids that are derived from the file's: see {@link derivedIds}.
 */
export async function importTable(
  { writer, reader }: { writer: AssetWriter; reader: AssetReader },
  file: TableFile,
  options: ImportOptions,
): Promise<Pick<ImportedFile, 'table' | 'workbook'>> {
  const { by, tool, toolCallId, origin, namespace, expiresAt, signal, name, description } = options
  const { ref: source, assetId } = file.asset
  const written = await writtenFrom(file, options)
  const maker = { by, tool, toolCallId, origin, namespace, expiresAt, signal }
  const ids = derivedIds(assetId)
  const created: AssetInfo[] = []
  const made: MadeTable[] = []
  const hasSheets = written.length > 1
  try {
    for (let one = written.shift(); one; one = written.shift()) {
      const from = one
      const sheet = hasSheets ? (one.sheet ?? null) : null
      const id = sheet ? ids.sheet(sheet.number) : file.isSaved ? ids.table : undefined
      const named = { assetId: id, name: sheet ? `${name}/${sheet.name}` : name }
      const about = { ...maker, ...named, description, source, references: [assetId] }
      const save = async () => {
        const saved = await saveTable(writer, from, about)
        created.push(saved)
        return saved
      }
      const table = await orExisting(save, () => findAsset(id ?? '', reader, options))
      made.push({ table, sheet })
    }
    const saveWorkbook = async () =>
      writer.saveEncoded(await workbookOf(file.asset, made, { name, description }), maker)
    const workbook = hasSheets
      ? await orExisting(saveWorkbook, () => findAsset(ids.workbook, reader, options))
      : null
    return { table: made[0]?.table ?? null, workbook }
  } catch (error) {
    if (!file.isSaved) {
      await Promise.allSettled(created.map(({ ref }) => reader.delete(ref, { namespace })))
    }
    throw error
  } finally {
    await Promise.all(written.map(({ body }) => body.dispose()))
  }
}

/** A table that was saved, and its sheet in a workbook. */
interface MadeTable {
  table: AssetInfo
  sheet: SheetName | null
}

/** Returns the existing asset if another call has saved the same one. */
async function orExisting(
  save: () => Promise<AssetInfo>,
  find: () => Promise<AssetInfo | null>,
): Promise<AssetInfo> {
  try {
    return await save()
  } catch (error) {
    const existing =
      error instanceof ByrefError && error.code === 'asset_exists' ? await find() : null
    if (existing) return existing
    throw error
  }
}

/**
 * Returns the asset of a workbook: the numbers of its sheets, and the names of their tables. It is short enough for a
 * meta. While it is kept, its tables are.
 */
async function workbookOf(
  { assetId, ref }: AssetInfo,
  made: readonly MadeTable[],
  { name, description }: Pick<ImportOptions, 'name' | 'description'>,
): Promise<EncodedAsset> {
  const [first] = made
  const table = first?.table.ref.replace(/\d+$/, '<number>')
  const how = `Each sheet is a table: ${table}, such as ${first?.table.ref} for ${JSON.stringify(first?.sheet?.name)}.`
  const sheets = made.flatMap(({ sheet }) => (sheet ? [[sheet.name, sheet.number]] : []))
  const encoded = await encodeAsset(
    {
      asset_type: 'workbook',
      asset_id: derivedIds(assetId).workbook,
      asset_name: name,
      description: description ? `${description}\n${how}` : how,
      content_type: 'application/json',
      content: { sheets: Object.fromEntries(sheets), source: ref },
    },
    8,
  )
  const references = [assetId, ...made.map(({ table }) => table.assetId)]
  const id = derivedIds(assetId).workbook
  return { ...encoded, assetId: id, attributes: { ...encoded.attributes, references } }
}

async function writtenFrom(
  { asset, format, open, duckdb }: TableFile,
  { name, namespace, signal, onProgress }: ImportOptions,
): Promise<WrittenTable[]> {
  if (format === 'parquet' || format === 'arrow' || format === 'xlsx') {
    return byProcess(format, { name, open }, { signal, namespace })
  }
  const { size } = asset
  let phase: 'reading' | 'writing' = 'reading'
  const onRead = onProgress && ((bytes: number) => onProgress({ phase, bytes, size }))
  const isLarge = duckdb && hasDuckdb() && size >= WORTH_BYTES
  if (isLarge && (format === 'csv' || format === 'tsv')) {
    const onPart = (part: number): void => onRead?.(Math.round(part * size))
    const file = { name, open, size }
    const written = await byProcess(format, file, { signal, namespace, onProgress: onPart })
    if (written.length > 0) return written
  }
  const encoding = await textEncodingOf(await open())
  const openCounted = async () => {
    let bytes = 0
    const onChunk = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength
      onRead?.(bytes)
    }
    return meterStream(await open(), { onChunk, signal }).stream
  }
  const input = readTable({ name, size, encoding, open: openCounted }, format)
  const written = await writeTable(input, () => {
    phase = 'writing'
  })
  return written ? [written] : []
}

/** Returns the table in a text file, which can be read repeatedly. */
function readTable(source: TableSource, format: TextTableFormat): TableInput {
  switch (format) {
    case 'json':
      return readJsonTable(source)
    case 'ndjson':
      return readNdjsonTable(source)
    default:
      return readCsvTable(source, format)
  }
}

/**
 * Reads the tables of a file with a library in a separate process, because the file decides how much memory that takes.
 */
async function byProcess(
  type: Exclude<TableTask['type'], 'query' | 'text'>,
  { name, size = 0, open }: Pick<TableFile, 'open'> & { name: string; size?: number },
  options: TableTaskOptions,
): Promise<WrittenTable[]> {
  try {
    return await runTableTask(async (folder) => {
      const path = join(folder, type === 'parquet' ? RESULT : 'source')
      await writeBody(await open(), path)
      return { type, folder, name, path, size }
    }, options)
  } catch (error) {
    if (!(error instanceof OutOfMemoryError)) throw error
    const reason =
      type === 'xlsx'
        ? 'it is too large for a spreadsheet: save it as CSV.'
        : 'it exceeds the memory limit for a table: split it.'
    throw broken({ name }, null, reason, error)
  }
}
