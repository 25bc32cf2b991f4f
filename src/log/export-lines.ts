import { ByrefError } from '../core/errors.ts'
import { LineSplitter } from '../core/line-splitter.ts'

/** Maximum length of one line, in characters. */
const MAX_LINE = 64 * 1024 * 1024

/**
 * Splits the bytes of an export into lines, each with its line feed.
 *
 * @throws ByrefError `bad_request` for bytes that are not UTF-8, `body_too_large` for a line above 64 MiB
 */
export async function* exportLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const splitter = new LineSplitter()
  for await (const chunk of bytes) {
    for (const line of splitter.push(decode(decoder, chunk))) yield `${line}\n`
    if (splitter.length > MAX_LINE) {
      throw new ByrefError(
        'body_too_large',
        `A line of the import is longer than ${MAX_LINE} characters`,
      )
    }
  }
  if (splitter.length > 0) yield `${splitter.end()}\n`
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new ByrefError('bad_request', 'The import is not valid UTF-8', { cause })
  }
}
