import { ByrefError } from '../../core/errors.ts'
import { type OptionalPeer, optionalPeer } from '../../optional-peer.ts'
import { peek } from '../bodies/body.ts'
import { decodedText, HEAD_BYTES, type TextEncodingName } from '../bodies/text-encoding.ts'
import type { ColumnReader } from './column.ts'
import { broken, TableError } from './table-error.ts'

/** The file of a table, which can be read repeatedly. */
export interface TableSource {
  name: string
  /** Size of the file in bytes. */
  size: number
  encoding: TextEncodingName
  open(): Promise<ReadableStream<Uint8Array>>
}

/** Maximum size of one record, so that an unclosed quote or an endless line does not fill the memory. */
export const MAX_RECORD = 64 * 1024 * 1024

/** Returns the beginning of the file, up to 64 KiB. */
export async function headOf(source: TableSource): Promise<string> {
  const { head, body } = await peek(await source.open(), HEAD_BYTES)
  await body.cancel()
  return new TextDecoder(source.encoding).decode(head, { stream: true })
}

/** Yields the file's text, chunk by chunk. The file is opened with the first chunk. */
export async function* textOf(source: TableSource): AsyncGenerator<string> {
  yield* decodedText(await source.open(), source.encoding)
}

/** Returns the line, from 1, of a byte offset in the file's text as UTF-8. */
export async function lineAt(source: TableSource, byte: number): Promise<number> {
  let line = 1
  let at = 0
  for await (const chunk of textOf(source)) {
    for (const char of chunk) {
      if (at >= byte) return line
      if (char === '\n') line++
      at += Buffer.byteLength(char)
    }
  }
  return line
}

/** Number of cells that a table may have, however sparse it is. */
const MAX_SPARSE = 1_000_000

/**
 * Rejects sparse tables, because a small file could become a huge one. Called with the number of columns so far, and of
 * the rows and cells since the last call.
 */
export function checkDense(
  source: Pick<TableSource, 'name'>,
  reason: string,
): (columns: number, rows: number, cells: number) => void {
  let count = 0
  let filled = 0
  return (columns, rows, cells) => {
    count += rows
    filled += cells
    const size = count * columns
    if (size > MAX_SPARSE && size > filled * 10) throw broken(source, null, reason)
  }
}

/** A table that can be read repeatedly from a file. */
export interface TableInput {
  /** One for each column so far. The reader of the rows must pass each column its cells. */
  readonly columns: readonly ColumnReader[]
  /**
   * Yields all rows in order, in batches. Cells are in the order of the columns; missing cells at the end are left out.
   * Null if the file turns out not to be a table.
   */
  batches(): AsyncIterable<readonly (readonly unknown[])[] | null>
}

/** Number of rows in a batch. */
export const BATCH_ROWS = 256

/**
 * Loads a library that reads tables of some format.
 *
 * @throws TableError if it is not installed; the file itself is kept
 */
export async function tableLibrary<Name extends OptionalPeer>(
  specifier: Name,
  { name, purpose }: { name: string; purpose: string },
) {
  try {
    return await optionalPeer(specifier, purpose)
  } catch (error) {
    if (!(error instanceof ByrefError)) throw error
    throw new TableError({ name, line: null, reason: error.message }, { cause: error })
  }
}
