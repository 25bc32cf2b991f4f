import { nodeBuiltin } from '../../node-builtin.ts'
import { JsonWalker } from '../json/json-walker.ts'
import { peek } from './body.ts'
import { essenceOf, mimeTypeOfName, normalizeMimeType, readsAsText } from './mime-type.ts'
import { markedEncoding, textIn } from './text-encoding.ts'

const { isUtf8 } = nodeBuiltin('node:buffer')

/** Information about a body in addition to its first bytes. */
export interface SniffHints {
  /** The type that the caller claims; rejected if it is not a MIME type. */
  claim?: string | null
  /** The file's name. Its extension is used if neither the bytes nor the claim determine the type. */
  name?: string | null
  /** Whether `head` is the whole body. */
  complete?: boolean
}

/** Number of bytes that are examined: enough for a DOCX with late parts, and few enough for every upload. */
export const SNIFF_BYTES = 64 * 1024

const UNKNOWN = 'application/octet-stream'

/** Claims that are more specific than the detected type, by detected type. */
const FINER: Record<string, RegExp> = {
  'application/zip':
    /^application\/(vnd\.(openxmlformats|oasis|ms-|android|google-earth\.kmz|apple)|epub|java-archive|x-xpinstall|.*\+zip$)/,
  'application/x-cfb': /^application\/(msword|vnd\.ms-|vnd\.visio|x-msi)/,
  'application/gzip': /^application\/(x-gtar|x-tgz|.*\+gzip$)/,
  'application/json': /(\+json|\/x-ndjson)$/,
  'application/xml': /(\+xml|\/xml-dtd)$/,
  'text/html': /^application\/xhtml\+xml$/,
  'video/webm': /^audio\/webm$/,
  'video/x-matroska': /^(audio\/x-matroska|video\/webm|audio\/webm)$/,
  'video/mp4': /^(audio\/mp4|video\/x-m4v|video\/quicktime)$/,
  'video/ogg': /^audio\/ogg$/,
  'application/ogg': /^(audio|video)\/ogg$/,
  'audio/ogg': /^audio\/opus$/,
}

/**
 * Returns the type of a body. The order is: a claim that is more specific than the detected type, the detected type,
 * the claim, the type of the name's extension, and `application/octet-stream`.
 *
 * @throws ByrefError `asset_invalid` if the claim is not a MIME type
 */
export async function sniff(head: Uint8Array, hints: SniffHints = {}): Promise<string> {
  const claim = hints.claim ? normalizeMimeType(hints.claim) : null
  const named = hints.name ? await mimeTypeOfName(hints.name) : null
  const detected = await detect(head, hints.complete ?? true)
  const candidates = [claim, named].filter((type) => type !== null)
  if (detected !== null) {
    const finer = candidates.find((type) => FINER[detected]?.test(essenceOf(type)))
    // An image's declared type says nothing about its bytes.
    if (finer === undefined && detected.startsWith('image/')) return detected
    return finer ?? candidates.find((type) => essenceOf(type) === detected) ?? detected
  }
  if (claim === null || (named !== null && isVague(claim, named))) return named ?? UNKNOWN
  return claim
}

/**
 * Returns the text of a body's head, if it is UTF-8, or UTF-16 with a byte order mark, without control characters.
 * Otherwise null.
 */
export function headText(
  head: Uint8Array,
  complete: boolean,
): { text: string; encoding: string } | null {
  const encoding = markedEncoding(head)
  // This check is faster than a failing decoder.
  if (complete && encoding === 'utf-8' && !isUtf8(head)) return null
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: !complete })
    return CONTROL.test(text) ? null : { text, encoding }
  } catch {
    return null
  }
}

/**
 * Returns the text of a body, by its type, or else by its first bytes. If it is not text, returns null and cancels the
 * stream.
 */
export async function textOfBody(
  stream: ReadableStream<Uint8Array>,
  mime: string,
): Promise<AsyncIterable<string> | null> {
  if (readsAsText(mime)) return textIn(stream)
  const { head, complete, body } = await peek(stream, SNIFF_BYTES)
  if (headText(head, complete)) return textIn(body)
  await body.cancel()
  return null
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: their absence is what makes it text
const CONTROL = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/

async function detect(head: Uint8Array, complete: boolean): Promise<string | null> {
  if (head.byteLength === 0) return null
  const found = headText(head, complete)
  if (found) return detectText(found.text.trimStart(), found.encoding, head, complete)
  return detectBytes(head)
}

async function detectBytes(head: Uint8Array): Promise<string | null> {
  // Loaded with the first body, because many programs import byref and never save one.
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(head).catch(() => undefined)
  if (found) return normalizeMimeType(essenceOf(found.mime))
  // file-type also reads the chunks after the signature, to find animated images. They may be damaged.
  return PNG.every((byte, i) => head[i] === byte) ? 'image/png' : null
}

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Returns the type that well-formed text can have. A text file that starts with `BM` is not a bitmap. */
async function detectText(text: string, encoding: string, head: Uint8Array, complete: boolean) {
  if (/^[[{]/.test(text) && !text.startsWith('{\\rtf')) {
    if (encoding !== 'utf-8') return null
    if (isJsonStart(text, complete)) return 'application/json'
    return isNdjsonStart(text, complete) ? 'application/x-ndjson' : null
  }
  if (text.startsWith('<')) return detectMarkup(text)
  return /^(%PDF-|%!PS|\{\\rtf|BEGIN:V|WEBVTT)/.test(text) ? detectBytes(head) : null
}

async function detectMarkup(text: string): Promise<string | null> {
  const body = text.replace(/^(?:<!--[\s\S]*?-->\s*)+/, '')
  if (/^<!doctype\s+html|^<html[\s>]/i.test(body)) {
    return /^<\?xml|xmlns=["']http:\/\/www\.w3\.org\/1999\/xhtml/.test(body.slice(0, 2000))
      ? 'application/xhtml+xml'
      : 'text/html'
  }
  const { XmlTextDetector } = await import('@file-type/xml')
  const detector = new XmlTextDetector()
  detector.write(text)
  if (detector.fileType) return normalizeMimeType(detector.fileType.mime)
  return text.startsWith('<?xml') ? 'application/xml' : null
}

/**
 * Returns whether the claim says less than the file's name: "bytes", "text", the type that some systems use for every
 * table, or a type derived from the extension of source code.
 */
function isVague(claim: string, named: string): boolean {
  const essence = essenceOf(claim)
  if (essence === UNKNOWN || essence === 'binary/octet-stream') return true
  if (named === 'text/plain' && /^(video\/mp2t|application\/rls-services\+xml)$/.test(essence)) {
    return true
  }
  if (essence === 'text/plain') return named.startsWith('text/') || /[+/]json$/.test(named)
  return essence === 'application/vnd.ms-excel' && named !== essence && named.startsWith('text/')
}

/** Returns whether text can be the beginning of one JSON value or, if it is complete, is one. */
function isJsonStart(text: string, complete: boolean): boolean {
  if (complete) return isJson(text)
  try {
    new JsonWalker({}).write(text)
    return true
  } catch {
    return false
  }
}

/** Returns whether text can be the beginning of newline-delimited JSON with at least two lines. */
function isNdjsonStart(text: string, complete: boolean): boolean {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  if (complete && last.trim() !== '') lines.push(last)
  const values = lines.filter((line) => line.trim() !== '')
  return values.length >= 2 && values.every((line) => /^\s*[[{]/.test(line) && isJson(line))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
