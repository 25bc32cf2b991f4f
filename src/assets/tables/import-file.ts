import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { AssetInfo, Assets, ImportOptions } from '../assets-contract.ts'
import { type BodyInput, takeBody } from '../bodies/body-input.ts'
import { mimeTypeOfName } from '../bodies/mime-type.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { writeByDuckdb } from './duckdb-csv.ts'
import { layAside } from './lay-aside.ts'
import { readParquetTable } from './parquet-table.ts'
import { readTable, type TextTableFormat, tableFormat } from './read-table.ts'
import { saveTable } from './save-table.ts'
import type { Spool } from './spool.ts'
import { TableError } from './table-error.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** What an importer works with; `open` reads a file that was saved, as often as it is asked. */
export interface ImporterParts extends Pick<AssetWriter, 'save' | 'saveEncoded'> {
  open(asset: AssetInfo, options: NamespaceOption): Promise<ReadableStream<Uint8Array>>
  /** Whether DuckDB is used where it is installed. */
  duckdb: boolean
}

/** `importFile`. */
export function createImporter({
  save,
  saveEncoded,
  open,
  duckdb,
}: ImporterParts): Assets['importFile'] {
  /** Saves the file; of what may be a large CSV, its bytes are laid aside for DuckDB. */
  async function saveFile(
    body: BodyInput,
    options: ImportOptions,
  ): Promise<{ asset: AssetInfo; aside: Spool | null }> {
    const named = [options.mime, mimeTypeOfName(options.name)].map(
      (mime) => mime && tableFormat(mime),
    )
    const taken = duckdb && named.some(isSeparated) ? takeBody(body, true) : null
    if (!(taken?.body instanceof ReadableStream)) {
      return { asset: await save(body, options.mime, options), aside: null }
    }
    const aside = layAside(taken.body, options.signal)
    try {
      const asset = await save(aside.stream, options.mime ?? taken.mime, options)
      return { asset, aside: await aside.take() }
    } catch (error) {
      await (await aside.take())?.dispose()
      throw error
    }
  }

  async function writtenFrom(
    { asset, aside }: { asset: AssetInfo; aside: Spool | null },
    format: TextTableFormat,
    options: ImportOptions,
  ): Promise<WrittenTable | null> {
    const { namespace, name, signal, onProgress } = options
    const { size } = asset
    let phase: 'reading' | 'writing' = 'reading'
    const onRead = onProgress && ((bytes: number) => onProgress({ phase, bytes, size }))
    const read = () => open(asset, { namespace })
    if (duckdb && isSeparated(format)) {
      const file = { name, size, open: read, format, aside }
      const written = await writeByDuckdb(file, { signal, onRead })
      if (written) return written
    }
    const encoding = await textEncodingOf(await read())
    const openCounted = async () => (onRead ? countBytes(await read(), onRead) : read())
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

  return async function importFile(body, options) {
    const { asset, aside } = await saveFile(body, options)
    try {
      const format = tableFormat(asset.mime)
      if (format === null) return { asset, table: null }
      const written =
        format === 'parquet'
          ? await readParquetTable(await open(asset, options), options.name)
          : await writtenFrom({ asset, aside }, format, options)
      return { asset, table: written && (await saveAs(asset, written, options)) }
    } catch (error) {
      if (!(error instanceof TableError)) throw error
      const { line, reason, cause } = error
      throw new TableError({ name: options.name, line, reason, asset }, { cause })
    } finally {
      await aside?.dispose()
    }
  }
}

function isSeparated(format: unknown): format is 'csv' | 'tsv' {
  return format === 'csv' || format === 'tsv'
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
