import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { parseMimeType } from './mime-type.ts'

const { constants } = nodeBuiltin('node:buffer')

/** A data URL, taken apart; `data` is still encoded. */
export interface DataUrl {
  /** The type with its parameters; null where the URL has none, which means text. */
  mime: string | null
  base64: boolean
  data: string
}

/** Longer headers are no data URLs; keeps hostile text linear. */
const MAX_HEADER = 300

/** What a string can hold, with room for what stands before the base64 of a data URL. */
const MAX_LENGTH = constants.MAX_STRING_LENGTH - 1000

/**
 * A data URL over bytes.
 *
 * @throws ByrefError `asset_too_large` as {@link base64Of}
 */
export function dataUrlOf(bytes: Uint8Array, mime: string): string {
  return `data:${mime.replace(/;\s+/g, ';')};base64,${base64Of(bytes)}`
}

/**
 * Base64 of bytes, without line breaks.
 *
 * @throws ByrefError `asset_too_large` where a string cannot hold it: beyond about 400 MB
 */
export function base64Of(bytes: Uint8Array): string {
  if (!fitsText(bytes.byteLength)) throw tooLarge(bytes.byteLength)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Whether a string can hold so many bytes as base64, and as a data URL. */
export function fitsText(byteLength: number): boolean {
  return Math.ceil(byteLength / 3) * 4 <= MAX_LENGTH
}

/** Whether the text can hold a data URL at all: cheap, for the many that do not. */
export function mayHoldDataUrl(text: string): boolean {
  return text.length > 5 && text.includes(':') && /data:/i.test(text)
}

/** The data URL that a text is where it can be nothing else: everything behind its header is data, spaces too. */
export function readDataUrl(text: string): DataUrl | null {
  const url = text.trim()
  const header = dataUrlHeader(url, 0)
  return header && { ...header, data: url.slice(header.end) }
}

/**
 * The data URL that the whole text is (RFC 2397), or null. A `data:` that is followed by anything but a media type, a
 * comma or `;base64` is no data URL, nor is text that goes on after one: only base64 in lines and markup may hold white
 * space.
 */
export function parseDataUrl(text: string): DataUrl | null {
  const url = readDataUrl(text)
  return url && (url.base64 ? isInLines(url.data) : isUrlText(url.data)) ? url : null
}

/**
 * The bytes of a data URL's data; null when it does not decode. Lines may have any length: the first begins with the
 * header.
 */
export function decodeDataUrl({ base64, data }: DataUrl): Uint8Array<ArrayBuffer> | null {
  if (!base64) return percentDecode(data)
  const text = data.includes('%') ? Buffer.from(percentDecode(data)).toString() : data
  return decodeBase64(/\s/.test(text) ? linesOf(text).join('') : text)
}

/**
 * The bytes of base64, plain or URL-safe, with or without padding; null for anything else. White space may stand around
 * it, and may break it into lines of one length, as in mail and PEM.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = decodeStrictly(text)
  if (bytes || !/\s/.test(text)) return bytes
  const line = joinLines(text)
  return line === null ? null : decodeStrictly(line)
}

/** Node's decoder skips what is no base64, so that a shorter result shows it. */
function decodeStrictly(text: string): Uint8Array<ArrayBuffer> | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - padding
  if (length % 4 === 1 || (padding > 0 && (length + padding) % 4 !== 0)) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.byteLength !== Math.floor((length * 3) / 4)) return null
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** What stands before the data of a data URL, and where the data begins; null where no data URL starts. */
export function dataUrlHeader(
  text: string,
  start: number,
): { mime: string | null; base64: boolean; end: number } | null {
  if (text.slice(start, start + 5).toLowerCase() !== 'data:') return null
  const comma = text.slice(start + 5, start + 5 + MAX_HEADER).indexOf(',')
  if (comma < 0) return null
  const header = text.slice(start + 5, start + 5 + comma)
  const end = start + 5 + comma + 1
  const flag = /;\s*base64\s*$/i.exec(header)
  const type = flag ? header.slice(0, flag.index) : header
  const base64 = flag !== null
  if (type === '') return { mime: null, base64, end }
  if (/^\s/.test(type)) return null
  const full = type.startsWith(';') ? `text/plain${type}` : type
  return parseMimeType(full) ? { mime: full, base64, end } : null
}

/** Whether white space in base64 only breaks it into lines. */
function isInLines(data: string): boolean {
  return !/\s/.test(data) || linesOf(data).every((line) => !/\s/.test(line))
}

/** Whether text can be what a URL holds: without spaces, or markup that nobody escaped. */
function isUrlText(data: string): boolean {
  return !/\s/.test(data) || (data.startsWith('<') && data.endsWith('>'))
}

function percentDecode(text: string): Uint8Array<ArrayBuffer> {
  const source = Buffer.from(text)
  const bytes = new Uint8Array(source.byteLength)
  let length = 0
  for (let i = 0; i < source.byteLength; i++) {
    const hex =
      source[i] === 0x25 ? Number.parseInt(source.toString('latin1', i + 1, i + 3), 16) : Number.NaN
    const isEscape =
      !Number.isNaN(hex) && /^[0-9a-f]{2}$/i.test(source.toString('latin1', i + 1, i + 3))
    bytes[length++] = isEscape ? hex : (source[i] as number)
    if (isEscape) i += 2
  }
  return bytes.slice(0, length)
}

function tooLarge(size: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `A body of ${size} bytes is too large to be base64 in one string; read it with open(ref).`,
  )
}

/** Nobody breaks base64 into shorter lines. */
export const MIN_LINE = 20

/** Base64 that was broken into lines of one length, as one line; null where the lines are no such lines. */
function joinLines(text: string): string | null {
  const lines = linesOf(text)
  const width = lines[0]?.length ?? 0
  const last = lines.length - 1
  const isRegular = lines.every(({ length }, i) => (i < last ? length === width : length <= width))
  return isRegular && (last === 0 || width >= MIN_LINE) ? lines.join('') : null
}

/** The lines without what indents them, and without empty ones around them. */
function linesOf(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

/** In characters. The smallest GIF takes 36. */
const MIN_LENGTH = 32

/**
 * How files begin in base64, by the signatures of their formats. Each is at least three bytes long: other text that
 * begins so by chance, and is base64 to its end, is rarer than one in ten million.
 */
const STARTS = [
  // PNG, JPEG, GIF, TIFF, Photoshop
  'iVBORw0KGgo|/9j/|R0lGOD[dl]h|SUkqA|TU0AK|OEJQU',
  // WebP, WAV and AVI by their RIFF; MP4, MOV, M4A, AVIF and HEIC by their `ftyp`
  'UklGR.{6}(?:XRUJQ|XQVZF|BVkkg)|AAAA.[GWm2]Z0eXB',
  // WebM and Matroska, MP3 with ID3 tags, FLAC, Ogg
  'GkXfo|SUQz[AB]|ZkxhQ|T2dnU',
  // PDF; ZIP, and with it DOCX, XLSX, PPTX and EPUB; gzip, Zstandard, xz, 7z
  'JVBERi0|UEsDB|H4sI|KLUv/|/Td6WF|N3q8ryc',
  // Parquet, Arrow, SQLite, WOFF, WebAssembly
  'UEFSM|QVJST1cx|U1FMaXRlIGZvcm1hdCAz|d09GR|d09GM|AGFzb',
]
const START = new RegExp(`^(?:${STARTS.join('|')})`)

/** Whether text is the base64 of a file, plain or URL-safe: it begins with the signature of a known format, and decodes. */
export function isBase64File(text: string): boolean {
  return startsAsFile(text) && decodeBase64(text) !== null
}

/** Whether text begins as the base64 of a file does: cheap, for the many texts that do not. */
export function startsAsFile(text: string): boolean {
  if (text.length < MIN_LENGTH) return false
  return START.test(text.slice(0, 32).trimStart().replaceAll('-', '+').replaceAll('_', '/'))
}
