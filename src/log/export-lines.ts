import { ByrefError } from '../core/errors.ts'

/** Maximum length of one line, in characters. */
const MAX_LINE = 64 * 1024 * 1024

/**
 * Splits the bytes of an export into lines. Only a line feed ends a line. `node:readline` would also split at U+2028,
 * which JSON may contain.
 *
 * @throws ByrefError `bad_request` for bytes that are not UTF-8, `body_too_large` for a line above 64 MiB
 */
export async function* exportLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let open: string[] = []
  let size = 0
  for await (const chunk of bytes) {
    const lines = decode(decoder, chunk).split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      yield `${open.join('')}${line}\n`
      open = []
      size = 0
    }
    open.push(last)
    size += last.length
    if (size > MAX_LINE) {
      throw new ByrefError(
        'body_too_large',
        `A line of the import is longer than ${MAX_LINE} characters`,
      )
    }
  }
  const rest = open.join('')
  if (rest !== '') yield `${rest}\n`
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new ByrefError('bad_request', 'The import is not valid UTF-8', { cause })
  }
}
