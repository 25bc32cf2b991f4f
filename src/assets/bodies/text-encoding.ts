import { chunksOf, peek } from './body.ts'

/**
 * The encodings that byref reads. The last one is for bytes that are not UTF-8 and have no byte order mark (WHATWG
 * Encoding).
 */
export type TextEncodingName = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Returns the encoding by the byte order mark: UTF-16, or else UTF-8, which needs none. */
export function markedEncoding(head: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

/** Returns whether bytes begin with the byte order mark of UTF-8. */
export function hasUtf8Mark(head: Uint8Array): boolean {
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
}

const BEYOND_ASCII = /[\u0080-\uffff]/

/**
 * Detects the encoding of a text. Without a byte order mark, all bytes are read. UTF-8 may end in the middle of a
 * character, as in a download that was cut, if it has other characters beyond ASCII.
 */
export async function textEncodingOf(bytes: AsyncIterable<Uint8Array>): Promise<TextEncodingName> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let head: Uint8Array = new Uint8Array()
  let isAscii = true
  try {
    for await (const chunk of bytes) {
      if (head.byteLength < 2) {
        head = Buffer.concat([head, chunk.subarray(0, 2)])
        const marked = markedEncoding(head)
        if (marked !== 'utf-8') return marked
      }
      const text = decoder.decode(chunk, { stream: true })
      isAscii &&= !BEYOND_ASCII.test(text)
    }
    if (isAscii) decoder.decode()
    return 'utf-8'
  } catch (error) {
    if (error instanceof TypeError) return 'windows-1252'
    throw error
  }
}

/** Bytes at the beginning of a text that decide its encoding. */
export const HEAD_BYTES = 64 * 1024

/**
 * Decodes text in UTF-8, in UTF-16 with a byte order mark, or else in Windows-1252. `isWhole` is false for the beginning of
 * a text, which may end in the middle of a character.
 */
export function decodeText(bytes: Uint8Array, { isWhole = true } = {}): string {
  return new TextDecoder(headEncoding(bytes, { isWhole })).decode(bytes, { stream: !isWhole })
}

/** Decodes a stream like {@link decodeText}, chunk by chunk. The first 64 KiB decide the encoding. */
export async function* textIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const { head, body, complete } = await peek(stream, HEAD_BYTES)
  yield* decodedText(chunksOf(body), headEncoding(head, { isWhole: complete }))
}

/** Returns the encoding of a text by its first bytes, which are the whole text or may end in the middle of a character. */
export function headEncoding(
  head: Uint8Array,
  { isWhole }: { isWhole: boolean },
): TextEncodingName {
  const marked = markedEncoding(head)
  if (marked !== 'utf-8') return marked
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

/** Decodes bytes chunk by chunk, without the byte order mark. Leaving the text also leaves the source. */
export async function* decodedText(
  bytes: AsyncIterable<Uint8Array>,
  encoding: TextEncodingName,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
