import type { Context } from 'hono'
import { ByrefError } from '../../errors.ts'

/** Bytes of one line of an import. */
const MAX_LINE = 64 * 1024 * 1024

/**
 * The lines of a body of text as it comes, each ended by `\n`.
 *
 * @throws ByrefError `bad_request` without a body, `body_too_large` for a line above 64 MiB
 */
export async function* bodyLines(c: Context): AsyncGenerator<string> {
  const { body } = c.req.raw
  if (!body) throw new ByrefError('bad_request', 'The body of the request must be the export')
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let open: string[] = []
  let size = 0
  for await (const chunk of body) {
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
      throw new ByrefError('body_too_large', `A line of an import has at most ${MAX_LINE} bytes`)
    }
  }
  const rest = open.join('')
  if (rest !== '') yield `${rest}\n`
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: true })
  } catch (cause) {
    throw new ByrefError('bad_request', 'An export is UTF-8', { cause })
  }
}
