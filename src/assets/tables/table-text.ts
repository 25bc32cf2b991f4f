import { peek } from '../bodies/body.ts'
import { decodedText, type TextEncodingName } from '../bodies/text-encoding.ts'
import { MAX_COLUMNS } from './table.ts'
import { TableError } from './table-error.ts'

/** Where a table's file can be read, from its beginning, as often as needed. */
export interface TableSource {
  name: string
  /** Bytes of the file. */
  size: number
  encoding: TextEncodingName
  open(): Promise<ReadableStream<Uint8Array>>
}

/** The longest text of one record; a quote or a line that never ends must not take the memory. */
export const MAX_RECORD = 64 * 1024 * 1024

/** As much of a file as its form is told by. */
const HEAD_BYTES = 64 * 1024

/** How the file begins, up to 64 KiB. */
export async function headOf(source: TableSource): Promise<string> {
  const { head, body } = await peek(await source.open(), HEAD_BYTES)
  await (body as ReadableStream<Uint8Array>).cancel()
  return new TextDecoder(source.encoding).decode(head, { stream: true })
}

/** The file's text, chunk by chunk; the file is opened with the first. */
export async function* textOf(source: TableSource): AsyncGenerator<string> {
  yield* decodedText(await source.open(), source.encoding)
}

/** The line, from 1, that the byte of the file's text as UTF-8 belongs to. */
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

/** The error of a file that cannot be read as a table. */
export function broken(
  { name }: Pick<TableSource, 'name'>,
  line: number | null,
  reason: string,
  cause?: unknown,
): TableError {
  return new TableError({ name, line, reason }, { cause })
}

/** The error of a table with more columns than one may have. */
export function tooWide(source: Pick<TableSource, 'name'>, columns: number): TableError {
  const most = MAX_COLUMNS.toLocaleString('en')
  const reason = `it has ${columns.toLocaleString('en')} columns, and a table has at most ${most}: write them as rows.`
  return broken(source, 1, reason)
}
