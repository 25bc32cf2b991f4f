/** The encodings that byref reads text in; the last where bytes are no UTF-8 and have no mark (WHATWG Encoding). */
export type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** What the first bytes say by their mark: UTF-16, else UTF-8, which needs none. */
export function markedEncoding(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

/** How a text is encoded, by all of its bytes, which are read to their end where they have no mark. */
export async function textEncodingOf(bytes: AsyncIterable<Uint8Array>): Promise<TextEncodingName> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let head: Uint8Array = new Uint8Array()
  try {
    for await (const chunk of bytes) {
      if (head.byteLength < 2) {
        head = Buffer.concat([head, chunk.subarray(0, 2)])
        const marked = markedEncoding(head)
        if (marked !== 'utf-8') return marked
      }
      decoder.decode(chunk, { stream: true })
    }
    decoder.decode()
    return 'utf-8'
  } catch (error) {
    if (error instanceof TypeError) return 'windows-1252'
    throw error
  }
}

/** The text of bytes, chunk by chunk, without its mark. The bytes' source is left when the text is. */
export async function* decodedText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: TextEncodingName,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
