import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { AssetInfo, ImportOptions } from '../assets-contract.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { writeByDuckdb } from './duckdb-csv.ts'
import { readParquetTable } from './parquet-table.ts'
import { readTable, type TextTableFormat, tableFormat } from './read-table.ts'
import { saveTable } from './save-table.ts'
import { TableError } from './table-error.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** What is needed to make tables. */
export interface TableMakerParts extends Pick<AssetWriter, 'saveEncoded'> {
  /** Reads a file that was saved, as often as it is asked. */
  open(asset: AssetInfo, options: NamespaceOption): Promise<ReadableStream<Uint8Array>>
  /** Whether DuckDB is used where it is installed. */
  duckdb: boolean
}

/** The half of `importFile` that makes a table of the file that was saved; null where it is none. */
export function createTableMaker({ saveEncoded, open, duckdb }: TableMakerParts) {
  async function writtenFrom(
    asset: AssetInfo,
    format: TextTableFormat,
    options: ImportOptions,
  ): Promise<WrittenTable | null> {
    const { namespace, name, onProgress } = options
    const { size } = asset
    let phase: 'reading' | 'writing' = 'reading'
    const openCounted = async (): Promise<ReadableStream<Uint8Array>> => {
      const stream = await open(asset, { namespace })
      if (!onProgress) return stream
      return countBytes(stream, (bytes) => onProgress({ phase, bytes, size }))
    }
    const attempt =
      duckdb && (format === 'csv' || format === 'tsv')
        ? await writeByDuckdb({ name, size, open: openCounted }, format, options.signal)
        : null
    if (attempt?.written) return attempt.written
    const encoding = attempt?.encoding ?? (await textEncodingOf(await open(asset, { namespace })))
    const input = readTable({ name, size, encoding, open: openCounted }, format)
    return writeTable(input, () => {
      phase = 'writing'
    })
  }

  function saveAs(asset: AssetInfo, written: WrittenTable, options: ImportOptions) {
    const { by, tool, toolCallId, origin, namespace, expiresAt, signal, name, description } =
      options
    const maker = { by, tool, toolCallId, origin, namespace, expiresAt, signal }
    const references = [asset.assetId]
    return saveTable(saveEncoded, written, {
      ...maker,
      name,
      description,
      source: asset.ref,
      references,
    })
  }

  return async function makeTable(
    asset: AssetInfo,
    options: ImportOptions,
  ): Promise<AssetInfo | null> {
    const format = tableFormat(asset.mime)
    if (format === null) return null
    try {
      const written =
        format === 'parquet'
          ? await readParquetTable(await open(asset, options), options.name)
          : await writtenFrom(asset, format, options)
      return written && (await saveAs(asset, written, options))
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    }
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
