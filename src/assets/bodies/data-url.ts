import { ByrefError } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { bufferOf } from './buffer-of.ts'
import { parseMimeType } from './mime-type.ts'

const { constants } = nodeBuiltin('node:buffer')

/** A parsed data URL. `data` is still encoded. */
export interface DataUrl {
  /** The type with its parameters. Null if the URL has none, which means plain text. */
  mime: string | null
  base64: boolean
  data: string
}

/** Longer headers are not accepted. This keeps parsing of hostile text linear. */
const MAX_HEADER = 300

/** The maximum length of a string, minus room for the header of a data URL. */
const MAX_LENGTH = constants.MAX_STRING_LENGTH - 1000

/**
 * Encodes bytes as a data URL.
 *
 * @throws ByrefError `asset_too_large` as {@link base64Of}
 */
export function dataUrlOf(bytes: Uint8Array, mime: string): string {
  return `data:${mime.replace(/;\s+/g, ';')};base64,${base64Of(bytes)}`
}

/**
 * Encodes bytes as base64 without line breaks.
 *
 * @throws ByrefError `asset_too_large` if the result does not fit into a string: above about 400 MB
 */
export function base64Of(bytes: Uint8Array): string {
  const { byteLength } = bytes
  if (fitsText(byteLength)) return bufferOf(bytes).toString('base64')
  throw new ByrefError(
    'asset_too_large',
    `A body of ${byteLength} bytes is too large to be base64 in one string; read it with open(ref).`,
  )
}

/** Returns whether a string can contain this many bytes as base64 and as a data URL. */
export function fitsText(byteLength: number): boolean {
  return Math.ceil(byteLength / 3) * 4 <= MAX_LENGTH
}

/** Returns whether text could contain a data URL. It is a cheap test for the many texts that do not. */
export function mayHoldDataUrl(text: string): boolean {
  return text.length > 5 && text.includes(':') && /data:/i.test(text)
}

/**
 * Returns the data URL that a text consists of, if it cannot be anything else. All text after the header is data,
 * including spaces.
 */
export function readDataUrl(text: string): DataUrl | null {
  const url = text.trim()
  const header = dataUrlHeader(url, 0)
  return header && { ...header, data: url.slice(header.end) }
}

/**
 * Returns the data URL that the whole text is (RFC 2397), or null. After `data:` only a media type, a comma or
 * `;base64` may follow, and no text may follow the data. Only base64 in lines and markup may contain white space.
 */
export function parseDataUrl(text: string): DataUrl | null {
  const url = readDataUrl(text)
  return url && (url.base64 ? isInLines(url.data) : isUrlText(url.data)) ? url : null
}

/**
 * Decodes the data of a data URL. Returns null if it is invalid. Lines may have any length, because the first one
 * starts with the header.
 */
export function decodeDataUrl({ base64, data }: DataUrl): Uint8Array<ArrayBuffer> | null {
  if (!base64) return percentDecode(data)
  const text = data.includes('%') ? Buffer.from(percentDecode(data)).toString() : data
  return decodeBase64(/\s/.test(text) ? linesOf(text).join('') : text)
}

/**
 * Decodes base64, plain or URL-safe, with or without padding. Returns null for anything else. White space may surround
 * it, or break it into lines of one length, as in mail and PEM.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const bytes = decodeStrictly(text)
  if (bytes || !/\s/.test(text)) return bytes
  const line = joinLines(text)
  return line === null ? null : decodeStrictly(line)
}

/** Node's decoder skips invalid characters, so a shorter result reveals them. */
function decodeStrictly(text: string): Uint8Array<ArrayBuffer> | null {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const length = text.length - padding
  if (length % 4 === 1 || (padding > 0 && (length + padding) % 4 !== 0)) return null
  const bytes = Buffer.from(text, 'base64')
  if (bytes.byteLength !== Math.floor((length * 3) / 4)) return null
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** Returns the header of a data URL, and where its data begins. Null if no data URL starts here. */
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

/** Returns whether white space in base64 only breaks it into lines. */
function isInLines(data: string): boolean {
  return !/\s/.test(data) || linesOf(data).every((line) => !/\s/.test(line))
}

/** Returns whether text can be the data of a URL: without spaces, or unescaped markup. */
function isUrlText(data: string): boolean {
  return !/\s/.test(data) || (data.startsWith('<') && data.endsWith('>'))
}

function percentDecode(text: string): Uint8Array<ArrayBuffer> {
  // In Latin-1, each character is one byte.
  const escaped = Buffer.from(text).toString('latin1')
  const decoded = escaped.replace(/%([0-9a-f]{2})/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return new Uint8Array(Buffer.from(decoded, 'latin1'))
}

/** Shorter lines of base64 do not occur in practice. */
export const MIN_LINE = 20

/** Joins base64 that was broken into lines of one length. Returns null if the lines differ. */
function joinLines(text: string): string | null {
  const lines = linesOf(text)
  const width = lines[0]?.length ?? 0
  const last = lines.length - 1
  const isRegular = lines.every(({ length }, i) => (i < last ? length === width : length <= width))
  return isRegular && (last === 0 || width >= MIN_LINE) ? lines.join('') : null
}

/** Returns the lines without indentation, and without empty lines around them. */
function linesOf(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

/** In characters. The smallest GIF has 36. */
const MIN_LENGTH = 32

/**
 * The beginnings of files in base64, from the signatures of their formats. Each signature has at least three bytes. The
 * chance that other base64 text begins like this is below one in ten million.
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

/**
 * Returns whether a value is the base64 of a file, plain or URL-safe: it begins with the signature of a known format, and
 * can be decoded.
 */
export function isBase64File(value: unknown): boolean {
  return typeof value === 'string' && startsAsFile(value) && decodeBase64(value) !== null
}

/** Returns whether text begins like the base64 of a file. It is a cheap test for the many texts that do not. */
export function startsAsFile(text: string): boolean {
  if (text.length < MIN_LENGTH) return false
  const head = text.slice(0, 32).trimStart()
  const isUrlSafe = head.includes('-') || head.includes('_')
  return START.test(isUrlSafe ? head.replaceAll('-', '+').replaceAll('_', '/') : head)
}
