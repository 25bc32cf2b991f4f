import { join } from 'node:path'
import type { AssetInfo } from '../asset-info.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { ImportOptions } from '../assets-contract.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { readCsvTable } from './csv-table.ts'
import { hasDuckdb, WORTH_BYTES } from './has-duckdb.ts'
import { readJsonTable, readNdjsonTable } from './json-table.ts'
import { saveTable } from './save-table.ts'
import { type Spool, writeBody } from './spool.ts'
import type { TableInput } from './table.ts'
import type { TableFormat, TextTableFormat } from './table-format.ts'
import { OutOfMemoryError, runTableTask, type TableTaskOptions } from './table-process.ts'
import { RESULT, type TableTask } from './table-task.ts'
import { broken, type TableSource } from './table-text.ts'
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
  if (format === 'parquet' || format === 'arrow' || format === 'xlsx') {
    return byProcess(format, { name, path: null, open }, { signal })
  }
  const { size } = asset
  let phase: 'reading' | 'writing' = 'reading'
  const onRead = onProgress && ((bytes: number) => onProgress({ phase, bytes, size }))
  const isLarge = duckdb && hasDuckdb() && size >= WORTH_BYTES
  if (isLarge && (format === 'csv' || format === 'tsv')) {
    const path = aside && (await aside.path())
    const written = await byProcess(
      format,
      { name, path, open, size },
      {
        signal,
        onProgress: (part) => onRead?.(Math.round(part * size)),
      },
    )
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

/** A file for a table process. */
interface TaskFile extends Pick<TableFile, 'open'> {
  name: string
  /** Where it lies already; null where it is to be opened. */
  path: string | null
  size?: number
}

/** The table of a file that is read in a process of its own: by a library, whatever memory the file makes it take. */
async function byProcess(
  type: Exclude<TableTask['type'], 'query'>,
  { name, size = 0, path: known, open }: TaskFile,
  options: TableTaskOptions,
): Promise<WrittenTable | null> {
  try {
    return await runTableTask(async (folder) => {
      const path = known ?? join(folder, type === 'parquet' ? RESULT : 'source')
      if (known === null) await writeBody(await open(), path)
      return { type, folder, name, path, size }
    }, options)
  } catch (error) {
    if (!(error instanceof OutOfMemoryError)) throw error
    const reason =
      type === 'xlsx'
        ? 'it is too large for a spreadsheet: save it as CSV.'
        : 'it takes more memory than one table may: split it.'
    throw broken({ name }, null, reason, error)
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
