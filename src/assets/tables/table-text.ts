import { peek } from '../bodies/body.ts'
import { headText, SNIFF_BYTES } from '../bodies/sniff.ts'
import { TableError } from './table-error.ts'

/** Where a table's file can be read, from its beginning, as often as needed. */
export interface TableSource {
  name: string
  size: number
  open(): Promise<ReadableStream<Uint8Array>>
}

/** The longest text of one record; a quote or a line that never ends must not take the memory. */
export const MAX_RECORD = 16 * 1024 * 1024

/** An open file as text. */
export interface TableText {
  /** How it begins, up to 64 KiB. */
  head: string
  /** All of it; the file is closed when they end or are left. */
  chunks: AsyncGenerator<string>
  /** Closes a file whose chunks nobody began to read. */
  cancel(): Promise<void>
}

/** The file's text, chunk by chunk: UTF-8, UTF-16 with its mark, else Windows-1252. */
export async function openText(source: TableSource): Promise<TableText> {
  const { head, complete, body } = await peek(await source.open(), SNIFF_BYTES)
  const encoding = headText(head, complete)?.encoding ?? 'windows-1252'
  async function* chunks(): AsyncGenerator<string> {
    const decoder = new TextDecoder(encoding)
    for await (const chunk of body as ReadableStream<Uint8Array>) {
      yield decoder.decode(chunk, { stream: true })
    }
    yield decoder.decode()
  }
  return {
    head: new TextDecoder(encoding).decode(head, { stream: true }),
    chunks: chunks(),
    cancel: () => (body as ReadableStream<Uint8Array>).cancel(),
  }
}

/** The line, from 1, that the byte of the file's text as UTF-8 belongs to. */
export async function lineAt(source: TableSource, byte: number): Promise<number> {
  const { chunks } = await openText(source)
  let line = 1
  let at = 0
  for await (const chunk of chunks) {
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
  { name }: TableSource,
  line: number | null,
  reason: string,
  cause?: unknown,
): TableError {
  return new TableError({ name, line, reason }, { cause })
}
