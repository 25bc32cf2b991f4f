import type { AssetInfo } from '../asset-info.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { ImportOptions } from '../assets-contract.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { readCsvTable } from './csv-table.ts'
import { writeByDuckdb } from './duckdb-csv.ts'
import { readJsonTable, readNdjsonTable } from './json-table.ts'
import { readParquetTable } from './parquet-table.ts'
import { saveTable } from './save-table.ts'
import { type Spool, spoolFrom } from './spool.ts'
import type { TableInput } from './table.ts'
import type { TableFormat, TextTableFormat } from './table-format.ts'
import type { TableSource } from './table-text.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** A file that was saved, to become a table. */
export interface TableFile {
  asset: AssetInfo
  format: TableFormat
  /** Reads it, as often as it is asked. */
  open(): Promise<ReadableStream<Uint8Array>>
  /** Its bytes, where they were laid aside when it was saved. */
  aside: Spool | null
}

/** Saves the table that a file is; null for what turns out to be none. */
export async function importTable(
  { saveEncoded, duckdb }: Pick<AssetWriter, 'saveEncoded'> & { duckdb: boolean },
  file: TableFile,
  options: ImportOptions,
): Promise<AssetInfo | null> {
  const { by, tool, toolCallId, origin, namespace, expiresAt, signal, name, description } = options
  const written = await writtenFrom(file, options, duckdb)
  if (!written) return null
  const maker = { by, tool, toolCallId, origin, namespace, expiresAt, signal }
  const about = { name, description, source: file.asset.ref, references: [file.asset.assetId] }
  return saveTable(saveEncoded, written, { ...maker, ...about })
}

async function writtenFrom(
  { asset, format, open, aside }: TableFile,
  { name, signal, onProgress }: ImportOptions,
  duckdb: boolean,
): Promise<WrittenTable | null> {
  if (format === 'parquet') return readParquetTable(await open(), name)
  if (format === 'arrow' || format === 'xlsx') return fromFile(format, { name, open })
  const { size } = asset
  let phase: 'reading' | 'writing' = 'reading'
  const onRead = onProgress && ((bytes: number) => onProgress({ phase, bytes, size }))
  if (duckdb && (format === 'csv' || format === 'tsv')) {
    const written = await writeByDuckdb({ name, size, open, format, aside }, { signal, onRead })
    if (written) return written
  }
  const encoding = await textEncodingOf(await open())
  const openCounted = async () =>
    countBytes(await open(), (bytes) => {
      signal?.throwIfAborted()
      onRead?.(bytes)
    })
  const input = readTable({ name, size, encoding, open: openCounted }, format)
  return writeTable(input, () => {
    phase = 'writing'
  })
}

/** A table in a file of text, to be read as often as needed. */
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

/** A table of a form that is no text, and is read from a file. */
async function fromFile(
  format: 'arrow' | 'xlsx',
  { name, open }: Pick<TableFile, 'open'> & { name: string },
): Promise<WrittenTable | null> {
  const read =
    format === 'arrow'
      ? (await import('./arrow-table.ts')).readArrowTable
      : (await import('./xlsx-table.ts')).readXlsxTable
  const spool = await spoolFrom(await open())
  try {
    return await writeTable(read({ name, path: await spool.path() }))
  } finally {
    await spool.dispose()
  }
}

function countBytes(
  stream: ReadableStream<Uint8Array>,
  tell: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let bytes = 0
  return stream.pipeThrough(
    new TransformStream({
      transform(chunk, controller) {
        bytes += chunk.byteLength
        tell(bytes)
        controller.enqueue(chunk)
      },
    }),
  )
}
